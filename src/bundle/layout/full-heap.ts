/**
 * Whether the last samples of a death that nobody saw show a heap that was at its end: for who names the bundle and for
 * who explains it, so that they say the same. Pure.
 */
import type { MemoryPoint } from './evidence.ts';

export interface FullHeap {
  used: number;
  limit: number;
  /** Bytes a second in the last seconds; 0 when it did not grow. */
  rate: number;
}

/** From here on V8 works harder and harder; what dies unseen then has most probably died of it. */
const fullShare = 0.8;
/** One that is filled fast may jump over that: a table that doubles, a last sample that came late. */
const growingShare = 0.5;
const windowMs = 5000;
const aheadMs = 2000;

/** Undefined when it was not, or the samples don't say. */
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
