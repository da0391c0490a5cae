/**
 * The linear allocation areas of V8's allocators when the process stopped. Between `top` and `limit` of an area there are no
 * objects yet, only stale memory. V8 keeps three consecutive addresses for each area (start, top, limit): in the isolate, in
 * its allocators, and on the stacks of threads that compile or mark concurrently. They are recognised as ascending addresses
 * on one page. Source: src/heap/linear-allocation-area.h of V8.
 */
import type { MemoryReader } from '../../../bytes/memory.ts';

/** There are no objects from `from` to `to` (exclusive). */
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

/** Only a few threads allocate on one page at the same time. */
const maxPerPage = 16;

/** By page, in address order. `searched`: memory that may contain the three addresses, as [start, end) pairs. */
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

/** `found`: tops by limit, for each page. */
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
    // An outdated copy of an area has a lower top.
    if (tops.size < maxPerPage || tops.has(limit)) tops.set(limit, Math.max(top, tops.get(limit) ?? 0));
  }
}

/** A user-space address; 0 if the word can't be one. */
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
