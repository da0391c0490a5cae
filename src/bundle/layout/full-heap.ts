/**
 * Decides whether the last samples before an unobserved death show a full heap. Shared by the code that names the bundle
 * and the code that explains it, so that they agree. Pure.
 */
import type { MemoryPoint } from './evidence.ts';

export interface FullHeap {
  used: number;
  limit: number;
  /** Growth during the last seconds, in bytes per second; 0 if it did not grow. */
  rate: number;
}

/**
 * From here on V8 collects ever harder; a process that dies unobserved in this state has most probably run out of memory.
 */
const fullShare = 0.8;
/** A heap that grows fast may skip that state: a table that doubles, or a last sample that came late. */
const growingShare = 0.5;
const windowMs = 5000;
const aheadMs = 2000;

/** Undefined if the heap was not full, or the samples don't show it. */
export function findFullHeap(history: readonly MemoryPoint[]): FullHeap | undefined {
  const last = history.at(-1);
  const { heapUsed: used, heapLimit: limit } = last ?? {};
  if (!last || used === undefined || limit === undefined || used < limit * growingShare) return undefined;
  const rate = rateOf(history, last, used);
  const ahead = used + (rate * aheadMs) / 1000;
  return used >= limit * fullShare || ahead >= limit ? { used, limit, rate } : undefined;
}

function rateOf(history: readonly MemoryPoint[], last: MemoryPoint, used: number): number {
  const end = Date.parse(last.at);
  const first = history.find(({ at }) => end - Date.parse(at) <= windowMs);
  const ms = end - Date.parse(first?.at ?? last.at);
  return ms > 0 ? (Math.max(0, used - (first?.heapUsed ?? used)) / ms) * 1000 : 0;
}
