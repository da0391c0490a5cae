/**
 * How many runs of a queue may be in progress at once, and how many may start in a period, in total and for each key. All
 * workers of a queue must declare the same limits.
 */
import { AgentdumpError } from '../../errors.ts';

export interface RunRate {
  starts: number;
  /** In any period of this length, no more than `starts` runs are started. */
  periodMs: number;
}

export interface RunLimit {
  /** Runs that workers hold. A run that was put to rest, because it only waits, does not count. */
  concurrency?: number;
  /** Starts, and restarts after a death or a failure. A run that continues after a wait is not counted again. */
  rate?: RunRate;
}

export interface QueueLimits extends RunLimit {
  /** For the runs that were queued with the same `queueKey`. Those without one share these limits as well. */
  perKey?: RunLimit;
}

/** Throws `usage` for a limit that is not a positive integer. */
export function requireQueues(queues: Readonly<Record<string, QueueLimits>>): void {
  for (const [queue, limits] of Object.entries(queues))
    for (const [scope, { concurrency, rate }] of Object.entries({
      queue: limits,
      perKey: limits.perKey ?? {},
    }))
      for (const [name, value] of Object.entries({
        concurrency,
        starts: rate?.starts,
        periodMs: rate?.periodMs,
      }))
        if (value !== undefined || (rate && name !== 'concurrency'))
          requireCount(value, `${name} of ${scope === 'queue' ? 'queue' : 'each key of queue'} ${queue}`);
}

function requireCount(value: unknown, what: string): void {
  if (Number.isSafeInteger(value) && Number(value) > 0) return;
  throw new AgentdumpError('usage', `${what} is a positive integer, not ${value}`, { argument: 'queues' });
}

export function hasConcurrency({ concurrency, perKey }: QueueLimits): boolean {
  return (concurrency ?? perKey?.concurrency) !== undefined;
}

export function ratesOf({ rate, perKey }: QueueLimits): RunRate[] {
  return [rate, perKey?.rate].filter((one) => one !== undefined);
}
