/**
 * The public `agent` with durable runs: the recorded API, and in a durable run also persisted results of its steps, tool
 * calls and nested runs. The engine is loaded when the first durable run begins; until then a step costs one additional
 * comparison.
 */
import { type Agent, type RunOptions, agent as recorded, type Work } from '../agent/api/api.ts';
import { AgentdumpError } from '../errors.ts';
import type { ChildWish } from './approvals/child-run.ts';
import type { ApprovalWish, SignalWish, SleepWish } from './approvals/wait-for-approval.ts';
import type { Engine } from './engine.ts';
import type {
  DurableRunOptions,
  DurableRunWork,
  DurableStepOptions,
  DurableToolOptions,
  DurableWork,
} from './options.ts';
import type { CheckpointContents } from './records/checkpoint.ts';
import type { Answer, Signal } from './records/layout.ts';

/** The return value of the function, or in a durable run a promise of it. */
export type StepResult<Result> =
  Result extends PromiseLike<infer Value> ? Promise<Value> : Result | Promise<Result>;

export interface DurableAgent extends Omit<Agent, 'run' | 'step' | 'tool'> {
  /** Resumes the run with this id, or starts it. Its result is recorded too. */
  run<Result>(
    name: string,
    options: DurableRunOptions,
    work: (run: DurableRunWork) => Result,
  ): Promise<Awaited<Result>>;
  /** A run of the agent. Within another run it is a sub-agent, and within a durable run it is durable as part of that run. */
  run<Result>(name: string, work: (run: Work) => Result): StepResult<Result>;
  run<Result>(name: string, options: RunOptions, work: (run: Work) => Result): StepResult<Result>;
  /** In a durable run this always returns a promise, even if the function is synchronous: await it. */
  step<Result>(
    name: string,
    work: (step: DurableWork) => Result,
    options?: DurableStepOptions,
  ): StepResult<Result>;
  tool<Arguments, Result>(
    name: string,
    toolArguments: Arguments,
    work: (toolArguments: Arguments, call: DurableWork) => Result,
    options?: DurableToolOptions,
  ): StepResult<Result>;
  /**
   * True for runs that get here for the first time, and outside of durable runs; false for a run that got past this point with
   * earlier code. Always a promise, so that a condition without `await` does not compile.
   */
  version(name: string): Promise<boolean>;
  /** Waits for `agentdump approve` or `reject`; the wait survives the death of the process. Only in a durable run. */
  waitForApproval(name: string, request?: unknown, options?: ApprovalWish): Promise<Answer>;
  /**
   * The next signal of this name that was sent to the run (`agentdump signal`, `sendSignal`), possibly before the run got
   * here. Undefined if none arrives within `timeoutMs`. Only in a durable run.
   */
  waitForSignal(name: string, options?: SignalWish): Promise<Signal | undefined>;
  /**
   * Sleeps for this many milliseconds or until that time; survives the death of the process. Days are fine, because a worker
   * does not keep a run in memory that only waits. Only in a durable run.
   */
  sleep(name: string, until: number | Date, options?: SleepWish): Promise<void>;
  /**
   * Queues a run with an id of its own for the workers that have its program, and returns its result, or throws its error.
   * A worker does not keep this run in memory while it waits. Only in a durable run.
   */
  childRun<Result = unknown>(name: string, options?: ChildWish): Promise<Result>;
  /** Stores `contents` now, by default what the run's plan returns. Returns the checkpoint's id. Only in a durable run. */
  checkpoint(label?: string, contents?: CheckpointContents): Promise<string>;
}

let engine: Engine | undefined;

/** The position of the calling code within a durable run, and the engine that handles it. */
function findAround() {
  const place = engine?.currentPlace();
  return engine && place ? { engine, place } : undefined;
}

type RunFunction = (run: DurableRunWork) => unknown;

function run(name: string, ...rest: [RunFunction] | [RunOptions | DurableRunOptions, RunFunction]): unknown {
  const [options, work] = rest.length === 1 ? [{}, rest[0]] : rest;
  const around = findAround();
  if (around) return around.engine.nestedRun(around.place, name, options, work);
  if ('durable' in options && options.durable) return runDurable(name, options, work);
  return recorded.run(name, options, work as (run: Work) => unknown);
}

async function runDurable(name: string, options: DurableRunOptions, work: RunFunction): Promise<unknown> {
  return (await loadEngine()).run(name, options, work);
}

/** Code that is called by the engine finds its run through the engine that is loaded here; this includes workers. */
export async function loadEngine(): Promise<Engine> {
  engine ??= (await import('./engine.ts')).engine;
  return engine;
}

function step(name: string, work: (step: DurableWork) => unknown, options: DurableStepOptions = {}): unknown {
  const around = findAround();
  if (around && options.durable !== false) return around.engine.step(around.place, name, work, options);
  return recorded.step(name, (given) => work(new PlainWork(given, options)), options);
}

function tool(
  name: string,
  toolArguments: unknown,
  work: (toolArguments: unknown, call: DurableWork) => unknown,
  options: DurableToolOptions = {},
): unknown {
  const around = findAround();
  if (around && options.durable !== false)
    return around.engine.tool(around.place, name, toolArguments, work, options);
  const plain = (shown: unknown, given: Work) => work(shown, new PlainWork(given, options));
  return recorded.tool(name, toolArguments, plain, options);
}

/** Passed to a step outside of durable runs, where nothing is retried. */
class PlainWork implements DurableWork {
  readonly id: string;
  readonly name: string;
  readonly inDoubt = false;
  readonly #options: DurableStepOptions;
  #effect: { key: string } | undefined;
  #signal: AbortSignal | undefined;

  constructor({ id, name }: Work, options: DurableStepOptions) {
    this.id = id;
    this.name = name;
    this.#options = options;
  }

  get attempt(): number {
    return this.#options.attempt ?? 1;
  }

  get effect(): { key: string } {
    this.#effect ??= { key: globalThis.crypto.randomUUID() };
    return this.#effect;
  }

  get signal(): AbortSignal {
    this.#signal ??= this.#options.signal ?? new AbortController().signal;
    return this.#signal;
  }

  spent(): void {}
}

function requireAround(call: string) {
  const around = findAround();
  if (around) return around;
  throw new AgentdumpError('usage', `agent.${call} works within a durable run`, { argument: call });
}

/** What durable runs add to the recorded API, and the methods that behave differently within a durable run. */
export const durableAgent: DurableAgent = {
  ...recorded,
  run: run as DurableAgent['run'],
  step: step as DurableAgent['step'],
  tool: tool as DurableAgent['tool'],
  version: async (name) => {
    const around = findAround();
    return around ? around.place.scoped.run.takeVersion(around.place, name) : true;
  },
  waitForApproval: async (name, request, options = {}) => {
    const { engine, place } = requireAround('waitForApproval');
    return engine.waitForApproval(place, name, request, options);
  },
  waitForSignal: async (name, options = {}) => {
    const { engine, place } = requireAround('waitForSignal');
    return engine.waitForSignal(place, name, options);
  },
  sleep: async (name, until, options = {}) => {
    const { engine, place } = requireAround('sleep');
    return engine.sleepUntil(place, name, until, options);
  },
  childRun: async <Result>(name: string, options: ChildWish = {}) => {
    const { engine, place } = requireAround('childRun');
    return engine.childRun(place, name, options) as Promise<Result>;
  },
  checkpoint: async (label, contents) => {
    const { engine, place } = requireAround('checkpoint');
    return engine.takeCheckpoint(place.scoped, label, contents);
  },
};
