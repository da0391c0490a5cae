/**
 * Shared by the integrations: takes a framework's runs, steps and tool calls under the framework's own keys and records them
 * with ids of this package. Bounded: the oldest entries without an end are forgotten. Knows no framework.
 */
import {
  type Attributes,
  type EndStatus,
  type EventError,
  noRequestGap,
  type RunIds,
} from '../../journal/layout/agent.ts';
import { compact } from '../calls/json.ts';
import { errorOf, isAbort } from '../http/call-error.ts';
import { BoundedMap } from '../record/bounded-map.ts';
import { thrownOf } from '../record/failed-work.ts';
import type { AgentRecorder } from '../record/recorder.ts';
import type { AgentScope } from '../record/scope.ts';
import type { Writing } from '../record/sink.ts';

/** A model call reported by a framework. It is recorded by the taps as soon as they see a request. */
interface AskedModel {
  provider: string | undefined;
  model: string | undefined;
  scope: AgentScope;
  startedAt: number;
  /** How many calls the taps had seen before. */
  since: number;
}

interface Entry {
  id: string;
  /** The scope of code inside of it. */
  scope: AgentScope;
  startedAt: number;
  /** For a run: what its start is noted under in the recorder's sites. */
  begun?: { what: string; by: object };
}

export interface Outcome {
  status: EndStatus;
  result?: unknown;
  error?: EventError;
}

const entryLimit = 10_000;
const endedLimit = 2000;
const { now } = Date;

export class FrameworkRecorder {
  readonly #recorder: AgentRecorder;
  readonly #source: string;
  readonly #writing: Writing;
  readonly #runs = new BoundedMap<Entry>(entryLimit);
  readonly #steps = new BoundedMap<Entry>(entryLimit);
  readonly #tools = new BoundedMap<Entry>(entryLimit);
  readonly #models = new BoundedMap<AskedModel>(entryLimit);
  /** Scopes of work that has ended: promises that it started may still run. */
  readonly #ended = new BoundedMap<AgentScope>(endedLimit);

  /**
   * `source` is the framework's name in the events. `writing` is `soon` if only code of the framework runs between the start
   * of a run or step and the request to the model.
   */
  constructor(recorder: AgentRecorder, source: string, writing: Writing = 'now') {
    this.#recorder = recorder;
    this.#source = source;
    this.#writing = writing;
  }

  /** The scope inside of the run, step or tool call with this key. */
  scopeOf(key: string): AgentScope | undefined {
    const open = this.#tools.get(key) ?? this.#steps.get(key) ?? this.#runs.get(key);
    return open?.scope ?? this.#ended.get(key);
  }

  /** Registers work that is not recorded itself: code inside of it runs in `scope`. */
  alias(key: string, scope: AgentScope): void {
    this.#steps.set(key, { id: '', scope, startedAt: 0 });
  }

  forget(key: string): void {
    this.#steps.delete(key);
  }

  /** `by`: if the start of the run was noted in the recorder's sites before, while its caller was still on the stack. */
  startRun(key: string, name: string, around: AgentScope, ids?: RunIds, by?: object): AgentScope {
    const id = this.#recorder.nextId('r');
    const scope = { run: id };
    const begun = { what: `run ${name}`, by: by ?? scope };
    this.#recorder.sites.begin(begun.by, begun.what);
    this.#runs.set(key, { id, scope, startedAt: now(), begun });
    this.#recorder.openWork.openRun(id);
    const facts = compact({ run: id, source: this.#source, parent: around.run });
    const content = ids ? { name, ids } : { name };
    this.#recorder.report('run.start', facts as { run: string }, content, this.#writing);
    return scope;
  }

  endRun(key: string, { status, error }: Outcome): void {
    const entry = this.#take(this.#runs, key);
    if (!entry) return;
    this.#recorder.openWork.closeRun(entry.id);
    if (entry.begun && error) this.#recorder.sites.failed(entry.begun.by, thrownOf(error), entry.begun.what);
    const facts = { run: entry.id, status, tookMs: now() - entry.startedAt };
    this.#recorder.report('run.end', facts, error && { error });
  }

  startStep(key: string, name: string, around: AgentScope, input?: unknown): AgentScope {
    const id = this.#recorder.nextId('s');
    const scope = { ...around, step: id };
    this.#steps.set(key, { id, scope, startedAt: now() });
    if (around.run !== undefined) this.#recorder.openWork.openStep(around.run, id);
    const facts = { id, source: this.#source, ...around };
    this.#recorder.report('step.start', facts, compact({ name, input }), this.#writing);
    return scope;
  }

  endStep(key: string, outcome: Outcome): void {
    const entry = this.#take(this.#steps, key);
    if (!entry) return;
    if (entry.scope.run !== undefined) this.#recorder.openWork.closeStep(entry.scope.run, entry.id);
    this.#end('step.end', entry, outcome);
  }

  startTool(
    key: string,
    call: { name: string; arguments?: unknown; callId?: string | undefined },
    around: AgentScope,
  ) {
    const id = this.#recorder.nextId('t');
    const scope = { ...around, tool: id };
    this.#tools.set(key, { id, scope, startedAt: now() });
    const content = compact({ name: call.name, arguments: call.arguments, callId: call.callId });
    this.#recorder.report('tool.start', { id, source: this.#source, ...around }, content as { name: string });
    return scope;
  }

  endTool(key: string, outcome: Outcome): void {
    const entry = this.#take(this.#tools, key);
    if (entry) this.#end('tool.end', entry, outcome);
  }

  /** What all tool calls depended on is gone. */
  endTools(outcome: Outcome): void {
    for (const [key] of this.#tools.latest(entryLimit)) this.endTool(key, outcome);
  }

  startModel(key: string, named: Pick<AskedModel, 'provider' | 'model'>, scope: AgentScope): void {
    const { count: since } = this.#recorder.tapped;
    const { byOrigin } = this.#recorder;
    this.#models.set(key, { ...named, scope: { ...scope, ...byOrigin }, startedAt: now(), since });
  }

  /**
   * A call without an error was recorded by the taps. One with an error may have failed before any request was made, e.g.
   * because fetch refuses the port or the address is invalid. It is recorded only if the taps saw no model call at all since
   * it began, because any other call could be this one.
   */
  endModel(key: string, outcome?: Outcome): void {
    const asked = this.#models.get(key);
    this.#models.delete(key);
    if (!asked || !outcome?.error || this.#recorder.tapped.count !== asked.since) return;
    const { status, error } = outcome;
    const call = this.#recorder.nextId('c');
    const attributes = compact({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': asked.provider,
      'gen_ai.request.model': asked.model,
    }) as Attributes;
    const start = { call, source: this.#source, bytes: 0, gap: noRequestGap, ...asked.scope };
    const conversation = { keep: 0, add: [] };
    const { sink, failedWork } = this.#recorder;
    sink.record('model.start', { ...start, conversation }, { attributes }, 'ahead', asked.startedAt);
    const end = { call, status, tookMs: now() - asked.startedAt, bytes: 0, frames: 0, output: [] };
    failedWork.note(call, error);
    sink.record('model.end', end, { attributes: {}, error });
  }

  #end(kind: 'step.end' | 'tool.end', entry: Entry, { status, result, error }: Outcome): void {
    const facts = { id: entry.id, status, tookMs: now() - entry.startedAt };
    this.#recorder.report(kind, facts, compact({ result, error }) as { result?: unknown });
  }

  #take(map: BoundedMap<Entry>, key: string): Entry | undefined {
    const entry = map.get(key);
    map.delete(key);
    if (entry) this.#ended.set(key, entry.scope);
    return entry;
  }
}

export function failed(error: unknown): Outcome {
  return { status: isAbort(error) ? 'aborted' : 'failed', error: errorOf(error) };
}

export function finished(result?: unknown): Outcome {
  return result === undefined ? { status: 'finished' } : { status: 'finished', result };
}
