/** Finds repeated sequences in a list, such as those of a runaway recursion in a stack. Independent of frames. */

export interface Run {
  /** Index of the first item. */
  start: number;
  /** Items per turn. */
  length: number;
  /** How often the turn is repeated in a row; 1 for an item that is not repeated. */
  times: number;
}

/** Recursion through more functions than this is shown unchanged. */
const longestTurn = 4;
/** Fewer turns are not a runaway recursion. */
const fewestTurns = 3;

/** Covers `keys` from left to right; at each position the shortest turn that repeats often enough is used. Linear. */
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
