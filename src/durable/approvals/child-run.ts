/**
 * Starts a run of its own from within a run, and waits for its end. The wait is a recorded question with the child's id, so a
 * later process queues that child if the first one did not get to it, and never another one.
 */
import { AgentdumpError } from '../../errors.ts';
import { cancelChild, enqueueRun, parentOf, type QueuedRun } from '../dispatch/act-on-run.ts';
import type { DurableRun } from '../runs/durable-run.ts';
import { newRunId } from '../runs/open-run.ts';
import type { ChildOutcome } from '../runs/parent-run.ts';
import type { Place } from '../runs/scoped-run.ts';
import { wordOf } from '../steps/step-path.ts';
import { waitFor } from './wait-for-approval.ts';

export interface ChildWish
  extends Pick<QueuedRun, 'id' | 'input' | 'priority' | 'retry' | 'queue' | 'queueKey'> {
  /** Ends the wait, not the child. */
  signal?: AbortSignal;
}

/** Resolves with the child's result, and rejects with its error. */
export async function childRun(place: Place, name: string, wish: ChildWish): Promise<unknown> {
  const { run } = place.scoped;
  const { id = newRunId(name), input, signal } = wish;
  let child = id;
  try {
    const outcome = (await waitFor(place, {
      name,
      word: wordOf('child', name),
      what: `run ${name}`,
      request: { run: name, input: run.hashInput(input) ?? '', ...(wish.id !== undefined && { id }) },
      awaits: { run: id },
      begin: async (awaits) => {
        child = awaits?.run ?? id;
        run.pending.steps++;
        try {
          await run.outside(() => queueChild(run, name, { ...wish, id: child }));
        } finally {
          run.pending.steps--;
        }
      },
      signal,
    })) as ChildOutcome;
    if ('error' in outcome) throw outcome.error;
    return outcome.result;
  } catch (error) {
    if (run.cancelled) {
      const { key, plain } = run.options;
      await cancelChild(run.store, run.id, child, { reason: run.cancelled.reason, key, plain }).catch(
        () => {},
      );
    }
    throw error;
  }
}

async function queueChild(
  { id: parent, store, options: { key, plain } }: DurableRun,
  name: string,
  { signal: _, id, ...wish }: ChildWish & { id: string },
): Promise<void> {
  const { isNew } = await enqueueRun(store, name, { ...wish, id, parent, key, plain });
  if (isNew || (await parentOf(store, id)) === parent) return;
  throw new AgentdumpError('usage', `run ${id} exists already, and is not a child of run ${parent}`, {
    argument: 'id',
  });
}
