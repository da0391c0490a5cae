/** Node's `--permission`: what it refuses a program, whatever the system would say. */

/** Node's own can't be replaced; what the program has put there is not asked. */
const permission = [process, Object.getPrototypeOf(process)]
  // The own realm of the cold half has a process whose prototype is the program's.
  .map((owner) => Object.getOwnPropertyDescriptor(owner, 'permission'))
  .find((found) => found?.configurable === false)?.value as typeof process.permission | undefined;

/** A path has to be below one that was allowed, wherever it leads. */
export function mayWrite(path: string): boolean {
  return permission?.has('fs.write', path) ?? true;
}

/** fsync, fdatasync and fchmod are refused with any file. */
export function unlessRefused(call: () => void): void {
  try {
    call();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ACCESS_DENIED') throw error;
  }
}
