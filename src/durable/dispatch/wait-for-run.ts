/** The result of a run that others perform, for who has queued it. */
import type { CodecKeys } from '../records/open-codec.ts';
import { findOutcome } from '../runs/parent-run.ts';
import type { DurableStore } from '../stores/store.ts';
import { newsOf } from '../stores/store-news.ts';

export interface RunWait extends CodecKeys {
  /** Ends the wait with its reason, such as `AbortSignal.timeout(60_000)`; the run continues. */
  signal?: AbortSignal;
}

/**
 * Waits until the run has ended, and returns its result, or throws its error once it has no tries left. Does not perform it, and does
 * not outlive its own process: call it again. Throws `not-found` if there is no such run.
 */
export async function waitForRun<Result = unknown>(
  store: DurableStore,
  id: string,
  { signal = new AbortController().signal, ...keys }: RunWait = {},
): Promise<Result> {
  const outcome = await newsOf(store).waitFor(id, () => findOutcome(store, id, keys), { signal });
  if (!outcome || 'error' in outcome) throw outcome?.error;
  return outcome.result as Result;
}
