/** A durable run from its opening to its recorded end, and what code within it may call besides steps. */
import { isAbort } from '../../agent/http/call-error.ts';
import type { DurableRunOptions, DurableRunWork } from '../options.ts';
import type { CheckpointContents } from '../records/checkpoint.ts';
import { AbortFollower } from '../steps/attempt.ts';
import { type DurableRun, ScopedRun } from './durable-run.ts';
import { openRun } from './open-run.ts';
import { pruneNowAndThen } from './run-retention.ts';

/** The recorded result of a run that is finished; otherwise the run goes on from where it is. */
export async function performRun(
  name: string,
  options: DurableRunOptions,
  work: (run: DurableRunWork) => unknown,
): Promise<unknown> {
  const { run, handle } = await openRun(name, options);
  try {
    if (run.log.ended?.status === 'finished') return run.log.ended.readValue();
    return await perform(run, work);
  } finally {
    run.end();
    await handle.release();
    pruneNowAndThen(run.store);
  }
}

async function perform(run: DurableRun, work: (run: DurableRunWork) => unknown): Promise<unknown> {
  const root = new ScopedRun(run, '');
  const follower = new AbortFollower(run.signal ? [run.signal, run.lost.signal] : [run.lost.signal]);
  let result: unknown;
  try {
    const restored = run.checkpoints.restore();
    run.signal?.throwIfAborted();
    const { signal } = follower;
    const given = { id: run.id, name: run.name, attempt: run.log.opens.length + 1, signal, restored };
    run.begin();
    result = await root.enter(() => work(given));
    await run.requireAllClaimed(root);
    run.recorder.requireWhole();
    await run.addEnd('finished', [], result);
  } catch (error) {
    // What can't be recorded, or is of another program, is no failure of the run: it stays as it is.
    if (run.recorder.broken) throw run.recorder.broken;
    const wasCalledOff = run.signal?.aborted && isAbort(error);
    await run.addEnd(wasCalledOff ? 'aborted' : 'failed', run.failures.stepsOf(error), error);
    throw error;
  } finally {
    follower.end();
  }
  return result;
}

export function takeCheckpoint(
  { run, path }: ScopedRun,
  label: string | undefined,
  contents: CheckpointContents | undefined,
): Promise<string> {
  return run.checkpoints.take(label, path, contents ?? run.options.checkpoints?.contents() ?? {});
}
