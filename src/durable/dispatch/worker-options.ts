/** Options of a worker. Types only. */
import type { DurableRunOptions, DurableRunWork } from '../options.ts';
import type { QueueLimits } from '../stores/queue-limits.ts';
import type { DurableStore } from '../stores/store.ts';
import type { Schedule } from './schedule.ts';

export interface WorkerOptions {
  store: DurableStore;
  /** By the name of their runs: the function that runs them. */
  programs: Record<string, (run: DurableRunWork) => unknown>;
  /** For every run that is taken; `id`, `store` and `durable` are overridden. */
  options?: Partial<DurableRunOptions>;
  /** Each scheduled run is queued at its time by one of the workers that know the schedule. */
  schedules?: readonly Schedule[];
  /**
   * By name: the queues whose runs this worker takes besides runs without a queue, and their limits for all workers together.
   * Declare the same limits in every worker.
   */
  queues?: Readonly<Record<string, QueueLimits>>;
  /**
   * Longest pause between two looks; ended early by notifications of the store. Default: 1,000; 5,000 if the store has no
   * `findDue`.
   */
  everyMs?: number;
  /** How many runs work at the same time; one that only waits does not count. Default: 4. */
  most?: number;
  /** Called for every run that ended here, successfully or not. */
  onEnd?: (id: string, error: unknown) => void;
}
