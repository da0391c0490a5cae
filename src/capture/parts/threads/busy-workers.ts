/**
 * Worker threads whose event loop was not idle for a moment. Node counts the idle time of a loop outside of its thread, so that a
 * worker which spins need not answer. Runs no code of the program.
 */
import type { Worker } from 'node:worker_threads';
import type { HandlesPart } from '../../../bundle/layout/bundle.ts';
import type { KnownWorkers } from '../../triggers/known-workers.ts';

/** Longer than a callback of a worker that is hardly used takes. */
const lookMs = 15;
const mostLooked = 50;

/**
 * Blocks for that moment, unless there is no worker. Not by `Atomics.wait`: the watchdog may have interrupted one of the program's, and
 * V8 has one place per thread in its list of waits, so that the program's would end, with `ok`, though nobody had notified it.
 */
export function findBusyWorkers(workers: KnownWorkers): NonNullable<HandlesPart['busyWorkers']> {
  const looked = workers.open.slice(0, mostLooked).flatMap(([worker, facts]) => {
    const before = utilization(worker);
    return before ? [{ worker, facts, before }] : [];
  });
  if (looked.length === 0) return [];
  const began = performance.now();
  while (performance.now() - began < lookMs);
  const lookedMs = Math.round(performance.now() - began);
  return looked.flatMap(({ worker, facts, before }) => {
    const after = utilization(worker);
    if (!after || after.idle > before.idle || after.active <= before.active) return [];
    const [activeMs, inAllMs] = [Math.round(after.active), Math.round(after.active + after.idle)];
    return [{ ...facts, lookedMs, activeMs, inAllMs }];
  });
}

/** Undefined before its loop began. */
function utilization({ performance: ofWorker }: Worker): { idle: number; active: number } | undefined {
  try {
    const { idle, active } = ofWorker.eventLoopUtilization();
    return idle + active > 0 ? { idle, active } : undefined;
  } catch {
    return undefined;
  }
}
