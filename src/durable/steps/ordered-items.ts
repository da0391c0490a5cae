/** What a run has recorded and its program will call again, in the order of the records. Pure. */

import { hasEnded, type StepEntry } from '../runs/log-entries.ts';
import type { RunLog } from '../runs/run-log.ts';
import type { OrderedItem } from './ordered-entry.ts';
import { scopeOf } from './step-path.ts';

export function isSettled({ state }: StepEntry): boolean {
  return state === 'finished' || state === 'failed' || state === 'skipped';
}

/**
 * Whether the step begins again only in its turn: another call may come that is as likely the recorded one, so until none can, nobody
 * is asked about its effect, and its function is not called with that effect's key.
 */
export function beginsInTurn(entry: StepEntry): boolean {
  const { position, input, key } = entry;
  return !isSettled(entry) && position?.isRaw === true && input === undefined && key === undefined;
}

/** The place of that turn: right behind its start, so before everything within it. */
export function turnToBegin({ seq }: StepEntry): number {
  return seq + 0.5;
}

/**
 * Without the contents of a settled step, which is not run again, and without questions that have no answer yet, which may be
 * asked differently. A child run that was started is an effect, so its call must come again.
 */
export function orderedItems(log: RunLog): OrderedItem[] {
  const items: OrderedItem[] = [];
  const isRunAgain = lookUp(log);
  for (const [path, { entries }] of log.scopes) {
    if (!isRunAgain(path)) continue;
    for (const entry of entries) {
      items.push({ seq: entry.seq, entry, isEnd: false });
      // Delivered like an end, because ends are what can be held back.
      if (beginsInTurn(entry)) items.push({ seq: turnToBegin(entry), entry, isEnd: true });
      // A step that is run again, because it is in doubt or failed the run, keeps the place of its end.
      if (hasEnded(entry))
        items.push({ seq: entry.endSeq, entry, isEnd: true, isRunAgain: !isSettled(entry) });
    }
  }
  for (const entry of log.approvals.values()) {
    const isAnswered = entry.readAnswer !== undefined && !log.isVoid(entry);
    const isExpected = isAnswered || entry.awaits?.run !== undefined;
    if (!isExpected || !entry.position || !isRunAgain(scopeOf(entry.path))) continue;
    items.push({ seq: entry.seq, entry, isEnd: false });
    if (isAnswered) items.push({ seq: entry.answerSeq, entry, isEnd: true });
  }
  const placeOf = lookUpPlaces(log);
  return items
    .map((item) => ({ item, place: placeOf(item) }))
    .sort((a, b) => comparePlaces(a.place, b.place))
    .map(({ item }) => item);
}

/**
 * The place of an item in the order: its number, after those of the ends before which it must come. What a step that is run again has
 * recorded within itself comes before that step's end, although a process that ran it again before may have recorded it later.
 */
function lookUpPlaces({ steps }: RunLog): (item: OrderedItem) => number[] {
  return ({ seq, entry, isEnd }) => {
    const places = [isEnd ? [seq, Number.POSITIVE_INFINITY] : [seq]].flat();
    for (let scope = scopeOf(entry.path); scope !== ''; scope = scopeOf(scope)) {
      const around = steps.get(scope);
      const end = around && hasEnded(around) ? around.endSeq : Number.POSITIVE_INFINITY;
      places.unshift(Math.min(end, places[0]!));
    }
    return places;
  };
}

function comparePlaces(one: number[], other: number[]): number {
  for (const [at, place] of one.entries()) {
    const difference = place - (other[at] ?? Number.POSITIVE_INFINITY);
    if (difference !== 0 && !Number.isNaN(difference)) return difference;
  }
  return 0;
}

/** Whether the code of a scope runs again: no enclosing step is settled, or between two tries. */
function lookUp({ steps }: RunLog): (scope: string) => boolean {
  const known = new Map<string, boolean>([['', true]]);
  const isRunAgain = (scope: string): boolean => {
    const before = known.get(scope);
    if (before !== undefined) return before;
    const step = steps.get(scope);
    const answer =
      step !== undefined && !isSettled(step) && step.state !== 'retrying' && isRunAgain(scopeOf(scope));
    known.set(scope, answer);
    return answer;
  };
  return isRunAgain;
}
