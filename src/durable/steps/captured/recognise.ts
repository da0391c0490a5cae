/**
 * Which of the recorded steps that the program has not called yet are calls that wait to begin, because no recorded one captured exactly
 * the same. Asked once no other call can come. They are recognised by those variables that tell the calls of their step apart, such as the
 * address of a page whose text has changed since.
 */
import type { ScopeLog, StepEntry } from '../../runs/log-entries.ts';
import type { CallPosition } from '../call-position.ts';
import { type Captured, isTelling, isWhole, isWholeValue } from './captured.ts';

/** A call that is new, or recorded with other values of what it captures. */
export interface UnknownCall {
  /** A LiveScope. */
  scope: { readonly recorded: ScopeLog | undefined };
  word: string;
  captured: Captured;
  at: CallPosition;
  /** Its branch has awaited the call before; of a question that is assumed. */
  isLed: boolean;
  /** It is made by the code that the run awaits, and by no branch. */
  isOnMainLine: boolean;
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
 * For a call without rivals: the entry of which it has everything that identifies, or the one at its position, if it captured at least as
 * much that is the same as what is not, and no other recorded call there has captured that. What all of them captured says nothing.
 * Without branches there is only one call at a position.
 */
function onlyLikely(entries: readonly StepEntry[], call: UnknownCall): StepEntry | undefined {
  const { scope, captured, at, shared } = call;
  const isHere = ({ position }: StepEntry) => position?.after === at.after;
  const here = entries.filter(isHere);
  if (!scope.recorded?.isParallel) return here[0];
  const all = recordedLike(call);
  const telling = Object.keys(captured).filter(
    (name) => isTelling(name, captured[name]) && !shared.has(name),
  );
  const identified = identifiedBy(entries, all, captured, telling);
  if (identified) return identified;
  const recorded = all.filter(isHere);
  if (call.isOnMainLine && recorded.every(({ isOnMainLine }) => isOnMainLine))
    return firstMostAlike(here, captured, telling);
  const [only, ...others] = recorded;
  if (only && others.length === 0) return isLikelyOnly(only, all, call, telling) ? here[0] : undefined;
  const names = telling.filter((name) => !recorded.every((one) => has(one, captured, name)));
  const likely = here.filter((entry) => {
    const same = names.filter((name) => has(entry, captured, name));
    const isItsOwn = recorded.every(
      (one) => one === entry || !same.every((name) => has(one, captured, name)),
    );
    return isItsOwn && same.length * 2 >= names.length;
  });
  return likely.length === 1 ? likely[0] : undefined;
}

/** Of calls that the run made one after the other, as in code without branches; what they capture may have changed altogether. */
function firstMostAlike(
  entries: readonly StepEntry[],
  captured: Captured,
  telling: readonly string[],
): StepEntry | undefined {
  const likeness = entries.map((entry) => telling.filter((name) => has(entry, captured, name)).length);
  return entries[likeness.indexOf(Math.max(...likeness))];
}

const has = (entry: StepEntry, captured: Captured, name: string): boolean =>
  entry.captured?.[name] === captured[name];

/**
 * The worker of a pool that takes a document may be another one now, and a counter may not have been found to be shared. A variable
 * identifies calls if it was different in each recorded one. What is not seen as a whole may be the document, and is not compared.
 */
function identifiedBy(
  entries: readonly StepEntry[],
  recorded: readonly StepEntry[],
  captured: Captured,
  telling: readonly string[],
): StepEntry | undefined {
  if (recorded.length < 2 || !isWhole(captured)) return undefined;
  const names = telling.filter(
    (name) => new Set(recorded.map((one) => one.captured?.[name])).size === recorded.length,
  );
  if (names.length === 0) return undefined;
  return entries.find((entry) => names.every((name) => has(entry, captured, name)));
}

/**
 * Of the only recorded call at a position it is not known which variables identify it. So only what was not seen as a whole may have
 * changed, or, if everything was, anything if the call follows one that its branch has awaited and has a value that no other recorded call
 * of the step has.
 */
function isLikelyOnly(
  only: StepEntry,
  recorded: readonly StepEntry[],
  { captured, isLed }: UnknownCall,
  telling: readonly string[],
): boolean {
  const same = telling.filter((name) => has(only, captured, name));
  if (same.length === 0) return false;
  if (telling.every((name) => same.includes(name) || mayChange(only.captured?.[name], captured[name])))
    return true;
  const others = recorded.filter((one) => one !== only);
  const isItsOwn = (name: string) => !others.some((one) => has(one, captured, name));
  return isLed && others.length > 0 && isWhole(captured) && same.some(isItsOwn);
}

/** An object with more to it than data, such as a client or what the program keeps, is seldom what a call is about. `ReplacedValues` names it. */
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
