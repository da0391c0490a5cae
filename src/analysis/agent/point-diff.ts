/** What changed in an agent between two points in time. Pure; both points are prefixes of the same events. */
import type { PointDiff, RunDiff, ValueChange } from '../../model/agent-points.ts';
import type { AgentRun } from '../../model/agent-state.ts';
import { renderPointer } from '../../model/json-patch.ts';
import type { AgentEvents } from './events.ts';
import { cutAgentEvents } from './point.ts';
import { computeAgentState } from './timeline.ts';

const mostChanges = 500;

/** Points in the format of `--at`, in any order. Throws like `cutAgentEvents`. */
export function computePointDiff(events: AgentEvents, a: string, b: string): PointDiff {
  const cuts = [cutAgentEvents(events, a), cutAgentEvents(events, b)];
  const [from, to] = cuts.sort((one, other) => one.events.length - other.events.length) as [
    AgentEvents,
    AgentEvents,
  ];
  const before = new Map(computeAgentState(from).runs.map((run) => [run.id, run]));
  const runs = computeAgentState(to).runs.map((run) => diffRun(before.get(run.id), run));
  return { from: pointOf(from), to: pointOf(to), runs: runs.filter(hasChanges) };
}

function pointOf({ events, at }: AgentEvents): PointDiff['from'] {
  return { seq: events.at(-1)?.seq ?? 0, at: new Date(events.length ? at : 0).toISOString() };
}

function diffRun(before: AgentRun | undefined, after: AgentRun): RunDiff {
  const isPlanChanged = !isSame(before?.plan, after.plan);
  const shared = sharedMessages(before, after);
  return {
    id: after.id,
    ...(after.name !== undefined && { name: after.name }),
    ...(after.implicit && { implicit: true }),
    isNew: before === undefined,
    ...(before &&
      before.status !== after.status && { status: { before: before.status, after: after.status } }),
    state: diffValues(before?.state ?? {}, after.state ?? {}),
    ...(isPlanChanged && { plan: { before: before?.plan, after: after.plan } }),
    steps: changedOf(before?.steps, after.steps),
    modelCalls: changedOf(before?.modelCalls, after.modelCalls),
    toolCalls: changedOf(before?.toolCalls, after.toolCalls),
    messages: after.messages.slice(shared),
    inputTokens: (after.usage?.inputTokens ?? 0) - (before?.usage?.inputTokens ?? 0),
    outputTokens: (after.usage?.outputTokens ?? 0) - (before?.usage?.outputTokens ?? 0),
  };
}

/** Items that began or ended between the points. */
function changedOf<Item extends { id?: string; status: string }>(
  before: readonly Item[] = [],
  after: readonly Item[],
) {
  const known = new Map(before.map((item) => [item.id, item.status]));
  return after.filter((item) => known.get(item.id) !== item.status);
}

function sharedMessages(before: AgentRun | undefined, after: AgentRun): number {
  const old = before?.messages ?? [];
  const other = old.findIndex((message, index) => message.id !== after.messages[index]?.id);
  return other === -1 ? old.length : other;
}

function hasChanges(run: RunDiff): boolean {
  const lists = [run.state, run.steps, run.modelCalls, run.toolCalls, run.messages];
  return (
    run.isNew || run.status !== undefined || run.plan !== undefined || lists.some((list) => list.length > 0)
  );
}

/** Differing leaves, by JSON pointer; a whole branch that was added or removed is one change. Iterative. */
export function diffValues(before: unknown, after: unknown): ValueChange[] {
  const changes: ValueChange[] = [];
  const open: { tokens: string[]; a: unknown; b: unknown }[] = [{ tokens: [], a: before, b: after }];
  for (let next = open.pop(); next && changes.length < mostChanges; next = open.pop()) {
    const { tokens, a, b } = next;
    // States of one log share unchanged parts.
    if (a === b) continue;
    if (isBranch(a) && isBranch(b) && Array.isArray(a) === Array.isArray(b)) {
      const names = new Set([...Object.keys(a), ...Object.keys(b)]);
      for (const name of [...names].reverse())
        open.push({ tokens: [...tokens, name], a: own(a, name), b: own(b, name) });
    } else if (!isSame(a, b)) {
      const op = a === undefined ? 'add' : b === undefined ? 'remove' : 'replace';
      const change: ValueChange = { op, path: renderPointer(tokens) };
      if (a !== undefined) change.before = a;
      if (b !== undefined) change.after = b;
      changes.push(change);
    }
  }
  return changes;
}

type Branch = Record<string, unknown>;

function isBranch(value: unknown): value is Branch {
  return typeof value === 'object' && value !== null;
}

const own = (value: Branch, name: string) => (Object.hasOwn(value, name) ? value[name] : undefined);

const isSame = (a: unknown, b: unknown) => a === b || JSON.stringify(a) === JSON.stringify(b);
