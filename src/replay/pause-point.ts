/**
 * The recorded model call before which a replay stops: the call with the given name, or the first in a run, step or tool of
 * that name, or the last one whose reply came before such a step or tool began. Default: the last call.
 */
import type { RecordedCall, Recording } from './recorded/recording.ts';

/** Undefined if nothing in the recording has that name. */
export function findPausePoint(recording: Recording, name: string | undefined): RecordedCall | undefined {
  const { calls, steps = [] } = recording;
  if (name === undefined) return calls.at(-1);
  const own = calls.find(({ id, place }) => id === name || place.includes(name));
  if (own) return own;
  const step = steps.find((each) => each.id === name || each.name === name);
  return calls.find(({ id }) => id === step?.after);
}

/** The names that can be used, one per line. */
export function listPausePoints({ calls, steps = [] }: Recording): string[] {
  return [
    ...calls.map(({ id, place }) => [id, ...place].join(' ')),
    ...steps.flatMap(({ id, name, after }) => (after === undefined ? [] : [`${id} ${name}, after ${after}`])),
  ];
}
