/**
 * Whether this process is our own command line: what reads bundles, or supervises, must not leave one, and `latest` must
 * never mean it. Whoever is started by it (`run`, `ci`, `replay`) is a program like any other.
 */
import { realpathSync } from 'node:fs';
import { basename, join } from 'node:path';

/** As it is started: the file itself, or npm's link to it. */
const ownName = /^agentdump(?:\.js)?$/;
const ownFile = join('bin', 'agentdump.js');

/** Of whatever installation: it is known by the preload that every one has beside it. */
export function isOwnCommand(script: string | undefined = process.argv[1]): boolean {
  if (script === undefined || !ownName.test(basename(script))) return false;
  try {
    const path = realpathSync(script);
    return path.endsWith(ownFile) && realpathSync(join(path, '..', '..', 'dist', 'register.cjs')) !== '';
  } catch {
    return false;
  }
}
