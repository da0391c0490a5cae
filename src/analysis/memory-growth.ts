/** Growth in the memory samples before a death: how much, how fast, and which kind of memory. Pure. */
import type { MemoryPoint } from '../bundle/layout/evidence.ts';
import { formatBytes, formatDuration } from '../model/quantities.ts';

export interface Growth {
  fromBytes: number;
  toBytes: number;
  overMs: number;
}

type SizeField = 'rss' | 'heapUsed' | 'external' | 'cgroupCurrent';

/** From the lowest sample to the last one; undefined with fewer than two samples, or without growth. */
export function findGrowth(history: readonly MemoryPoint[], field: SizeField): Growth | undefined {
  const points = history.flatMap((point) => {
    const bytes = point[field];
    return bytes === undefined ? [] : [{ bytes, at: Date.parse(point.at) }];
  });
  const last = points.at(-1);
  if (!last) return undefined;
  let lowest = last;
  for (const point of points) if (point.bytes < lowest.bytes) lowest = point;
  const overMs = last.at - lowest.at;
  return last.bytes > lowest.bytes && overMs > 0
    ? { fromBytes: lowest.bytes, toBytes: last.bytes, overMs }
    : undefined;
}

/** False for what would read as growth from 13.5 MiB to 13.5 MiB. */
export const isVisible = ({ fromBytes, toBytes }: Growth): boolean =>
  formatBytes(fromBytes) !== formatBytes(toBytes);

/** `grew from 40 MB to 310 MB in 2 min (2.3 MB a second)`. */
export function growthText({ fromBytes, toBytes, overMs }: Growth): string {
  const rate = ((toBytes - fromBytes) / overMs) * 1000;
  const span = `grew from ${formatBytes(fromBytes)} to ${formatBytes(toBytes)} in ${formatDuration(overMs)}`;
  return `${span} (${formatBytes(rate)} a second)`;
}

/** Whether JavaScript objects or memory outside of V8's heap grew; undefined if the samples are not conclusive. */
export function whatGrew(history: readonly MemoryPoint[]): 'heap' | 'outside' | undefined {
  const all = findGrowth(history, 'rss');
  const heap = findGrowth(history, 'heapUsed');
  if (!all) return undefined;
  const share = heap ? (heap.toBytes - heap.fromBytes) / (all.toBytes - all.fromBytes) : 0;
  return share > 0.6 ? 'heap' : share < 0.4 ? 'outside' : undefined;
}
