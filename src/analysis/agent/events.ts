/**
 * Reads agent events from the bundle part or from the journal's records. Torn and invalid events are omitted and counted; the
 * others have the shape defined in `journal/layout/agent.ts`.
 */
import { MalformedInput } from '../../errors.ts';
import {
  type AgentEvent,
  type AgentEventsPart,
  agentEventsSchema,
  type ByOrigin,
} from '../../journal/layout/agent.ts';

export interface AgentEvents {
  events: AgentEvent[];
  /** When the recording ended, in milliseconds since the epoch. Ages are relative to it. */
  at: number;
  /** The death was not observed: `at` is the time of the last record, and the process lived on for a while after it. */
  isLastRecord?: boolean;
  evicted: number;
  unreadable: number;
  /** The server's request or the test whose code died. */
  culprit?: ByOrigin;
  /** The run, step or tool whose code died. */
  within?: NonNullable<AgentEventsPart['within']>;
  /** Work that ended with the same error object that the process died of. */
  failed?: NonNullable<AgentEventsPart['failed']>;
}

/** Reads the text of `agent-events.json`. Throws MalformedInput if it is not JSON or has another schema. */
export function readAgentEventsPart(text: string): AgentEvents {
  let part: unknown;
  try {
    part = JSON.parse(text);
  } catch (error) {
    throw new MalformedInput(
      'agent-events.json is no JSON',
      { format: 'agent-events', field: 'text' },
      error,
    );
  }
  const { schema, at, evicted, events, within, failed } = (part ?? {}) as Record<string, unknown>;
  if (schema !== agentEventsSchema || !Array.isArray(events))
    throw new MalformedInput('agent-events.json has another schema', {
      format: 'agent-events',
      field: 'schema',
      wanted: agentEventsSchema,
      available: String(schema).slice(0, 80),
    });
  const read = sorted(events);
  const known = readWithin(within);
  const owners = readFailed(failed);
  return {
    ...read,
    at: timeOf(at, read.events),
    evicted: typeof evicted === 'number' ? evicted : 0,
    ...(known && { within: known }),
    ...(owners.length > 0 && { failed: owners }),
  };
}

function readWithin(value: unknown): AgentEvents['within'] {
  if (typeof value !== 'object' || value === null) return undefined;
  const { from, ...scope } = value as Record<string, unknown>;
  if (from !== 'context' && from !== 'only-open') return undefined;
  const ids = ['run', 'step', 'tool'].flatMap((name) =>
    typeof scope[name] === 'string' ? [[name, scope[name]]] : [],
  );
  return { ...Object.fromEntries(ids), from };
}

const mostFailed = 64;

function readFailed(value: unknown): NonNullable<AgentEvents['failed']> {
  return (Array.isArray(value) ? value : []).slice(0, mostFailed).flatMap((one) => {
    const { id, as } = (one ?? {}) as Record<string, unknown>;
    return typeof id === 'string' && (as === 'error' || as === 'cause') ? [{ id, as }] : [];
  });
}

/** Reads the journal's agent records, given as parsed JSON; `endedAt` is when the process was last known to be alive. */
export function readAgentRecords(values: Iterable<unknown>, endedAt?: number): AgentEvents {
  const { events, unreadable } = sorted(values);
  const evicted = Math.max(0, (events.at(-1)?.seq ?? 0) - events.length);
  return { events, at: timeOf(endedAt, events), isLastRecord: true, evicted, unreadable };
}

/**
 * Merges both sources: the journal has more events, the part has what was in flight at the death, and when that was: what the
 * journal has from later was written while the bundle was.
 */
export function mergeAgentEvents(a: AgentEvents, b: AgentEvents): AgentEvents {
  const { events } = sorted([...a.events, ...b.events]);
  const evicted = Math.max(0, (events.at(-1)?.seq ?? 0) - events.length);
  const within = a.within ?? b.within;
  const failed = a.failed ?? b.failed;
  const isLastRecord = a.isLastRecord && b.isLastRecord;
  return {
    events,
    at: isLastRecord ? Math.max(a.at, b.at) : b.isLastRecord ? a.at : b.at,
    evicted,
    unreadable: a.unreadable + b.unreadable,
    ...(isLastRecord && { isLastRecord }),
    ...(within && { within }),
    ...(failed && { failed }),
  };
}

/** Sorted by sequence number, without duplicates: records that were repeated when a segment was dropped occur twice. */
function sorted(values: Iterable<unknown>): { events: AgentEvent[]; unreadable: number } {
  const bySeq = new Map<number, AgentEvent>();
  let unreadable = 0;
  for (const value of values) {
    if (isEvent(value)) bySeq.set(value.seq, value);
    else unreadable++;
  }
  return { events: [...bySeq.values()].sort((a, b) => a.seq - b.seq), unreadable };
}

function timeOf(at: unknown, events: AgentEvent[]): number {
  // Some events are written later than they happened, so the last one need not be the latest.
  return events.reduce((latest, event) => Math.max(latest, event.at), typeof at === 'number' ? at : 0);
}

/** The required string fields of each kind. Other kinds are not read. */
const requiredTexts: Record<string, string[]> = {
  'run.start': ['run'],
  'run.end': ['run', 'status'],
  'step.start': ['id'],
  'step.end': ['id', 'status'],
  'tool.start': ['id'],
  'tool.end': ['id', 'status'],
  'model.start': ['call'],
  'model.headers': ['call'],
  'model.delta': ['call'],
  'model.end': ['call', 'status'],
  message: ['message', 'role'],
  tools: ['tools'],
  'http.start': ['http'],
  'http.answer': ['http'],
  'http.end': ['http'],
  'http.skipped': [],
  state: [],
  plan: [],
  progress: [],
  'wait.start': ['wait', 'waitsFor', 'what'],
  'wait.end': ['wait', 'status'],
  'lock.held': ['lock'],
  'lock.released': ['lock'],
  note: [],
  'mcp.message': ['server'],
  'mcp.start': ['server'],
  'mcp.end': ['server'],
};
const lists: Record<string, string> = { message: 'parts', state: 'operations' };
const objects: Record<string, string> = {
  'model.start': 'attributes',
  'model.headers': 'attributes',
  'model.end': 'attributes',
};

function isEvent(value: unknown): value is AgentEvent {
  if (typeof value !== 'object' || value === null) return false;
  const event = value as Record<string, unknown>;
  const { seq, at, kind } = event;
  if (typeof seq !== 'number' || typeof at !== 'number' || typeof kind !== 'string') return false;
  const texts = Object.hasOwn(requiredTexts, kind) ? requiredTexts[kind] : undefined;
  if (!texts?.every((name) => typeof event[name] === 'string')) return false;
  const list = lists[kind];
  if (list && !Array.isArray(event[list])) return false;
  const object = objects[kind];
  return !object || (typeof event[object] === 'object' && event[object] !== null);
}
