/**
 * Who waited for whom when the recording ended. Edges lead from open work to the work that it began and that has not ended,
 * from a wait to its target, and from a lock to its holder. The target of a promise is the run or call that returned it,
 * otherwise the only open run or call with the given name. Plain `await` is not visible.
 */
import type { AgentEvent } from '../../../journal/layout/agent.ts';
import type { WaitEdge, WaitGraph, WaitNode } from '../../../model/agent-state.ts';
import { modelName } from '../../../model/model-call-text.ts';
import { lastByteOf, serverOf, textOf } from '../calls/model-calls.ts';
import { dropUndefined } from '../drop-undefined.ts';
import { findCycles } from './wait-cycles.ts';

interface Scope {
  run?: string;
  step?: string;
  tool?: string;
}

type WaitStart = Extract<AgentEvent, { kind: 'wait.start' }>;
type LockHeld = Extract<AgentEvent, { kind: 'lock.held' }>;

/** Code outside of every run. It does many things concurrently, so it is never part of a cycle. */
export const programNode = 'program';

/** `at` is the end of the recording. Undefined if there were no waits. */
export function computeWaitGraph(events: readonly AgentEvent[], at: number): WaitGraph | undefined {
  const open = new OpenThings(at);
  for (const event of events) open.add(event);
  const { nodes, edges } = open.finish();
  if (!edges.some(({ why }) => why === 'waits')) return undefined;
  return { nodes, edges, cycles: findCycles(nodes, edges) };
}

interface Start {
  id: string;
  kind: WaitNode['kind'];
  name: unknown;
  parent: string | undefined;
}

function startOf(event: AgentEvent): Start | undefined {
  switch (event.kind) {
    case 'run.start':
      return { id: event.run, kind: 'run', name: event.name, parent: event.parent };
    case 'step.start':
      return { id: event.id, kind: 'step', name: event.name, parent: innermost(event) };
    case 'tool.start':
      return { id: event.id, kind: 'tool', name: event.name, parent: innermost(event) };
    case 'model.start':
      return { id: event.call, kind: 'model-call', name: modelOf(event), parent: innermost(event) };
    case 'http.start': {
      const { http, method, host } = event;
      return { id: http, kind: 'request', name: `${method} ${host}`, parent: innermost(event) };
    }
    default:
      return undefined;
  }
}

function endOf(event: AgentEvent): string | undefined {
  if (event.kind === 'run.end') return event.run;
  if (event.kind === 'step.end' || event.kind === 'tool.end') return event.id;
  if (event.kind === 'model.end') return event.call;
  return event.kind === 'http.end' ? event.http : undefined;
}

class OpenThings {
  readonly #at: number;
  readonly #nodes = new Map<string, WaitNode>();
  readonly #startedAt = new Map<string, number>();
  readonly #lastByteAt = new Map<string, number>();
  readonly #bytes = new Map<string, number>();
  readonly #parents = new Map<string, string>();
  readonly #waits = new Map<string, WaitStart>();
  readonly #locks = new Map<string, LockHeld>();
  readonly #edges: WaitEdge[] = [];

  constructor(at: number) {
    this.#at = at;
  }

  add(event: AgentEvent): void {
    const started = startOf(event);
    if (started) this.#open(started, event.at);
    else if (event.kind === 'model.delta') this.#heard(event);
    else if (event.kind === 'wait.start') this.#waits.set(event.wait, event);
    else if (event.kind === 'wait.end') this.#waits.delete(event.wait);
    else if (event.kind === 'lock.held') this.#locks.set(event.lock, event);
    else if (event.kind === 'lock.released') this.#locks.delete(event.lock);
    else {
      const node = this.#nodes.get(endOf(event) ?? '');
      if (node) node.ended = true;
    }
  }

  #heard(event: Extract<AgentEvent, { kind: 'model.delta' }>): void {
    const bytes = this.#bytes.get(event.call) ?? 0;
    const at = lastByteOf(event, { bytes });
    this.#bytes.set(event.call, event.bytes);
    if (at !== undefined) this.#lastByteAt.set(event.call, at);
  }

  finish(): { nodes: WaitNode[]; edges: WaitEdge[] } {
    for (const wait of this.#waits.values()) if (!this.#hasEnded(innermost(wait))) this.#addWait(wait);
    for (const held of this.#locks.values()) this.#addHolder(held);
    for (const [id, parent] of this.#parents)
      if (this.#isOpen(id) && this.#isOpen(parent))
        this.#edges.push({ from: parent, to: id, why: 'holds', ageMs: this.#ageOf(id) });
    const used = new Set(this.#edges.flatMap(({ from, to }) => [from, to]));
    const nodes = [...this.#nodes.values()].filter(({ id }) => used.has(id));
    for (const node of nodes) this.#addAges(node);
    return { nodes, edges: this.#edges };
  }

  #open({ id, kind, name, parent }: Start, at: number): void {
    this.#nodes.set(id, { id, kind, name: typeof name === 'string' ? name : id });
    this.#startedAt.set(id, at);
    if (parent !== undefined) this.#parents.set(id, parent);
  }

  #isOpen(id: string): boolean {
    const node = this.#nodes.get(id);
    return node !== undefined && !node.ended;
  }

  /** Work that has ended doesn't wait any more. */
  #hasEnded(id: string | undefined): boolean {
    return id !== undefined && this.#nodes.get(id)?.ended === true;
  }

  #addAges(node: WaitNode): void {
    if (!this.#startedAt.has(node.id) || node.ended) return;
    node.ageMs = this.#ageOf(node.id);
    const lastByteAt = this.#lastByteAt.get(node.id);
    if (lastByteAt !== undefined) node.lastByteAgeMs = Math.max(0, this.#at - lastByteAt);
  }

  #ageOf(id: string): number {
    return Math.max(0, this.#at - (this.#startedAt.get(id) ?? this.#at));
  }

  #addWait(wait: WaitStart): void {
    const from = this.#require(innermost(wait));
    const to = this.#targetOf(wait);
    this.#edges.push({ from, to, why: 'waits', ageMs: Math.max(0, this.#at - wait.at) });
  }

  #targetOf({ wait, waitsFor, what, on }: WaitStart): string {
    if (waitsFor === 'lock') return this.#add(`lock ${what}`, 'lock', what);
    const known = on === undefined ? this.#findNamed(what) : on;
    if (known !== undefined && this.#isOpen(known)) return known;
    return this.#add(`wait ${wait}`, waitsFor, what);
  }

  /** `planner`, `run planner` or `run:planner`, if exactly one open node has that name. */
  #findNamed(what: string): string | undefined {
    const [, kind, name = what] = /^(run|step|tool|agent)[ :](.+)$/.exec(what) ?? [];
    const wanted = kind === 'agent' ? 'run' : kind;
    const found = [...this.#nodes.values()].filter(
      (node) =>
        this.#isOpen(node.id) &&
        (node.name === name || node.id === name) &&
        (wanted === undefined ? node.kind === 'run' : node.kind === wanted),
    );
    return found.length === 1 ? found[0]?.id : undefined;
  }

  #addHolder(held: LockHeld): void {
    const lock = `lock ${held.name}`;
    if (!this.#nodes.has(lock)) return;
    this.#edges.push({
      from: lock,
      to: this.#require(innermost(held)),
      why: 'held-by',
      ageMs: Math.max(0, this.#at - held.at),
    });
  }

  /** Creates the node if its start was not recorded. */
  #require(id: string | undefined): string {
    if (id === undefined) return this.#add(programNode, 'program', 'the program');
    const kinds = { r: 'run', s: 'step', t: 'tool' } as const;
    return this.#nodes.has(id) ? id : this.#add(id, kinds[id[0] as 'r'] ?? 'run', id);
  }

  #add(id: string, kind: WaitNode['kind'], name: string): string {
    if (!this.#nodes.has(id)) this.#nodes.set(id, { id, kind, name });
    return id;
  }
}

const innermost = ({ run, step, tool }: Scope): string | undefined => tool ?? step ?? run;

function modelOf({ attributes }: Extract<AgentEvent, { kind: 'model.start' }>): string {
  return modelName(
    dropUndefined({
      provider: textOf(attributes['gen_ai.provider.name']),
      model: textOf(attributes['gen_ai.request.model']),
      server: serverOf(attributes),
    }),
  );
}
