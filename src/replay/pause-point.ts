/**
 * Which recorded model call a replay is to stop before: one that is named, or that belongs to a run, step or tool of that
 * name; or the last whose reply came before such a step or tool began. Where nothing is named, the last call of all.
 */
import type { RecordedCall, Recording } from './recorded/recording.ts';

/** undefined when nothing recorded has that name. */
export function findPausePoint(recording: Recording, name: string | undefined): RecordedCall | undefined {
  const { calls, steps = [] } = recording;
  if (name === undefined) return calls.at(-1);
  const own = calls.find(({ id, place }) => id === name || place.includes(name));
  if (own) return own;
  const step = steps.find((each) => each.id === name || each.name === name);
  return calls.find(({ id }) => id === step?.after);
}

/** What can be named, a line each. */
export function listPausePoints({ calls, steps = [] }: Recording): string[] {
  return [
    ...calls.map(({ id, place }) => [id, ...place].join(' ')),
    ...steps.flatMap(({ id, name, after }) => (after === undefined ? [] : [`${id} ${name}, after ${after}`])),
  ];
}
