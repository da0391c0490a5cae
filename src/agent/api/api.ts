/**
 * The explicit API, exported as `agent`. A host names its runs, steps and tool calls, and reports its plan, state and waits.
 * They are recorded if the preload is loaded; otherwise a call costs some nanoseconds. Names follow the OpenTelemetry GenAI
 * conventions. Nothing here throws, except for errors of the host's own functions and `state` with a pointer that does not
 * resolve.
 */
import type { AgentEventData, EndStatus, MessagePart } from '../../journal/layout/agent.ts';
import { contentParts, otherPart } from '../calls/message-parts.ts';
import type { ProgressOptions } from '../record/progress-watch.ts';
import type { AgentScope } from '../record/scope.ts';
import { acquireLock, type HeldLock, withLock } from './api-lock.ts';
import { replayed } from './api-replayed.ts';
import {
  currentPlace,
  currentScope,
  type Ending,
  findOwner,
  findPort,
  owned,
  runScoped,
  watchPromise,
} from './api-scope.ts';
import { openState, type RunState, shareState, state } from './api-state.ts';
import type { AgentPort } from './port.ts';

export interface RunOptions {
  /** The host's own name for this run, used in the report. If it is used twice, the report adds a number. */
  id?: string;
  /** The configuration of the run: model, prompt version, limits. */
  config?: unknown;
}

export interface StepOptions {
  input?: unknown;
  /** 1 for the first. */
  attempt?: number;
}

export interface ToolOptions {
  /** The provider's id of the call, which links it to the model's request for it. */
  callId?: string;
}

/** The argument of the function of a run, step or tool. `id` is assigned by the recorder; it is empty without the preload. */
export interface Work {
  readonly id: string;
  readonly name: string;
}

export type { ProgressOptions };

export interface Progress {
  done?: number;
  total?: number;
  note?: string;
}

export interface Agent {
  /** A run of the agent. Inside of another run, a sub-agent. */
  run<Result>(name: string, work: (run: Work) => Result): Result;
  run<Result>(name: string, options: RunOptions, work: (run: Work) => Result): Result;
  step<Result>(name: string, work: (step: Work) => Result, options?: StepOptions): Result;
  /** A tool call: `work` is called with the arguments. */
  tool<Arguments, Result>(
    name: string,
    toolArguments: Arguments,
    work: (toolArguments: Arguments, call: Work) => Result,
    options?: ToolOptions,
  ): Result;
  /** A message that no tap sees, e.g. of a model that runs in this process. */
  message(role: string, content: unknown): void;
  readonly state: RunState;
  /** The current plan, in any shape. */
  plan(plan: unknown): void;
  /** Reports progress, optionally with how much of the work is done. */
  progress(progress?: Progress): void;
  /**
   * Declares that an event of `signs` is expected at least every `ms` milliseconds. If none occurs, a bundle is written and
   * the program continues. Each bundle multiplies the interval by four. A later call replaces this one; 0 turns the watch
   * off. Returns a function that removes the expectation.
   */
  expectProgress(ms: number, options?: ProgressOptions): () => void;
  /**
   * Names what is awaited. Returns a promise of the same outcome. For a promise returned by `run`, `step` or `tool` its owner
   * is known, which makes it possible to find runs that wait for each other.
   */
  waitFor<Value>(what: string, promise: PromiseLike<Value>): Promise<Value>;
  /** A named lock within this thread. */
  lock(name: string): Promise<HeldLock>;
  lock<Result>(name: string, work: () => Result): Promise<Awaited<Result>>;
  note(text: string, data?: unknown): void;
}

const source = 'api';

function run<Result>(
  name: string,
  ...rest: [(run: Work) => Result] | [RunOptions, (run: Work) => Result]
): Result {
  const [options, work] = rest.length === 1 ? [{}, rest[0]] : rest;
  const port = findPort();
  const id = port?.nextId('r') ?? '';
  const scope: AgentScope = { run: id };
  openState(scope);
  const parent = currentPlace().run;
  const facts: Partial<AgentEventData['run.start']> = { run: id, source };
  if (parent) facts.parent = parent;
  const content: Partial<AgentEventData['run.start']> = { name };
  if (options.id !== undefined) content.givenId = options.id;
  if (options.config !== undefined) content.config = options.config;
  port?.record('run.start', facts, content);
  return owned(
    id,
    runScoped(
      scope,
      () => work({ id, name }),
      ({ status, tookMs, error }) =>
        port?.record('run.end', { run: id, status, tookMs }, error === undefined ? undefined : { error }),
    ),
  );
}

function step<Result>(name: string, work: (step: Work) => Result, options: StepOptions = {}): Result {
  const port = findPort();
  if (!port) return work({ id: '', name });
  const around = currentPlace();
  const id = port.nextId('s');
  const content: Partial<AgentEventData['step.start']> = { name };
  if (options.input !== undefined) content.input = options.input;
  const facts: Partial<AgentEventData['step.start']> = { id, source, ...around };
  if (options.attempt !== undefined) facts.attempt = options.attempt;
  port.record('step.start', facts, content);
  const scope = within(around, { step: id });
  return owned(
    id,
    runScoped(scope, () => work({ id, name }), endRecorder(port, 'step.end', id)),
  );
}

function tool<Arguments, Result>(
  name: string,
  toolArguments: Arguments,
  work: (toolArguments: Arguments, call: Work) => Result,
  options: ToolOptions = {},
): Result {
  const port = findPort();
  if (!port) return work(toolArguments, { id: '', name });
  const around = currentPlace();
  const id = port.nextId('t');
  const content: Partial<AgentEventData['tool.start']> = { name, arguments: toolArguments };
  if (options.callId !== undefined) content.callId = options.callId;
  port.record('tool.start', { id, source, ...around }, content);
  const scope = within(around, { tool: id });
  const isAsync = work.constructor.name === 'AsyncFunction';
  const run = replayed(name, () => work(toolArguments, { id, name }), isAsync);
  return owned(id, runScoped(scope, run, endRecorder(port, 'tool.end', id)));
}

function within(around: AgentScope, more: AgentScope): AgentScope {
  const scope = { ...around, ...more };
  shareState(currentScope(), scope);
  return scope;
}

function endRecorder(port: AgentPort, kind: 'step.end' | 'tool.end', id: string) {
  return ({ status, tookMs, result, error }: Ending) => {
    const content: { result?: unknown; error?: NonNullable<Ending['error']> } = {};
    if (result !== undefined) content.result = result;
    if (error !== undefined) content.error = error;
    port.record(kind, { id, status, tookMs }, content);
  };
}

function message(role: string, content: unknown): void {
  const port = findPort();
  if (!port) return;
  const id = port.nextId('m');
  port.record('message', { message: id, source, ...currentPlace() }, { role, parts: partsOf(content) });
}

/** Accepts a text, a list of content blocks as most providers use them, or any other value. */
function partsOf(content: unknown): MessagePart[] {
  if (typeof content !== 'string' && !Array.isArray(content)) return [otherPart(content, 'value')];
  return contentParts(content, (block) => {
    const text = block['text'] ?? block['content'];
    return block['type'] === 'text' && typeof text === 'string'
      ? { type: 'text', content: text }
      : otherPart(block);
  });
}

function waitFor<Value>(what: string, promise: PromiseLike<Value>): Promise<Value> {
  const port = findPort();
  if (!port) return Promise.resolve(promise);
  const wait = port.nextId('w');
  const on = findOwner(promise);
  port.record(
    'wait.start',
    { wait, waitsFor: 'promise', ...(on !== undefined && { on }), ...currentPlace() },
    { what },
  );
  return watchPromise(promise, ({ status, tookMs }: { status: EndStatus; tookMs: number }) =>
    port.record('wait.end', { wait, status, tookMs }),
  );
}

function lock<Result>(name: string, work?: () => Result): Promise<HeldLock | Awaited<Result>> {
  return work ? withLock(name, work) : acquireLock(name);
}

export const agent: Agent = {
  run,
  step,
  tool,
  message,
  state,
  plan: (plan) => findPort()?.record('plan', currentPlace(), { plan }),
  progress: (progress = {}) => findPort()?.record('progress', currentPlace(), progress),
  expectProgress: (ms, options) => findPort()?.expectProgress?.(ms, options) ?? (() => undefined),
  waitFor,
  lock: lock as Agent['lock'],
  note: (text, data) =>
    findPort()?.record('note', currentPlace(), data === undefined ? { text } : { text, data }),
};
