/**
 * Names for sessions and supervisors: 16 lower-case hexadecimal digits of the kernel's randomness. Not of Math.random, which
 * the program may seed (--random-seed) or replace: its sessions would bear one name. From /dev/urandom where that can be
 * read: node:crypto takes milliseconds to load.
 */
import { closeSync, openSync, readSync } from 'node:fs';

const bytes = 8;

export function newId(): string {
  return (readKernel() ?? process.getBuiltinModule('node:crypto').randomBytes(bytes)).toString('hex');
}

/** Undefined where there is no such file (Windows), or it may not be read (--permission). */
function readKernel(): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync('/dev/urandom', 'r');
    const random = Buffer.alloc(bytes);
    return readSync(file, random) === bytes ? random : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
