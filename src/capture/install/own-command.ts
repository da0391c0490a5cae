/**
 * Whether this process is our own command line: a process that reads bundles or supervises must not leave one, and `latest`
 * must never refer to it. A program that it starts (`run`, `ci`, `replay`) is treated like any other.
 */
import { realpathSync } from 'node:fs';
import { basename, join } from 'node:path';

/** The file itself, or npm's link to it. */
const ownName = /^agentdump(?:\.js)?$/;
const ownFile = join('bin', 'agentdump.js');

/** True for any installation of it: each has the preload beside it. */
export function isOwnCommand(script: string | undefined = process.argv[1]): boolean {
  if (script === undefined || !ownName.test(basename(script))) return false;
  try {
    const path = realpathSync(script);
    return path.endsWith(ownFile) && realpathSync(join(path, '..', '..', 'dist', 'register.cjs')) !== '';
  } catch {
    return false;
  }
}
