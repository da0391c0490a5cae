/** A long path on one line of a terminal. */

/** Leaves out the middle: the head shows where to begin, and the tail which container it is. */
export function foldPath(path: string, most: number): string {
  if (path.length <= most) return path;
  const head = path.slice(0, Math.floor(most / 4));
  const tail = path.slice(head.length + 3 - most);
  // Removes a name that was cut in two.
  return `${head.replace(/[.[{][^.[{]*$/, '') || head} … ${tail.replace(/^[^.[{]*(?=[.[{])/, '')}`;
}
