/** The scheduling state of a process's main thread. Source: proc(5), fields 3, 14 and 15 of `stat`. */
import { platform } from '../../platform/index.ts';

const msOfTick = 10;

/** CPU time of the main thread so far, in milliseconds; undefined if the process has ended. */
export function processorMs(pid: number): number | undefined {
  return readMainThread(pid)?.usedMs;
}

/**
 * Whether the main thread is runnable or waits for a disk, and has had less than `limitMs` of CPU time since it had used
 * `beforeMs`.
 */
export function waitsForProcessor(pid: number, beforeMs: number, limitMs: number): boolean {
  const thread = readMainThread(pid);
  return thread !== undefined && /[RD]/.test(thread.state) && thread.usedMs - beforeMs < limitMs;
}

function readMainThread(pid: number): { state: string; usedMs: number } | undefined {
  const fields = platform.processStat(pid, pid);
  if (!fields) return undefined;
  return { state: fields[0] ?? '', usedMs: (Number(fields[11]) + Number(fields[12])) * msOfTick };
}
