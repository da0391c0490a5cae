/**
 * Replaces the recorder's run numbers by the ids that the host gave: whoever started `trip-42` searches for that name. A name
 * that looks like one of the recorder's own ids is not used.
 */
import type { AgentEvent } from '../../journal/layout/agent.ts';
import type { AgentEvents } from './events.ts';
import { implicitRun } from './timeline.ts';
import { programNode } from './waits/wait-graph.ts';

/** The recorder's own ids of runs, steps, tools and calls. */
const counted = /^[a-z]{1,2}\d+$/;

/** A copy of the events with given ids in all fields that refer to a run. The input is not changed. */
export function nameRuns(read: AgentEvents): AgentEvents {
  const names = givenNames(read.events);
  if (names.size === 0) return read;
  const { within, failed } = read;
  const run = within?.run === undefined ? undefined : names.get(within.run);
  return {
    ...read,
    events: read.events.map((event) => renamed(event, names)),
    ...(within && run !== undefined && { within: { ...within, run } }),
    ...(failed && { failed: failed.map((owner) => ({ ...owner, id: names.get(owner.id) ?? owner.id })) }),
  };
}

function givenNames(events: readonly AgentEvent[]): Map<string, string> {
  const names = new Map<string, string>();
  const uses = new Map<string, number>([
    [implicitRun, 1],
    [programNode, 1],
  ]);
  for (const event of events) {
    if (event.kind !== 'run.start' || typeof event.givenId !== 'string') continue;
    const given = event.givenId;
    if (given === '' || counted.test(given)) continue;
    const use = (uses.get(given) ?? 0) + 1;
    uses.set(given, use);
    // The same work may be retried in one process: later runs get a suffix.
    names.set(event.run, use === 1 ? given : `${given}#${use}`);
  }
  return names;
}

/** Fields that refer to a run: the event's own run, its parent, the awaited one. */
const fields = ['run', 'parent', 'on'] as const;

function renamed(event: AgentEvent, names: ReadonlyMap<string, string>): AgentEvent {
  const values = event as Partial<Record<(typeof fields)[number], unknown>>;
  const changes = fields.flatMap((field) => {
    const name = names.get(values[field] as string);
    return name === undefined ? [] : [[field, name]];
  });
  return changes.length ? { ...event, ...Object.fromEntries(changes) } : event;
}
