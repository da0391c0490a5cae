/** Whether another process's main thread has read all that had come: it slept for a while, and nothing woke it. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** A main thread that slept for so long has read all that had come, and its timers have fired. */
export const settledMs = 150;
const mostLooks = 200;

/**
 * How often the main thread has fallen asleep, when it sleeps now until something comes. On a busy machine it may sleep
 * for as long until a helper of the garbage collector gets its turn: then the kernel names a lock, where it names anything.
 */
export function timesAsleep(pid: number): string | undefined {
  const where = readFileSync(`/proc/${pid}/task/${pid}/wchan`, 'utf8');
  if (where.includes('futex')) return undefined;
  const status = readFileSync(`/proc/${pid}/task/${pid}/status`, 'utf8');
  return /^State:\s+S/m.test(status) ? /^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] : undefined;
}

/** Resolves when it has slept for long enough; also after half a minute in which it never did. */
export async function untilSettled(pid: number): Promise<void> {
  let before = timesAsleep(pid);
  for (let look = 0; look < mostLooks; look++) {
    await pause(settledMs);
    const now = timesAsleep(pid);
    if (now !== undefined && now === before) return;
    before = now;
  }
}
