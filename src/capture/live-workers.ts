/** The worker threads that this thread started and that have not ended; kept by the workers trigger. */
import type { Worker } from 'node:worker_threads';

const live = new Set<Worker>();

export function liveWorkers(): ReadonlySet<Worker> {
  return live;
}

export function noteWorkerStarted(worker: Worker): void {
  live.add(worker);
}

export function noteWorkerEnded(worker: Worker): void {
  live.delete(worker);
}
