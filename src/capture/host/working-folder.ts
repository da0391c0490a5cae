/** The working directory; `(deleted)` if it was removed, for which process.cwd throws. */
export function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    return '(deleted)';
  }
}
