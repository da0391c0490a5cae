/** Node's `--permission`: what it refuses a program, whatever the system would say. */

/** A path has to be below one that was allowed, wherever it leads. */
export function mayWrite(path: string): boolean {
  return process.permission?.has('fs.write', path) ?? true;
}

/** fsync, fdatasync and fchmod are refused with any file. */
export function unlessRefused(call: () => void): void {
  try {
    call();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ACCESS_DENIED') throw error;
  }
}
