/**
 * A worker of many: takes the runs of its programs that are due, because they were queued, because what they waited for has
 * come, or because their worker has died. Which of several workers gets a run, the store decides.
 */
import { loadEngine } from './api.ts';
import { requireSchedules } from './dispatch/schedule.ts';
import type { WorkerOptions } from './dispatch/worker-options.ts';

export interface Worker {
  /** Takes no more runs; resolves when those in hand have ended or were put to rest. */
  stop(): Promise<void>;
  /** Resolves when it has ended: after `stop`, or because its store was closed. */
  readonly ended: Promise<void>;
}

/** Throws `usage` for schedules that can't be understood. */
export function startWorker(options: WorkerOptions): Worker {
  requireSchedules(options.schedules ?? []);
  const loading = loadEngine().then((engine) => engine.lookOut(options));
  const ended = loading.then((lookout) => lookout.run());
  // Who waits for it hears of an error.
  ended.catch(() => {});
  return {
    ended,
    stop: async () => {
      (await loading).stop();
      await ended;
    },
  };
}
