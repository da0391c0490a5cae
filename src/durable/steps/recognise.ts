/**
 * Which of the recorded steps that the program has not called yet are calls that wait to begin, because no recorded one captured exactly
 * the same. Asked once no other call can come. They are recognised by those variables that tell the calls of their step apart, such as the
 * address of a page whose text has changed since.
 */
import type { ScopeLog, StepEntry } from '../runs/log-entries.ts';
import type { CallPosition } from './call-position.ts';
import type { Captured } from './captured.ts';

/** A call that is new, or recorded with other values of what it captures. */
export interface UnknownCall {
  /** A LiveScope. */
  scope: { readonly recorded: ScopeLog | undefined };
  word: string;
  captured: Captured;
  at: CallPosition;
}

/** Whether the call may be this recorded step. */
export function mayBe({ scope, word }: UnknownCall, entry: StepEntry): boolean {
  return (
    !entry.isClaimed &&
    entry.word === word &&
    entry.captured !== undefined &&
    entry.key === undefined &&
    entry.input === undefined &&
    scope.recorded?.entries.includes(entry) === true
  );
}

/** `missing`: recorded, and not called. */
export function recognise<Call extends UnknownCall>(
  missing: readonly StepEntry[],
  calls: readonly Call[],
): Map<Call, StepEntry> {
  const found = new Map<Call, StepEntry>();
  for (const call of calls) {
    const entries = missing.filter((entry) => mayBe(call, entry));
    const rivals = calls.filter(({ scope, word }) => scope === call.scope && word === call.word);
    const telling = tellingNames(rivals, call);
    const likeness = (entry: StepEntry, { captured }: UnknownCall) =>
      telling.filter((name) => captured[name] === entry.captured?.[name]).length;
    const entry = onlyBest(entries, (one) => likeness(one, call));
    if (entry && onlyBest(rivals, (rival) => likeness(entry, rival)) === call) found.set(call, entry);
    else if (rivals.length === 1) {
      const inTurn = onlyOneInTurn(entries, call);
      if (inTurn) found.set(call, inTurn);
    }
  }
  return found;
}

/** Variables whose values differ among the calls of this step. */
function tellingNames(rivals: readonly UnknownCall[], { scope, word, captured }: UnknownCall): string[] {
  const recorded = scope.recorded?.entries.filter((entry) => entry.word === word) ?? [];
  const captures = [...recorded, ...rivals].map((one) => one.captured ?? {});
  return Object.keys(captured).filter((name) => new Set(captures.map((one) => one[name])).size > 1);
}

/** Undefined if nothing speaks for any, or as much for several. */
function onlyBest<One>(ones: readonly One[], likeness: (one: One) => number): One | undefined {
  let best: One | undefined;
  let most = 0;
  for (const one of ones) {
    const much = likeness(one);
    if (much === most) best = undefined;
    if (much > most) [best, most] = [one, much];
  }
  return best;
}

/** Without branches, the only call at its position is the recorded one. */
function onlyOneInTurn(entries: readonly StepEntry[], { scope, at }: UnknownCall): StepEntry | undefined {
  if (scope.recorded?.isParallel) return undefined;
  const [entry] = entries;
  return entry?.position?.after === at.after ? entry : undefined;
}
