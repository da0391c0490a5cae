/** How a process's main thread stands with the kernel's scheduler. Source: proc(5), fields 3, 14 and 15 of `stat`. */
import { platform } from '../../platform/index.ts';

const msOfTick = 10;

/** Processor time of the main thread so far, in milliseconds; undefined for a process that is gone. */
export function processorMs(pid: number): number | undefined {
  return readMainThread(pid)?.usedMs;
}

/** It could run, or reads from a disk, and has had less than `limitMs` of a processor since it had used `beforeMs`. */
export function waitsForProcessor(pid: number, beforeMs: number, limitMs: number): boolean {
  const thread = readMainThread(pid);
  return thread !== undefined && /[RD]/.test(thread.state) && thread.usedMs - beforeMs < limitMs;
}

function readMainThread(pid: number): { state: string; usedMs: number } | undefined {
  const fields = platform.processStat(pid, pid);
  if (!fields) return undefined;
  return { state: fields[0] ?? '', usedMs: (Number(fields[11]) + Number(fields[12])) * msOfTick };
}
