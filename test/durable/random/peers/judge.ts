/** What became of the programs of one engine, by what they really did. */

/** One line of the file that all lives of an engine write. */
export type Happening = { program: string } & (
  | { effect: string }
  | { astray: string }
  | { doubt: string }
  | { ended: string }
  | { failed: string }
);

export interface Verdict {
  /** Effects that were begun, each counted once. */
  effects: number;
  /** How often one was begun again. */
  repeated: number;
  /** Of those, how many the engine did not report as in doubt. */
  unnamed: number;
  /** Programs in which a result went to a call that is not its own. */
  astray: number;
  /** Programs that ended with an error that is none of theirs. */
  failed: number;
  /** Programs that did not end. */
  stuck: number;
  /** The first line about each fault of a program. */
  lines: string[];
}

export function judge(happenings: readonly Happening[], programs: number): Verdict {
  const verdict: Verdict = { effects: 0, repeated: 0, unnamed: 0, astray: 0, failed: 0, stuck: 0, lines: [] };
  for (let index = 0; index < programs; index++) {
    const mine = happenings.filter(({ program }) => program === String(index));
    const effects = mine.flatMap((one) => ('effect' in one ? one.effect : []));
    const doubts = mine.filter((one) => 'doubt' in one).length;
    const repeated = effects.length - new Set(effects).size;
    verdict.effects += effects.length - repeated;
    verdict.repeated += repeated;
    verdict.unnamed += Math.max(0, repeated - doubts);
    const astray = mine.find((one) => 'astray' in one);
    const failed = mine.find((one) => 'failed' in one && !isOwnError(one.failed));
    const isOver = mine.some((one) => 'ended' in one || 'failed' in one);
    if (astray) verdict.astray++;
    if (failed) verdict.failed++;
    if (!isOver) verdict.stuck++;
    for (const one of [astray, failed]) if (one) verdict.lines.push(JSON.stringify(one));
  }
  return verdict;
}

/** `Promise.any` of programs that all fail, as they should. */
const isOwnError = (message: string) => /All promises were rejected/.test(message);
