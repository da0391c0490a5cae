/**
 * The agent's runs as rows of one timeline: each run, its steps, and their calls, in order of time. Each row has a time if
 * that is known, and an anchor to link to. Pure; ids come from the program and may repeat, or name each other as parents.
 */
import {
  type AgentRun,
  type AgentState,
  type AgentStep,
  type ModelCall,
  nameOfRun,
  type ToolCall,
} from '../../../model/agent-state.ts';

export type RowKind = 'run' | 'step' | 'model' | 'tool' | 'wait' | 'note' | 'request';
export type Outcome = 'done' | 'failed' | 'open' | 'requested';

export interface TimelineRow {
  anchor: string;
  kind: RowKind;
  name: string;
  depth: number;
  status: string;
  outcome: Outcome;
  /** Epoch milliseconds; absent if unknown. */
  startMs?: number;
  /** If it had not ended: the end of the recording. */
  endMs?: number;
  /** When the reply began, and when the last of it arrived. */
  firstByteMs?: number;
  lastByteMs?: number;
  run: AgentRun;
  source: AgentRun | AgentStep | ModelCall | ToolCall | object;
}

export interface Timeline {
  rows: TimelineRow[];
  startMs: number;
  /** The moment of death. */
  endMs: number;
}

interface Node {
  row: TimelineRow;
  key: string;
  parent?: string | undefined;
}

const longestDepth = 24;

export function computeTimeline(state: AgentState, diedAt?: string): Timeline | undefined {
  const endMs = momentOf(state.endedAt) ?? momentOf(diedAt) ?? latest(state);
  const nodes = state.runs.flatMap((run) => nodesOf(run, endMs));
  for (const [n, request] of (state.openRequests ?? []).entries())
    nodes.push(requestNode(request, n, state, endMs));
  const rows = inOrder(nodes);
  placeRuns(rows, endMs);
  giveAnchors(rows);
  const starts = rows.flatMap(({ startMs }) => (startMs === undefined ? [] : [startMs]));
  if (!rows.length) return undefined;
  let startMs = endMs ?? 0;
  for (const start of starts) if (start < startMs) startMs = start;
  return { rows, startMs, endMs: endMs ?? startMs };
}

function momentOf(iso: string | undefined): number | undefined {
  const ms = Date.parse(iso ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

function latest({ runs }: AgentState): number | undefined {
  let last: number | undefined;
  for (const run of runs)
    for (const { startedAt, durationMs } of [run, ...run.steps, ...run.modelCalls, ...run.toolCalls]) {
      const start = momentOf(startedAt);
      if (start !== undefined) last = Math.max(last ?? start, start + (durationMs ?? 0));
    }
  return last;
}

interface Spanned {
  status: string;
  startedAt?: string;
  durationMs?: number;
  ageMs?: number;
  error?: unknown;
}

function nodesOf(run: AgentRun, endMs: number | undefined): Node[] {
  const runKey = `run ${run.id}`;
  const within = (stepId: string | undefined) => (stepId === undefined ? runKey : `step ${run.id} ${stepId}`);
  const row = (kind: RowKind, name: string, anchor: string, source: Spanned): TimelineRow => ({
    anchor,
    kind,
    name,
    depth: 0,
    run,
    source,
    ...spanOf(source, endMs),
  });
  return [
    {
      key: runKey,
      parent: run.parentId === undefined ? undefined : `run ${run.parentId}`,
      row: row('run', nameOfRun(run), `run-${run.id}`, run),
    },
    ...run.steps.map((step) => ({
      key: `step ${run.id} ${step.id}`,
      parent: step.parentId === undefined || step.parentId === run.id ? runKey : within(step.parentId),
      row: row('step', step.name ?? step.id, `step-${step.id}`, step),
    })),
    ...run.modelCalls.map((call, n) => ({
      key: `model ${run.id} ${n}`,
      parent: within(call.stepId),
      row: {
        ...row('model', call.model ?? call.provider ?? 'model', `call-${call.id ?? n + 1}`, call),
        ...bytesOf(call, endMs),
      },
    })),
    ...run.toolCalls.map((call, n) => ({
      key: `tool ${run.id} ${n}`,
      parent: within(call.stepId),
      row: row('tool', call.name, `tool-${call.id}`, call),
    })),
    ...(run.waits ?? []).map((wait, n) => ({
      key: `wait ${run.id} ${n}`,
      parent: runKey,
      row: row('wait', `${wait.kind} ${wait.what}`, `wait-${run.id}-${n + 1}`, {
        ...wait,
        status: 'waiting',
      }),
    })),
    ...(run.notes ?? []).map((note, n) => ({
      key: `note ${run.id} ${n}`,
      parent: runKey,
      row: row('note', note.text, `note-${run.id}-${n + 1}`, {
        ...note,
        startedAt: note.at,
        status: '',
        durationMs: 0,
      }),
    })),
  ];
}

function spanOf(what: Spanned, endMs: number | undefined) {
  const { startedAt, durationMs, ageMs, status } = what;
  const isOpen =
    ageMs !== undefined || (durationMs === undefined && /^(running|streaming|waiting|sent)$/.test(status));
  const startMs =
    momentOf(startedAt) ?? (ageMs !== undefined && endMs !== undefined ? endMs - ageMs : undefined);
  const finish = isOpen ? endMs : startMs === undefined ? undefined : startMs + (durationMs ?? 0);
  return {
    status,
    outcome: outcomeOf(what, isOpen),
    ...(startMs !== undefined && { startMs }),
    ...(finish !== undefined && { endMs: Math.max(finish, startMs ?? finish) }),
  };
}

function outcomeOf({ status, error }: Spanned, isOpen: boolean): Outcome {
  if (error !== undefined || status === 'failed') return 'failed';
  if (status === 'requested' || status === 'limit' || status === 'refused') return 'requested';
  return isOpen ? 'open' : 'done';
}

function bytesOf(call: ModelCall, endMs: number | undefined) {
  const start = momentOf(call.startedAt);
  return {
    ...(start !== undefined && call.firstByteMs !== undefined && { firstByteMs: start + call.firstByteMs }),
    ...(endMs !== undefined &&
      call.lastByteAgeMs !== undefined && { lastByteMs: endMs - call.lastByteAgeMs }),
  };
}

function requestNode(
  request: { method: string; host: string; ageMs: number },
  n: number,
  { runs }: AgentState,
  endMs: number | undefined,
): Node {
  const run = runs[0] ?? {
    id: '',
    status: 'running',
    steps: [],
    modelCalls: [],
    toolCalls: [],
    messages: [],
    pending: [],
  };
  const row: TimelineRow = {
    anchor: `request-${n + 1}`,
    kind: 'request',
    name: `${request.method} ${request.host}`,
    depth: 0,
    run,
    source: request,
    ...spanOf({ status: 'open', ageMs: request.ageMs }, endMs),
  };
  return { key: `request ${n}`, row };
}

/** Depth first, children sorted by their start. Nodes without a known parent are at the top level, and so are cycles. */
function inOrder(nodes: readonly Node[]): TimelineRow[] {
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  const children = new Map<string | undefined, Node[]>();
  for (const node of nodes) {
    const parent = node.parent !== undefined && byKey.has(node.parent) ? node.parent : undefined;
    const list = children.get(parent);
    if (list) list.push(node);
    else children.set(parent, [node]);
  }
  for (const list of children.values()) list.sort((a, b) => startOf(a) - startOf(b));
  const rows: TimelineRow[] = [];
  const seen = new Set<Node>();
  const visit = (start: readonly Node[]) => {
    const open = start.map((node) => ({ node, depth: 0 })).reverse();
    for (let next = open.pop(); next; next = open.pop()) {
      const { node, depth } = next;
      if (seen.has(node)) continue;
      seen.add(node);
      rows.push({ ...node.row, depth });
      const below = children.get(node.key) ?? [];
      for (let i = below.length; i--; )
        open.push({ node: below[i]!, depth: Math.min(depth + 1, longestDepth) });
    }
  };
  visit(children.get(undefined) ?? []);
  // Nodes in a cycle of parents are not reachable from the top.
  visit(nodes.filter((node) => !seen.has(node)));
  return rows;
}

const startOf = ({ row }: Node): number => row.startMs ?? Number.MAX_SAFE_INTEGER;

/** A run without a start time begins with its first row. */
function placeRuns(rows: readonly TimelineRow[], endMs: number | undefined): void {
  const unplaced = new Map<AgentRun, TimelineRow>();
  for (const row of rows) {
    if (row.kind === 'run' && row.startMs === undefined) unplaced.set(row.run, row);
    const run = unplaced.get(row.run);
    if (!run || row.startMs === undefined || row === run || row.kind === 'request') continue;
    run.startMs = Math.min(run.startMs ?? row.startMs, row.startMs);
    run.endMs =
      run.outcome === 'open' ? (endMs ?? row.startMs) : Math.max(run.endMs ?? 0, row.endMs ?? row.startMs);
  }
}

function giveAnchors(rows: readonly TimelineRow[]): void {
  const used = new Set<string>();
  for (const row of rows) {
    const wanted = row.anchor.replace(/[^\w.~-]+/g, '_').slice(0, 120);
    let anchor = wanted;
    for (let n = 2; used.has(anchor); n++) anchor = `${wanted}~${n}`;
    used.add(anchor);
    row.anchor = anchor;
  }
}
