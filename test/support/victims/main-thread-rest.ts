/** Detects that another process's main thread has read everything that arrived: it slept for a while, and nothing woke it. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** A main thread that slept for this long has read everything that arrived, and its timers have fired. */
export const settledMs = 150;
const mostLooks = 200;

/**
 * The number of times that the main thread has gone to sleep; undefined unless it is sleeping and waiting for events now. On
 * a busy machine it may also sleep until a helper thread of the garbage collector is scheduled: `wchan` then names a futex,
 * on kernels that name anything.
 */
export function timesAsleep(pid: number): string | undefined {
  const where = readFileSync(`/proc/${pid}/task/${pid}/wchan`, 'utf8');
  if (where.includes('futex')) return undefined;
  const status = readFileSync(`/proc/${pid}/task/${pid}/status`, 'utf8');
  return /^State:\s+S/m.test(status) ? /^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] : undefined;
}

/** Resolves once it has slept for long enough, and after 30 seconds in any case. */
export async function untilSettled(pid: number): Promise<void> {
  let before = timesAsleep(pid);
  for (let look = 0; look < mostLooks; look++) {
    await pause(settledMs);
    const now = timesAsleep(pid);
    if (now !== undefined && now === before) return;
    before = now;
  }
}
