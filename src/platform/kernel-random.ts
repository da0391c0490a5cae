/** Random bytes from the kernel's own file, if there is one, because loading node:crypto takes milliseconds. */
import { closeSync, openSync, readSync } from 'node:fs';

/** From node:crypto where there is no such file. The program may have replaced that module's functions, or be loading it. */
export function randomBytes(bytes: number): Buffer {
  return readKernelRandom(bytes) ?? process.getBuiltinModule('node:crypto').randomBytes(bytes);
}

/** Undefined if there is no such file (Windows), or it can't be read (--permission). */
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
