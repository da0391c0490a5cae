/** What a host says of a worker. Types only. */
import type { DurableRunOptions, DurableRunWork } from '../options.ts';
import type { DurableStore } from '../stores/store.ts';
import type { Schedule } from './schedule.ts';

export interface WorkerOptions {
  store: DurableStore;
  /** By the name of their runs: what goes on with one. */
  programs: Record<string, (run: DurableRunWork) => unknown>;
  /** For every run that is taken up; `id`, `store` and `durable` are set here. */
  options?: Partial<DurableRunOptions>;
  /** Runs that are queued when their time has come, by one of the workers that know the schedule. */
  schedules?: readonly Schedule[];
  /** Longest pause between two looks; news of the store end it. Default: 1,000; 5,000 with a store that has no `findDue`. */
  everyMs?: number;
  /** Runs at work at one time; one that only waits is not at work. Default: 4. */
  most?: number;
  /** Told of every run that ended here, well or not. */
  onEnd?: (id: string, error: unknown) => void;
}
