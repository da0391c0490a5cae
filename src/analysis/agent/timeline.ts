/**
 * Computes from agent events what the agent was doing: runs with their steps, calls and conversation, and what was pending
 * when the process died. Events outside of every run form one implicit run. Any event may be missing.
 */
import type { AgentEvent } from '../../journal/layout/agent.ts';
import type {
  AgentRun,
  AgentState,
  AgentStep,
  AgentWait,
  ModelCall,
  TokenUsage,
} from '../../model/agent-state.ts';
import { applyPatch } from '../../model/json-patch.ts';
import { findAborts } from './calls/aborted-calls.ts';
import { type Conversations, computeConversations, listMessages } from './calls/conversations.ts';
import { findFailedRequests } from './calls/failed-requests.ts';
import { findLoops } from './calls/loops.ts';
import { messagesAsRead, readMessage } from './calls/message-text.ts';
import { type CallInRun, computeModelCalls, idsOf } from './calls/model-calls.ts';
import { computeServers } from './calls/servers.ts';
import { computeToolCalls } from './calls/tool-calls.ts';
import { dropUndefined } from './drop-undefined.ts';
import type { AgentEvents } from './events.ts';
import { Scopes } from './waits/left-behind.ts';
import { findOpenWork, findRequested } from './waits/pending.ts';
import { computeWaitGraph } from './waits/wait-graph.ts';
import { computeWaits } from './waits/waits.ts';

export const implicitRun = 'implicit';

export function computeAgentState({
  events,
  at,
  isLastRecord,
  evicted,
  unreadable,
  culprit,
  within,
  failed,
}: AgentEvents): AgentState {
  const runs = new RunTable(at);
  for (const event of events) runs.add(event);
  const conversations = computeConversations(events);
  const calls = computeModelCalls(events, conversations, at);
  for (const { run, call, ids } of calls) runs.addCall(run, call, ids);
  for (const { run, tool } of computeToolCalls(events, conversations, at)) runs.of(run).toolCalls.push(tool);
  for (const { run, wait } of computeWaits(events, at)) runs.addWait(run, wait);
  const all = runs.all();
  const scopes = new Scopes(events, at);
  for (const run of all) complete(run, calls, conversations, scopes, isLastRecord);
  const openRequests = computeOpenRequests(events, at);
  const failedRequests = findFailedRequests(events, at, culprit);
  const aborts = findAborts(events, at);
  const waitGraph = computeWaitGraph(events, at);
  const loops = findLoops(all);
  const servers = computeServers(events, at);
  return {
    runs: all,
    endedAt: new Date(at).toISOString(),
    ...(isLastRecord && { agesAreMinima: true }),
    events: { read: events.length, evicted, unreadable },
    ...(openRequests.length ? { openRequests } : {}),
    ...(failedRequests.length ? { failedRequests } : {}),
    ...(aborts.length ? { aborts } : {}),
    ...(waitGraph && { waitGraph }),
    ...(loops.length ? { loops } : {}),
    ...(servers.length ? { servers } : {}),
    ...(within && (within.run ?? within.step ?? within.tool) !== undefined ? { diedIn: diedIn(within) } : {}),
    ...(failed && { diedOf: failed }),
  };
}

function diedIn({
  run,
  step,
  tool,
  from,
}: NonNullable<AgentEvents['within']>): NonNullable<AgentState['diedIn']> {
  return { ...dropUndefined({ runId: run, stepId: step, toolId: tool }), from };
}

class RunTable {
  readonly #at: number;
  readonly #runs = new Map<string, AgentRun>();
  readonly #startedAt = new Map<string, number>();
  readonly #idsOfCalls = new Map<string, Record<string, string>>();
  readonly #steps = new Map<string, { step: AgentStep; startedAt: number }>();

  constructor(at: number) {
    this.#at = at;
  }

  all(): AgentRun[] {
    for (const [id, known] of this.#idsOfCalls) {
      const agreed = Object.entries(known).filter(([, value]) => value !== '');
      const run = this.of(id);
      if (agreed.length) run.ids = { ...Object.fromEntries(agreed), ...run.ids };
    }
    return [...this.#runs.values()];
  }

  /** The run with this id; created if its start was not recorded. */
  of(id: string = implicitRun): AgentRun {
    let run = this.#runs.get(id);
    if (!run) {
      run = { id, status: 'running', steps: [], modelCalls: [], toolCalls: [], messages: [], pending: [] };
      if (id === implicitRun) run.implicit = true;
      this.#runs.set(id, run);
    }
    return run;
  }

  /** A run without ids of its own takes those of its requests, if all requests have the same value. */
  addCall(id: string | undefined, call: ModelCall, ids: AgentRun['ids']): void {
    const run = this.of(id);
    run.modelCalls.push(call);
    const known = { ...this.#idsOfCalls.get(run.id) };
    for (const [name, value] of Object.entries(ids ?? {}))
      known[name] = known[name] === undefined || known[name] === value ? value : '';
    this.#idsOfCalls.set(run.id, known);
  }

  addWait(id: string | undefined, wait: AgentWait): void {
    const run = this.of(id);
    run.waits ??= [];
    run.waits.push(wait);
  }

  add(event: AgentEvent): void {
    switch (event.kind) {
      case 'run.start':
        this.#startRun(event);
        return;
      case 'run.end':
        this.#endRun(event);
        return;
      case 'step.start':
        this.#startStep(event);
        return;
      case 'step.end':
        this.#endStep(event);
        return;
      case 'state':
        this.#patchState(event);
        return;
      case 'plan':
        this.of(event.run).plan = event.plan;
        return;
      case 'progress': {
        const { done, total, note } = event;
        this.of(event.run).progress = dropUndefined({ done, total, note, ageMs: this.#at - event.at });
        return;
      }
      case 'message':
        if (event.source !== undefined) this.#reported(event);
        return;
      case 'note': {
        const note = { at: new Date(event.at).toISOString(), text: String(event.text), data: event.data };
        const run = this.of(event.run);
        run.notes ??= [];
        run.notes.push(dropUndefined(note));
      }
    }
  }

  #startRun(event: Extract<AgentEvent, { kind: 'run.start' }>): void {
    const run = this.of(event.run);
    const { name, parent: parentId, config } = event;
    Object.assign(run, dropUndefined({ name, parentId, config, ids: idsOf(event.ids) }));
    run.startedAt = new Date(event.at).toISOString();
    this.#startedAt.set(event.run, event.at);
  }

  #endRun(event: Extract<AgentEvent, { kind: 'run.end' }>): void {
    const run = this.of(event.run);
    run.status = event.status === 'finished' ? 'finished' : 'failed';
    run.durationMs = event.tookMs;
    if (event.error) run.error = event.error;
  }

  #startStep(event: Extract<AgentEvent, { kind: 'step.start' }>): void {
    const step: AgentStep = dropUndefined({
      id: event.id,
      name: event.name,
      status: 'running',
      attempt: event.attempt !== undefined && event.attempt > 1 ? event.attempt : undefined,
      startedAt: new Date(event.at).toISOString(),
      parentId: event.step,
      ageMs: this.#at - event.at,
    });
    this.of(event.run).steps.push(step);
    this.#steps.set(event.id, { step, startedAt: event.at });
  }

  #endStep(event: Extract<AgentEvent, { kind: 'step.end' }>): void {
    const found = this.#steps.get(event.id);
    if (!found) return;
    const { step } = found;
    delete step.ageMs;
    step.status = event.status;
    step.durationMs = event.at - found.startedAt;
    if (event.result !== undefined) step.result = event.result;
    if (event.error) step.error = event.error;
  }

  #reported(event: Extract<AgentEvent, { kind: 'message' }>): void {
    const run = this.of(event.run);
    run.reportedMessages ??= [];
    run.reportedMessages.push(readMessage(event.message, event));
  }

  #patchState(event: Extract<AgentEvent, { kind: 'state' }>): void {
    const run = this.of(event.run);
    try {
      run.state = applyPatch(run.state ?? {}, event.operations);
    } catch {
      // Earlier records are lost: the state is only known from here on.
      run.state = { ...(run.state as object), '[gap]': 'earlier changes are not recorded' };
    }
  }
}

function complete(
  run: AgentRun,
  calls: CallInRun[],
  conversations: Conversations,
  scopes: Scopes,
  agesAreMinima = false,
): void {
  const own = calls.filter((call) => (call.run ?? implicitRun) === run.id).map(({ call }) => call.id);
  const heads = findHeads(own, conversations);
  const [main, ...others] = heads.toSorted((a, b) => b.length - a.length);
  if (main) {
    const system = main.system === undefined ? [] : [main.system];
    run.messages = messagesAsRead(conversations, [...system, ...listMessages(conversations, main.call)]);
    if (main.unknown) run.unknownMessages = main.unknown;
  } else run.messages = run.reportedMessages ?? [];
  if (others.length)
    run.otherConversations = others.map(({ call, length }) => ({ lastCall: call, messages: length }));
  const usage = sumUsage(run);
  if (usage) run.usage = usage;
  const cost = sumCost(run);
  if (cost) run.cost = cost;
  const open = findOpenWork(run, scopes, agesAreMinima);
  if (open.length) run.open = open;
  run.pending = open.map(({ text }) => text);
  const requested = findRequested(run);
  if (requested.length) run.requested = requested;
  if (run.status === 'running' && run.waits?.length && !isBusy(run)) run.status = 'waiting';
}

/** Calls that no later call of the run continues: the last call of each conversation. */
function findHeads(own: string[], { calls }: Conversations) {
  const continued = new Set<string>();
  for (const id of own) {
    const call = calls.get(id);
    const base = call?.base === undefined ? undefined : calls.get(call.base);
    if (call && base && call.keep + 1 >= base.length - base.output.length) continued.add(base.call);
  }
  return own
    .filter((id) => !continued.has(id))
    .map((id) => calls.get(id))
    .filter((call) => call !== undefined);
}

function isBusy(run: AgentRun): boolean {
  const open = ['sent', 'answered', 'streaming', 'running'];
  return [...run.modelCalls, ...run.toolCalls].some(({ status }) => open.includes(status));
}

function sumUsage(run: AgentRun): TokenUsage | undefined {
  let [inputTokens, outputTokens, counted] = [0, 0, false];
  for (const call of run.modelCalls) {
    inputTokens += call.inputTokens ?? 0;
    outputTokens += call.outputTokens ?? 0;
    counted ||= call.inputTokens !== undefined || call.outputTokens !== undefined;
  }
  return counted ? { inputTokens, outputTokens } : undefined;
}

function sumCost({ modelCalls }: AgentRun): AgentRun['cost'] {
  const priced = modelCalls.flatMap(({ cost }) => cost ?? []);
  if (!priced.length) return undefined;
  const usd = priced.reduce((total, cost) => total + cost.usd, 0);
  const pricesOf = [...new Set(priced.map(({ priceOf }) => priceOf))].sort();
  return { usd, pricedCalls: priced.length, calls: modelCalls.length, pricesOf };
}

function computeOpenRequests(events: readonly AgentEvent[], at: number) {
  const open = new Map<string, { method: string; host: string; ageMs: number }>();
  for (const event of events)
    if (event.kind === 'http.start')
      open.set(event.http, { method: event.method, host: event.host, ageMs: at - event.at });
    else if (event.kind === 'http.end') open.delete(event.http);
  return [...open.values()];
}
