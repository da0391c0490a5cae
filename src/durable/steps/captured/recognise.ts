/**
 * Which of the recorded steps that the program has not called yet are calls that wait to begin, because no recorded one captured exactly
 * the same. Asked once no other call can come. They are recognised by those variables that tell the calls of their step apart, such as the
 * address of a page whose text has changed since.
 */
import type { ScopeLog, StepEntry } from '../../runs/log-entries.ts';
import type { CallPosition } from '../call-position.ts';
import { type Captured, isTelling, isWholeValue } from './captured.ts';

/** A call that is new, or recorded with other values of what it captures. */
export interface UnknownCall {
  /** A LiveScope. */
  scope: { readonly recorded: ScopeLog | undefined };
  word: string;
  captured: Captured;
  at: CallPosition;
  /** What all calls of its step share and change, which does not tell it apart. */
  shared: ReadonlySet<string>;
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
    const entry = rivals.length === 1 ? onlyLikely(entries, call) : bestOf(entries, call, rivals);
    if (entry) found.set(call, entry);
  }
  return found;
}

/** The entry that is more like this call than any other is, if it is also more like it than any rival. */
function bestOf(
  entries: readonly StepEntry[],
  call: UnknownCall,
  rivals: readonly UnknownCall[],
): StepEntry | undefined {
  const captures = [...recordedLike(call), ...rivals].map(({ captured }) => captured ?? {});
  const telling = Object.keys(call.captured).filter(
    (name) =>
      !call.shared.has(name) &&
      isTelling(name, call.captured[name]) &&
      new Set(captures.map((one) => one[name])).size > 1,
  );
  const likeness = (entry: StepEntry, { captured }: UnknownCall) =>
    telling.filter((name) => captured[name] === entry.captured?.[name]).length;
  const entry = onlyBest(entries, (one) => likeness(one, call));
  return entry && onlyBest(rivals, (rival) => likeness(entry, rival)) === call ? entry : undefined;
}

/**
 * For a call without rivals: the entry at its position, if it captured at least as much that is the same as what is not, and no other
 * recorded call there has captured that. What all of them captured says nothing; of a single one it is not known what that is, so that
 * only what was not seen as a whole may have changed. Without branches there is only one call at a position.
 */
function onlyLikely(entries: readonly StepEntry[], call: UnknownCall): StepEntry | undefined {
  const { scope, captured, at, shared } = call;
  const isHere = ({ position }: StepEntry) => position?.after === at.after;
  const here = entries.filter(isHere);
  if (!scope.recorded?.isParallel) return here[0];
  const recorded = recordedLike(call).filter(isHere);
  const has = (one: StepEntry, name: string) => one.captured?.[name] === captured[name];
  const telling = Object.keys(captured).filter(
    (name) => isTelling(name, captured[name]) && !shared.has(name),
  );
  const [only, ...others] = recorded;
  if (only && others.length === 0) {
    const isSame = telling.some((name) => has(only, name));
    const isLike = telling.every(
      (name) => has(only, name) || mayChange(only.captured?.[name], captured[name]),
    );
    return isSame && isLike ? here[0] : undefined;
  }
  const names = telling.filter((name) => !recorded.every((one) => has(one, name)));
  const likely = here.filter((entry) => {
    const same = names.filter((name) => has(entry, name));
    const isItsOwn = recorded.every((one) => one === entry || !same.every((name) => has(one, name)));
    return isItsOwn && same.length * 2 >= names.length;
  });
  return likely.length === 1 ? likely[0] : undefined;
}

/** An object with more to it than data, such as a client or what the program keeps, is seldom what a call is about. */
const mayChange = (recorded: string | undefined, now: string | undefined): boolean =>
  [recorded, now].every((hash) => hash !== undefined && !isWholeValue(hash));

function recordedLike({ scope, word }: UnknownCall): StepEntry[] {
  return scope.recorded?.entries.filter((entry) => entry.word === word && entry.captured) ?? [];
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
