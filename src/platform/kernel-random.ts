/** Random bytes from the kernel's own file, where there is one: node:crypto takes milliseconds to load. */
import { closeSync, openSync, readSync } from 'node:fs';

/** Undefined where there is no such file (Windows), or it may not be read (--permission). */
export function readKernelRandom(bytes: number): Buffer | undefined {
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
