/**
 * Runs by the ids that the host gave them, instead of the numbers that the recorder counts: whoever started `trip-42`
 * looks for that. A name that is no name of one run alone stays a number.
 */
import type { AgentEvent } from '../../journal/layout/agent.ts';
import type { AgentEvents } from './events.ts';
import { implicitRun } from './timeline.ts';
import { programNode } from './waits/wait-graph.ts';

/** As the recorder counts: runs, steps, tools and calls share these names. */
const counted = /^[a-z]{1,2}\d+$/;

/** The same events with the runs' given ids, wherever a run is meant. The ones that were read are not changed. */
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
    // The same work may be tried again in one process: the first keeps the name as it was given.
    names.set(event.run, use === 1 ? given : `${given}#${use}`);
  }
  return names;
}

/** Fields that name a run: its own, of the one around it, of the one that is waited for. */
const fields = ['run', 'parent', 'on'] as const;

function renamed(event: AgentEvent, names: ReadonlyMap<string, string>): AgentEvent {
  const values = event as Partial<Record<(typeof fields)[number], unknown>>;
  const changes = fields.flatMap((field) => {
    const name = names.get(values[field] as string);
    return name === undefined ? [] : [[field, name]];
  });
  return changes.length ? { ...event, ...Object.fromEntries(changes) } : event;
}
