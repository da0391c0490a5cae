/**
 * One of possibly many workers: takes the runs of its programs that are due, because they were queued, because what they
 * waited for has arrived, or because their worker has died. The store decides which of several workers gets a run.
 */
import { AgentdumpError } from '../errors.ts';
import { loadEngine } from './api.ts';
import { registerPrograms } from './dispatch/known-programs.ts';
import { requireSchedules } from './dispatch/schedule.ts';
import type { WorkerOptions } from './dispatch/worker-options.ts';
import { requireQueues } from './stores/queue-limits.ts';

export interface Worker {
  /** Takes no more runs; resolves when its current runs have ended or were put to rest. */
  stop(): Promise<void>;
  /** Resolves when the worker has ended: after `stop`, or because its store was closed. */
  readonly ended: Promise<void>;
}

/** Throws `usage` for invalid schedules and limits. */
export function startWorker(options: WorkerOptions): Worker {
  requireSchedules(options.schedules ?? []);
  requireQueues(options.queues ?? {});
  if (options.queues && !options.store.takeQueued)
    throw new AgentdumpError('usage', `the store ${options.store.place} has no queues`, {
      argument: 'queues',
    });
  registerPrograms(options.programs);
  const loading = loadEngine().then((engine) => engine.lookOut(options));
  return runInBackground(loading);
}

/** What runs from when the engine is loaded until it is stopped. */
export function runInBackground(loading: Promise<{ run(): Promise<void>; stop(): void }>): Worker {
  const ended = loading.then((loaded) => loaded.run());
  // Callers that await it receive the error.
  ended.catch(() => {});
  return {
    ended,
    stop: async () => {
      (await loading).stop();
      await ended;
    },
  };
}
