/**
 * Durable runs in the jobs of a queue that the host has already, such as graphile-worker or pg-boss, instead of workers of ours.
 */
import { loadEngine } from './api.ts';
import { type ForwardOptions, requireDueStore } from './dispatch/forward-options.ts';
import type { JobOptions, PerformedRun } from './dispatch/perform-due.ts';
import type { DurableStore } from './stores/store.ts';
import { runInBackground, type Worker } from './worker.ts';

/**
 * Performs this run until it has ended or only waits, and returns which. An error of the run is no error of the call: a run is
 * restarted as its `retry` says. Throws if the run can't be continued here; it is unchanged then, and the job may be tried again.
 */
export async function performDueRun(
  store: DurableStore,
  id: string,
  options: JobOptions,
): Promise<PerformedRun> {
  return (await loadEngine()).performDue(store, id, options);
}

/** Calls `add` for each run that is due: queued, woken, or interrupted because its process died. In as many processes as you like. */
export function forwardDueRuns(options: ForwardOptions): Worker {
  requireDueStore(options.store);
  return runInBackground(loadEngine().then((engine) => engine.forward(options)));
}
