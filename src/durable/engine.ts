/** What the public API calls once there is a durable run: the same words, with the run that the caller is in. */
import { createHash } from 'node:crypto';
import { agent as recorded } from '../agent/api.ts';
import { currentScopedRun, type ScopedRun } from './durable-run.ts';
import { performStep } from './durable-step.ts';
import type {
  DurableRunOptions,
  DurableRunWork,
  DurableStepOptions,
  DurableToolOptions,
  DurableWork,
} from './options.ts';
import { performRun, takeCheckpoint, waitForApproval } from './perform-run.ts';
import { encodeValue } from './values.ts';

type RunFunction = (run: DurableRunWork) => unknown;

function run(name: string, options: DurableRunOptions, work: RunFunction): Promise<unknown> {
  const { id, config } = options;
  const seen = { ...(id !== undefined && { id }), ...(config !== undefined && { config }) };
  return performRun(name, options, (given) => recorded.run(name, seen, () => work(given)));
}

/** A sub-agent: a step whose steps are recorded too, so it is never in doubt itself. */
function nestedRun(
  scoped: ScopedRun,
  name: string,
  options: { config?: unknown },
  work: RunFunction,
): Promise<unknown> {
  return performStep(scoped, {
    kind: 'run',
    name,
    key: undefined,
    input: hashOf(options.config),
    options: {},
    work: ({ id, attempt, signal }) => work({ id, name, attempt, signal, restored: undefined }),
    watch: (inner) => recorded.run(name, options, inner),
  });
}

function step(
  scoped: ScopedRun,
  name: string,
  work: (step: DurableWork) => unknown,
  options: DurableStepOptions,
) {
  return performStep(scoped, {
    kind: 'step',
    name,
    key: options.key,
    input: hashOf(options.input),
    options,
    work,
    watch: (inner, given) => recorded.step(name, inner, { ...seenOf(options), attempt: given.attempt }),
  });
}

function tool<Arguments>(
  scoped: ScopedRun,
  name: string,
  toolArguments: Arguments,
  work: (toolArguments: Arguments, call: DurableWork) => unknown,
  options: DurableToolOptions,
) {
  const seen = options.callId === undefined ? {} : { callId: options.callId };
  return performStep(scoped, {
    kind: 'tool',
    name,
    key: options.key,
    input: hashOf('input' in options ? options.input : toolArguments),
    options,
    work: (given) => work(toolArguments, given),
    watch: (inner) => recorded.tool(name, toolArguments, inner, seen),
  });
}

function seenOf({ input }: DurableStepOptions): { input?: unknown } {
  return input === undefined ? {} : { input };
}

/** Undefined also for what can't be stored: such an input tells steps apart no more than none. */
function hashOf(input: unknown): string | undefined {
  if (input === undefined) return undefined;
  try {
    return createHash('sha256').update(encodeValue(input)).digest('hex').slice(0, 16);
  } catch {
    return undefined;
  }
}

export const engine = { run, nestedRun, step, tool, currentScopedRun, waitForApproval, takeCheckpoint };
export type Engine = typeof engine;
