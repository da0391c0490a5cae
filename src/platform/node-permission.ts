/** Node's `--permission`: what it denies to a program, independent of the system. */

/** Node's own property can't be replaced; one that the program has defined is ignored. */
const permission = [process, Object.getPrototypeOf(process)]
  // The separate realm of the cold half has a process object whose prototype belongs to the program.
  .map((owner) => Object.getOwnPropertyDescriptor(owner, 'permission'))
  .find((found) => found?.configurable === false)?.value as typeof process.permission | undefined;

/** The path itself must be below an allowed one, regardless of where it leads. */
export function mayWrite(path: string): boolean {
  return permission?.has('fs.write', path) ?? true;
}

/** fsync, fdatasync and fchmod are denied for any file. */
export function unlessRefused(call: () => void): void {
  try {
    call();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ACCESS_DENIED') throw error;
  }
}
