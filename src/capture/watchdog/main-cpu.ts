/** What the kernel tells of a thread, readable from any thread. Source: proc(5), fields 3, 14 and 15. */
import { platform } from '../../platform/index.ts';

const tickMs = 10;

/** Milliseconds in user and system mode since its start; undefined if the system has no per-thread data. */
export function readMainCpuMs(): number | undefined {
  const fields = platform.processStat('self', process.pid);
  return fields && (Number(fields[11]) + Number(fields[12])) * tickMs;
}

/** Milliseconds that a thread was runnable without a processor; undefined if the kernel does not count them. */
export function readQueuedMs(tid: number): number | undefined {
  const queued = platform.processFile('self', `task/${tid}/schedstat`)?.split(' ')[1];
  return queued === undefined ? undefined : Number(queued) / 1e6;
}

/** Whether a thread runs or waits for a processor. One that waits for events has read all that came before. */
export const isReady = (tid: number): boolean => platform.processStat('self', tid)?.[0] === 'R';
