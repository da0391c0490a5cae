/**
 * The stretches that each allocator of V8 had for itself when the process stopped: from `top` to `limit` there is no
 * object yet, only what lay there before. V8 keeps three addresses of each, one after the other (start, top, limit),
 * in the isolate, in its allocators, and on the stacks of threads that compile or mark beside it. They are found by
 * what they must be: rising addresses on one page. Source: src/heap/linear-allocation-area.h of V8.
 */
import type { MemoryReader } from '../../../bytes/memory.ts';

/** Nothing from `from` to `to` (exclusive) is an object. */
export interface UnusedStretch {
  from: number;
  to: number;
}

interface Bounds {
  start: number;
  end: number;
}

const readBytes = 4096;
const wordBytes = 8;
const areaBytes = 3 * wordBytes;

/** Threads that allocate on one page at the same time are few. */
const maxPerPage = 16;

/**
 * By page, in the order of their addresses. `searched`: memory that may hold the three addresses, as [start, end)
 * pairs.
 */
export function findUnusedStretches<Page extends Bounds>(
  memory: MemoryReader,
  pages: readonly Page[],
  searched: readonly (readonly [number, number])[],
): Map<Page, UnusedStretch[]> {
  const sorted = [...pages].sort((a, b) => a.start - b.start);
  const found = new Map<Page, Map<number, number>>();
  for (const [start, end] of searched)
    for (let at = start; at < end; at += readBytes) {
      const length = Math.min(readBytes + areaBytes - wordBytes, end - at);
      const bytes = memory.peek(at, length) ?? memory.peek(at, Math.min(readBytes, end - at));
      if (bytes) addAreas(bytes, sorted, found);
    }
  return new Map(
    [...found].map(([page, tops]) => [
      page,
      [...tops].map(([to, from]) => ({ from, to })).sort((a, b) => a.from - b.from),
    ]),
  );
}

/** `found`: tops by limit, by page. */
function addAreas<Page extends Bounds>(
  bytes: Uint8Array,
  pages: readonly Page[],
  found: Map<Page, Map<number, number>>,
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let i = 0; i + areaBytes <= bytes.length; i += wordBytes) {
    const [start, top, limit] = [wordAt(view, i), wordAt(view, i + 8), wordAt(view, i + 16)];
    const isArea = start > 0 && start <= top && top < limit && ((start | top | limit) & 7) === 0;
    const page = isArea ? findPage(pages, start) : undefined;
    if (!page || limit > page.end) continue;
    const tops = found.get(page) ?? new Map<number, number>();
    found.set(page, tops);
    // A copy of an area that is out of date has a lower top.
    if (tops.size < maxPerPage || tops.has(limit)) tops.set(limit, Math.max(top, tops.get(limit) ?? 0));
  }
}

/** User-space addresses; 0 for what can be none. */
function wordAt(view: DataView, offset: number): number {
  const high = view.getUint32(offset + 4, true);
  return high > 0x7fff ? 0 : high * 2 ** 32 + view.getUint32(offset, true);
}

function findPage<Page extends Bounds>(pages: readonly Page[], address: number): Page | undefined {
  let low = 0;
  let high = pages.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((pages[middle]?.end ?? 0) > address) high = middle;
    else low = middle + 1;
  }
  const page = pages[low];
  return page && page.start <= address ? page : undefined;
}
