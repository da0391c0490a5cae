/** The agent at an earlier point: its events up to a number, a time, or the end of a step, call or tool call. */
import { AgentdumpError } from '../../errors.ts';
import type { AgentEvents } from './events.ts';

/**
 * `point`: `120` (an event's number), `2026-11-21T03:04:05Z`, `-30s` (before the end), or a recorder's id such as `s4` (up to
 * its last event). Throws `usage` if it has none of these formats, `not-found` for an unknown id.
 */
export function cutAgentEvents(events: AgentEvents, point: string): AgentEvents {
  const kept = events.events.slice(0, findCut(events, point));
  return { ...events, events: kept, at: kept.at(-1)?.at ?? events.at };
}

function findCut({ events, at }: AgentEvents, point: string): number {
  if (/^\d+$/.test(point)) return countWhile(events, ({ seq }) => seq <= Number(point));
  const back = /^-(\d+(?:\.\d+)?)s$/.exec(point);
  if (back) return countWhile(events, (event) => event.at <= at - Number(back[1]) * 1000);
  if (/^[a-z]\d+(@\d+)?$/.test(point)) return cutAtId(events, point);
  const time = Date.parse(point);
  if (Number.isNaN(time))
    throw new AgentdumpError('usage', `--at is no event number, time, -<seconds>s or id: ${point}`, {
      argument: 'at',
    });
  return countWhile(events, (event) => event.at <= time);
}

function cutAtId(events: AgentEvents['events'], id: string): number {
  const last = events.findLastIndex((event) => {
    const { id: own, call, run, wait } = event as unknown as Record<string, unknown>;
    return own === id || call === id || wait === id || (event.kind.startsWith('run.') && run === id);
  });
  if (last === -1)
    throw new AgentdumpError('not-found', `nothing in this bundle has the id ${id}`, { name: id });
  return last + 1;
}

function countWhile(
  events: AgentEvents['events'],
  isBefore: (event: AgentEvents['events'][number]) => boolean,
) {
  const first = events.findIndex((event) => !isBefore(event));
  return first === -1 ? events.length : first;
}
