/**
 * What the processes of our program withhold by value (`withhold`), of every life so far: each life has a key of its own, and puts
 * its values, sealed, into its session's folder. The keys and the values are in our memory alone.
 */
import { join } from 'node:path';
import { withheldName } from '../../journal/layout/session.ts';
import { openWithheld, withheldKeyBytes } from '../../journal/write/withheld-values.ts';
import { readKernelRandom } from '../../platform/kernel-random.ts';
import { readSmallFile } from '../../platform/small-file.ts';

const mostBytes = 8 * 1024 * 1024;
/** By the session's folder. */
const keys = new Map<string, Buffer>();
const values = new Set<string>();

/** A key for a new life, as the variable that its processes are told it by (journal/layout/session.ts). */
export function makeWithheldKey(sessionFolder: string, sessionId: string): string {
  const key =
    readKernelRandom(withheldKeyBytes) ??
    process.getBuiltinModule('node:crypto').randomBytes(withheldKeyBytes);
  keys.set(sessionFolder, key);
  values.add(key.toString('hex'));
  return `${sessionId}.${key.toString('hex')}`;
}

/** All values of all lives until now, their keys among them; a folder that is gone has told what it had. */
export function readWithheld(): string[] {
  for (const [folder, key] of keys) {
    const lines = readSmallFile(join(folder, withheldName), mostBytes) ?? '';
    for (const value of openWithheld(lines, key)) values.add(value);
  }
  return [...values];
}
