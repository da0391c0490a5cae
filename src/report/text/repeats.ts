/** Finds runs that repeat themselves in a list, as a runaway recursion does in a stack. Knows nothing of frames. */

export interface Run {
  /** Index of the first item. */
  start: number;
  /** Items of one turn. */
  length: number;
  /** How often the turn comes in a row; 1 for an item that doesn't repeat. */
  times: number;
}

/** Recursion through more functions than this is shown as it is. */
const longestTurn = 4;
/** Fewer turns are no runaway. */
const fewestTurns = 3;

/** Covers `keys` from left to right; at each place the shortest turn that repeats often enough wins. Linear. */
export function findRuns(keys: readonly string[]): Run[] {
  const runs: Run[] = [];
  for (let start = 0; start < keys.length; ) {
    const run = repeatAt(keys, start) ?? { start, length: 1, times: 1 };
    runs.push(run);
    start += run.length * run.times;
  }
  return runs;
}

function repeatAt(keys: readonly string[], start: number): Run | undefined {
  for (let length = 1; length <= longestTurn; length++) {
    let end = start + length;
    while (end < keys.length && keys[end] === keys[end - length]) end += 1;
    const times = Math.floor((end - start) / length);
    if (times >= fewestTurns) return { start, length, times };
  }
  return undefined;
}
