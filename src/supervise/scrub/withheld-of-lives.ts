/**
 * The values that the program's processes have registered with `withhold`, in all lives so far. Each life has its own key,
 * and stores its values, encrypted with it, in its session's folder. Keys and clear values exist only in our memory.
 */
import { join } from 'node:path';
import { withheldName } from '../../journal/layout/session.ts';
import { openWithheld, withheldKeyBytes } from '../../journal/write/withheld-values.ts';
import { readKernelRandom } from '../../platform/kernel-random.ts';
import { readSmallFile } from '../../platform/small-file.ts';

const mostBytes = 8 * 1024 * 1024;
/** By session folder. */
const keys = new Map<string, Buffer>();
const values = new Set<string>();

/**
 * Creates a key for a new life. Returns the value of the variable that passes it to the processes
 * (journal/layout/session.ts).
 */
export function makeWithheldKey(sessionFolder: string, sessionId: string): string {
  const key =
    readKernelRandom(withheldKeyBytes) ??
    process.getBuiltinModule('node:crypto').randomBytes(withheldKeyBytes);
  keys.set(sessionFolder, key);
  values.add(key.toString('hex'));
  return `${sessionId}.${key.toString('hex')}`;
}

/** All values of all lives so far, and the keys. Values of removed folders have been read before. */
export function readWithheld(): string[] {
  for (const [folder, key] of keys) {
    const lines = readSmallFile(join(folder, withheldName), mostBytes) ?? '';
    for (const value of openWithheld(lines, key)) values.add(value);
  }
  return [...values];
}
