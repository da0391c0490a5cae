/** Implements the public API once there is a durable run: the same methods, plus the run of the caller. */
import { type RunOptions, agent as recorded } from '../agent/api/api.ts';
import { AgentdumpError } from '../errors.ts';
import { childRun } from './approvals/child-run.ts';
import { sleepUntil, waitForApproval, waitForSignal } from './approvals/wait-for-approval.ts';
import { Forwarder } from './dispatch/forward-due.ts';
import type { ForwardOptions } from './dispatch/forward-options.ts';
import { Lookout } from './dispatch/lookout.ts';
import { performDue } from './dispatch/perform-due.ts';
import type { WorkerOptions } from './dispatch/worker-options.ts';
import type {
  DurableRunOptions,
  DurableRunWork,
  DurableStepOptions,
  DurableToolOptions,
  DurableWork,
} from './options.ts';
import { performRun, takeCheckpoint } from './runs/perform-run.ts';
import { currentPlace, type Place } from './runs/scoped-run.ts';
import { performStep } from './steps/durable-step.ts';

type RunFunction = (run: DurableRunWork) => unknown;

function run(name: string, options: DurableRunOptions, work: RunFunction): Promise<unknown> {
  const { id, config } = options;
  const seen = { ...(id !== undefined && { id }), ...(config !== undefined && { config }) };
  return performRun(name, options, (given) => recorded.run(name, seen, () => work(given)), work);
}

/** A sub-agent: a step whose inner steps are recorded too, so it is never in doubt itself. */
function nestedRun(
  place: Place,
  name: string,
  options: RunOptions | DurableRunOptions,
  work: RunFunction,
): Promise<unknown> {
  requirePart(place, name, options);
  return performStep(place, {
    kind: 'run',
    name,
    key: undefined,
    input: place.scoped.run.hashInput(options.config),
    options: {},
    host: work,
    work: ({ id, attempt, signal }) =>
      work({ id, name, attempt, signal, restored: undefined, input: undefined }),
    watch: (inner) => recorded.run(name, options, inner),
  });
}

/** Nothing of a run of its own can be had within another one, and must not seem to be. */
function requirePart({ scoped }: Place, name: string, options: RunOptions | DurableRunOptions): void {
  if (!('durable' in options && options.durable)) return;
  const { durable: _, config: __, ...further } = options;
  const own = Object.entries(further).flatMap(([option, value]) => (value === undefined ? [] : option));
  if (own.length === 0) return;
  const message =
    `run ${name} within run ${scoped.run.id} is a part of it and takes no ${own.join(', no ')}; ` +
    `agent.childRun('${name}') is a run of its own`;
  throw new AgentdumpError('usage', message, { argument: own[0] });
}

function step(place: Place, name: string, work: (step: DurableWork) => unknown, options: DurableStepOptions) {
  return performStep(place, {
    kind: 'step',
    name,
    key: options.key,
    input: place.scoped.run.hashInput(options.input),
    options,
    work,
    host: work,
    watch: (inner, given) => recorded.step(name, inner, { ...seenOf(options), attempt: given.attempt }),
  });
}

function tool<Arguments>(
  place: Place,
  name: string,
  toolArguments: Arguments,
  work: (toolArguments: Arguments, call: DurableWork) => unknown,
  options: DurableToolOptions,
) {
  const seen = options.callId === undefined ? {} : { callId: options.callId };
  return performStep(place, {
    kind: 'tool',
    name,
    key: options.key,
    input: place.scoped.run.hashInput('input' in options ? options.input : toolArguments),
    options,
    work: (given) => work(toolArguments, given),
    host: work,
    watch: (inner) => recorded.tool(name, toolArguments, inner, seen),
  });
}

function seenOf({ input }: DurableStepOptions): { input?: unknown } {
  return input === undefined ? {} : { input };
}

export const engine = {
  run,
  nestedRun,
  step,
  tool,
  currentPlace,
  waitForApproval,
  waitForSignal,
  sleepUntil,
  childRun,
  takeCheckpoint,
  lookOut: (options: WorkerOptions) => new Lookout(options),
  performDue,
  forward: (options: ForwardOptions) => new Forwarder(options),
};
export type Engine = typeof engine;
