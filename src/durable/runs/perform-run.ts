/** Performs a durable run from its opening to its recorded end, and provides what code within it may call besides steps. */
import { isAbort } from '../../agent/http/call-error.ts';
import { AgentdumpError } from '../../errors.ts';
import { cancelChildren } from '../dispatch/act-on-run.ts';
import type { DurableRunOptions, DurableRunWork } from '../options.ts';
import type { CheckpointContents } from '../records/checkpoint.ts';
import type { RunEnd } from '../records/layout.ts';
import { AbortFollower } from '../steps/attempt.ts';
import { callRun } from '../steps/captured/main-line.ts';
import type { RunHandle, RunRest } from '../stores/store.ts';
import { CancelError } from './calls-from-outside.ts';
import type { DurableRun } from './durable-run.ts';
import { isOutOfTurn, openRun } from './open-run.ts';
import { tellParent } from './parent-run.ts';
import { hasTriesLeft, isOverForWorkers, isSettledRun, retryPause } from './run-log.ts';
import { pruneNowAndThen } from './run-retention.ts';
import { ScopedRun } from './scoped-run.ts';

type RunFunction = (run: DurableRunWork) => unknown;

/**
 * Returns the recorded result if the run has ended permanently; otherwise the run continues from where it is. `host`: the
 * program's own function.
 */
export async function performRun(
  name: string,
  options: DurableRunOptions,
  work: RunFunction,
  host: object,
): Promise<unknown> {
  const { run, handle } = await openRun(name, options, { host });
  let rest: RunRest | undefined;
  try {
    if (!isSettledRun(run.log)) {
      const { result, failure, ...performed } = await perform(run, work);
      rest = await tellOrSay(run, performed.rest);
      if (failure) throw failure.error;
      return result;
    }
    rest = await tellOrSay(run, { isOver: true });
    if (run.log.ended?.status === 'cancelled')
      throw run.log.ended.readValue() ?? new CancelError(run.id, undefined);
    return run.log.ended?.readValue();
  } finally {
    run.end();
    await handle.release(rest);
    pruneNowAndThen(run.store);
  }
}

/**
 * The outcome of a run that a worker took. stuck: it could not be continued, and its state is unchanged. out of turn: the store
 * must first be told of its queue.
 */
export type WorkedRun =
  | { is: 'out of turn' }
  | ({ is: 'rested' } & Pick<RunRest, 'dueAtMs'>)
  | (Outcome & Omit<Told, 'rest'>);

type Outcome =
  | { is: 'over' | 'ended' }
  | { is: 'stuck'; error: unknown }
  /** With the time of its restart if it has tries left. */
  | ({ is: 'failed'; error: unknown } & Pick<RunRest, 'dueAtMs'>);

/** Like `performRun`, for callers that need no result. `rest` interrupts it: a run that only waits is removed from memory. */
export async function workAt(
  name: string,
  options: DurableRunOptions,
  work: RunFunction,
  inHand: (run: DurableRun, rest: () => void) => void,
  taken?: RunHandle,
): Promise<WorkedRun> {
  const { run, handle } = await openRun(name, options, { isByWorker: true, taken });
  let rest: RunRest | undefined;
  let resting: ReturnType<DurableRun['rest']> | undefined;
  try {
    if (isOverForWorkers(run.log)) {
      const { rest: left, ...word } = await tellEnd(run, { isOver: true });
      rest = left;
      return { is: 'over', ...word };
    }
    if (isOutOfTurn(run, taken)) return { is: 'out of turn' };
    let wakeUp = () => {};
    const rested = new Promise<'rested'>((resolve) => {
      wakeUp = () => resolve('rested');
    });
    inHand(run, () => {
      resting = run.rest();
      wakeUp();
    });
    const performed = await Promise.race([perform(run, work), rested]);
    if (performed === 'rested') return { is: 'rested', ...dueOf(resting) };
    const { failure } = performed;
    const { rest: left, ...word } = await tellEnd(run, performed.rest);
    rest = left;
    if (!failure) return { is: 'ended', ...word };
    const { error } = failure;
    if (performed.rest === undefined) return { is: 'stuck', error, ...word };
    return { is: 'failed', error, ...dueOf(performed.rest), ...word };
  } finally {
    run.end();
    if (resting) await letGoWaiting(run, handle, resting);
    else await handle.release(rest);
    pruneNowAndThen(run.store);
  }
}

const dueOf = (rest: Pick<RunRest, 'dueAtMs'> | undefined) =>
  rest?.dueAtMs === undefined ? {} : { dueAtMs: rest.dueAtMs };

/** If the parent can't be told, the run remains due, and whoever takes it tries again; its own outcome is not affected. */
async function tellEnd(run: DurableRun, rest: RunRest | undefined): Promise<Told> {
  if (!rest?.isOver) return { rest };
  try {
    await tellParent(run.store, run);
    return { rest };
  } catch (untold) {
    return { rest: undefined, untold };
  }
}

async function tellOrSay(run: DurableRun, rest: RunRest | undefined): Promise<RunRest | undefined> {
  const told = await tellEnd(run, rest);
  if ('untold' in told)
    run.notify(`its parent could not be told of its end, which a worker does: ${messageOf(told.untold)}`);
  return told.rest;
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

interface Told {
  /** Absent: the run remains due. */
  rest: RunRest | undefined;
  /** Why its parent could not be told of its end. */
  untold?: unknown;
}

/**
 * News that arrives meanwhile is found by the look, or by the store itself, because the mark is older; without a mark, by a
 * second look.
 */
async function letGoWaiting(
  { id, store }: DurableRun,
  handle: RunHandle,
  { dueAtMs, hasNews }: ReturnType<DurableRun['rest']>,
): Promise<void> {
  let mark: string | undefined;
  // If the store is unavailable, nothing is known: the process that takes the run looks again.
  let isDue = true;
  try {
    mark = await handle.mark?.();
    isDue = await hasNews();
  } finally {
    await handle.release({
      isOver: false,
      ...(!isDue && { dueAtMs }),
      ...(mark !== undefined && { mark }),
    });
  }
  if (mark === undefined && !isDue && (await hasNews())) await store.rest?.(id, { isOver: false });
}

interface Performed {
  result?: unknown;
  failure?: { error: unknown };
  /** The state of the run from then on. Absent: its end could not be recorded, and its state is unchanged. */
  rest?: RunRest;
}

async function perform(run: DurableRun, work: RunFunction): Promise<Performed> {
  const root = new ScopedRun(run, '');
  const follower = new AbortFollower(run.signal ? [run.signal, run.lost.signal] : [run.lost.signal]);
  const breakOrder = () => run.order.breakWith(follower.signal.reason);
  follower.signal.addEventListener('abort', breakOrder, { once: true });
  try {
    await run.watchForCancel();
    const restored = run.checkpoints.restore();
    run.signal?.throwIfAborted();
    run.lost.signal.throwIfAborted();
    const { signal } = follower;
    const given = {
      id: run.id,
      name: run.name,
      attempt: run.log.opens.length + 1,
      signal,
      restored,
      input: run.input,
    };
    run.begin();
    const result = await Promise.race([root.enter(() => callRun(() => work(given))), run.refused.areEndless]);
    // A program that handled its cancellation has not repeated everything that is recorded.
    run.lost.signal.throwIfAborted();
    await run.requireAllClaimed(root.scope);
    run.recorder.requireWhole();
    const rest = restAfter(run, 'finished');
    await run.addEnd('finished', [], result, rest);
    return { result, rest };
  } catch (error) {
    // If it can't be recorded, or belongs to another program, the run has not failed: its state is unchanged.
    if (run.recorder.broken) return { failure: { error: await leave(run, run.recorder.broken) } };
    const wasCalledOff = run.signal?.aborted && isAbort(error);
    const status = run.cancelled ? 'cancelled' : wasCalledOff ? 'aborted' : 'failed';
    const failure = run.cancelled ?? error;
    const rest = restAfter(run, status);
    try {
      // Of earlier processes; those of this one were cancelled by their calls.
      if (run.cancelled) {
        const { key, plain } = run.options;
        await cancelChildren(run.store, run, { reason: run.cancelled.reason, key, plain });
      }
      await run.addEnd(status, run.failures.stepsOf(error), failure, rest);
    } catch (lost) {
      return { failure: { error: lost } };
    }
    return { failure: { error: failure }, rest };
  } finally {
    follower.end();
  }
}

/** Processes with another program, such as workers during a deployment, must not use up the attempts of the right one. */
async function leave({ recorder }: DurableRun, error: Error): Promise<Error> {
  if (error instanceof AgentdumpError && error.code === 'changed')
    await recorder.addLast('durableRun', { event: 'left' }).catch(() => {});
  return error;
}

function restAfter({ log }: DurableRun, status: RunEnd): RunRest {
  const failures = log.failures + 1;
  if (status !== 'failed' || !hasTriesLeft({ retry: log.retry, failures })) return { isOver: true };
  return { isOver: false, dueAtMs: Date.now() + retryPause(log.retry, failures), isFirm: true };
}

export function takeCheckpoint(
  { run, path }: ScopedRun,
  label: string | undefined,
  contents: CheckpointContents | undefined,
): Promise<string> {
  return run.checkpoints.take(label, path, contents ?? run.options.checkpoints?.contents() ?? {});
}
