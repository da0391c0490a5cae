/**
 * Finds the pages of V8's heaps by their headers in the process's memory, and walks the objects on them. Objects that died
 * since the last collection are still there and are included. A page that a collection has evacuated is skipped, even if V8
 * has not released its memory yet. A page that is being evacuated still contains objects that have not been moved. Sources:
 * src/heap/{memory-chunk,memory-chunk-metadata,basic-memory-chunk}.h of V8.
 */
import { whereMapped } from '../../../bytes/memory.ts';
import { findUnusedStretches, type UnusedStretch } from './allocation-areas.ts';
import type { Tagged, V8Heap } from './heap.ts';
import { findObjectSize, type Surroundings } from './object-size.ts';

export interface HeapPage {
  /** Address of the heap that owns the page. There is one heap per isolate, and so one per JavaScript thread. */
  heap: number;
  start: number;
  /** Exclusive. */
  end: number;
  /** Ranges without objects, in order: memory that an allocator had not handed out yet. */
  unused: UnusedStretch[];
  isYoung: boolean;
  /** The live objects of this page have been moved by a collection, or are being moved. */
  isLeft: boolean;
}

const pageAlignment = 1 << 18;
/** Largest size of a header; code pages start their objects later. */
const maxHeader = 1 << 14;
const headerBytes = 96;
const maxPageSize = 2 ** 32;
/** A young page whose objects were moved elsewhere; its contents are stale. */
const fromPage = 1 << 3;
/** A young page that objects are moved to or allocated on; there are no objects after the last allocation. */
const toPage = 1 << 4;
/** V8 keeps the addresses of its allocators within this distance of the heap's address. */
const nearHeap = 1 << 18;

type Range = readonly [number, number];

/**
 * `ranges`: memory that may contain pages, as [start, end) pairs. `stacks`: the used parts of the threads' stacks, where
 * threads other than the main one keep their allocation areas. `isCollecting`: whether live objects of a heap are being moved
 * at this moment.
 */
export function findHeapPages(
  heap: V8Heap,
  ranges: readonly Range[],
  stacks: readonly Range[] = [],
  isCollecting: (heap: number) => boolean = () => false,
): HeapPage[] {
  const pages: HeapPage[] = [];
  const sorted = [...ranges].sort((a, b) => a[0] - b[0]);
  let endOfLast = 0;
  for (const [i, [start, end]] of sorted.entries()) {
    // Objects in a range of their own are those of a page before.
    let at = Math.ceil(Math.max(start, endOfLast) / pageAlignment) * pageAlignment;
    while (at < end) {
      const page = readPage(heap, at);
      if (page) page.end = Math.min(page.end, endOfObjects(sorted, i, page.start));
      if (page) endOfLast = Math.max(endOfLast, page.end);
      if (page && page.end > page.start && (!page.isLeft || isCollecting(page.heap))) pages.push(page);
      at = page ? Math.ceil(page.end / pageAlignment) * pageAlignment : at + pageAlignment;
    }
  }
  const heaps = [...new Set(pages.map((page) => page.heap))];
  const nearby = heaps.map((at): Range => [at - nearHeap, at + nearHeap]);
  // On the pages that a collection evacuates, the allocation areas were closed with a filler object when it began.
  const open = pages.filter((page) => !page.isLeft);
  for (const [page, stretches] of findUnusedStretches(heap.memory, open, [...nearby, ...stacks])) {
    // Threads that move objects each have an area on the same page.
    const last = isCollecting(page.heap) ? (stretches.at(-1)?.from ?? 0) : 0;
    page.unused = stretches.map(({ from, to }) => ({
      from,
      to: page.isYoung && from >= last ? page.end : to,
    }));
  }
  return pages;
}

/**
 * An unmapped guard separates the objects of a page of compiled code from its header in V8 11 and 12: they are in another range.
 * `header`: index of the range of the header.
 */
function endOfObjects(ranges: readonly Range[], header: number, start: number): number {
  for (let i = header; i < ranges.length && ranges[i]![0] <= start; i++)
    if (start < ranges[i]![1]) return ranges[i]![1];
  return start;
}

/**
 * The pages that V8 creates once and never writes to: its own maps, strings and constants. They belong to no heap. `ranges`:
 * memory that was read-only for the process.
 */
export function findReadOnlyPages(heap: V8Heap, ranges: readonly Range[]): HeapPage[] {
  const pages: HeapPage[] = [];
  for (const [start, end] of ranges)
    for (let at = Math.ceil(start / pageAlignment) * pageAlignment; at < end; at += pageAlignment) {
      const page = readPage(heap, at, true);
      if (page) page.end = Math.min(page.end, end);
      const map = page && heap.memory.findWord(page.start);
      if (page && map !== undefined && heap.findMapType(map) !== undefined) pages.push(page);
    }
  return pages;
}

/** Uses peek, because most of a heap's reserved space is empty. */
function readPage(heap: V8Heap, at: number, isReadOnly = false): HeapPage | undefined {
  const { page } = heap.layout;
  const first = heap.memory.peek(at, headerBytes);
  if (!first) return undefined;
  const pointer = page.pointer === undefined ? at : readWord(first, page.pointer);
  if (!(pointer > 4096) || pointer % 8 !== 0) return undefined;
  const header = pointer === at ? first : heap.memory.peek(pointer, headerBytes);
  const self = header && page.self !== undefined ? readWord(header, page.self) : at;
  if (!header || (self !== at && !(isReadOnly && self === 0))) return undefined;
  const [size, owner, start, end] = [page.size, page.heap, page.start, page.end].map((o) =>
    readWord(header, o),
  ) as [number, number, number, number];
  const flags = readWord(first, page.pointer === undefined ? 8 : 0) % 2 ** 31;
  const isOwned = isReadOnly ? owner === 0 : owner > 4096 && owner % 8 === 0;
  const isSized = isReadOnly || (size >= 4096 && size < maxPageSize);
  const isPlaced =
    start > at && start <= at + maxHeader && end > start && end <= at + (isReadOnly ? pageAlignment : size);
  const isFreed = page.freed !== undefined && (flags & page.freed) === page.freed;
  if (!isOwned || !isSized || !isPlaced || isFreed) return undefined;
  const isYoung = (flags & toPage) !== 0;
  const isLeft = (flags & fromPage) !== 0;
  return { heap: owner, start, end, unused: [], isYoung, isLeft };
}

function readWord(bytes: Uint8Array, offset: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return view.getUint32(offset + 4, true) * 2 ** 32 + view.getUint32(offset, true);
}

/** An object as the walk finds it. */
export interface HeapObject {
  object: Tagged;
  map: Tagged;
  type: number;
  /** In bytes; 0 if the size can't be determined for its kind. */
  size: number;
}

/** Passes over objects that need not be visited one by one. */
export interface PageRunner {
  /** Called with each page before `pass`. */
  open(page: HeapPage): void;
  /** Passes over objects from `at` up to `limit`; returns the start of the first object that it leaves to the walk. */
  pass(at: number, limit: number): number;
}

/** Number of consecutive objects after which the walk is back in step with object boundaries. */
const resyncObjects = 3;

/**
 * Walks all objects of a page in order. `visit` receives the same record for each object. After an object of unknown size,
 * and in memory that an evacuation left behind, single words look like the starts of objects; there the walk advances word by
 * word until several consecutive objects are consistent. What `runner` passes over is not visited.
 */
export function walkPage(
  heap: V8Heap,
  page: HeapPage,
  visit: (found: HeapObject) => void,
  runner?: PageRunner,
): void {
  runner?.open(page);
  const found: HeapObject = { object: 0, map: 0, type: 0, size: 0 };
  const around = surroundingsOf(heap, page);
  let inStep = true;
  let at = page.start;
  let nextUnused = 0;
  while (at < page.end) {
    while ((page.unused[nextUnused]?.to ?? Infinity) <= at) nextUnused++;
    const unused = page.unused[nextUnused];
    if (unused && at >= unused.from) {
      at = unused.to;
      inStep = true;
      continue;
    }
    const passed = inStep && runner ? runner.pass(at, unused?.from ?? page.end) : at;
    if (passed > at) {
      at = passed;
      continue;
    }
    const map = heap.memory.findWord(at);
    if (map === undefined) {
      // Skips the rest of a system page that is not in the core.
      at = Math.floor(at / 4096) * 4096 + 4096;
      inStep = false;
      continue;
    }
    const mayBeMoved = (inStep || page.isLeft) && heap.isForwarding(map);
    const moved = mayBeMoved ? sizeOfMoved(heap, at, map, around) : 0;
    if (moved > 0) {
      // The object is visited at its new address.
      at += moved;
      inStep = true;
      continue;
    }
    const type = heap.findMapType(map);
    if (type === undefined || (!inStep && !isRow(heap, at, page.end, around))) {
      at += 8;
      inStep = false;
      continue;
    }
    found.object = at + 1;
    found.map = map;
    found.type = type;
    found.size = whereMapped(() => findObjectSize(heap, at, map, type, around)) ?? 0;
    visit(found);
    inStep = found.size > 0;
    at += Math.max(8, found.size);
  }
}

/** Size of an object that has been moved, if another object or the end follows it; otherwise 0. */
function sizeOfMoved(heap: V8Heap, at: number, to: number, around: Surroundings): number {
  const map = heap.memory.findWord(to);
  const type = map === undefined ? undefined : heap.findMapType(map);
  if (map === undefined || type === undefined) return 0;
  const size = whereMapped(() => findObjectSize(heap, at, map, type, around)) ?? 0;
  return size > 0 && around.isBoundary(at + size) ? size : 0;
}

function surroundingsOf(heap: V8Heap, page: HeapPage): Surroundings {
  return {
    wallBehind: (at) => page.unused.find((u) => u.from > at)?.from ?? page.end,
    isBoundary(at) {
      if (at === page.end || page.unused.some((u) => u.from === at)) return true;
      const word = heap.memory.findWord(at);
      if (word === undefined) return false;
      const map = heap.isForwarding(word) ? heap.memory.findWord(word) : word;
      return map !== undefined && heap.findMapType(map) !== undefined;
    },
  };
}

/** Whether several objects of known size follow each other from `start`. */
function isRow(heap: V8Heap, start: number, end: number, around: Surroundings): boolean {
  let at = start;
  for (let i = 0; i < resyncObjects && at < end; i++) {
    const map = heap.memory.findWord(at);
    const type = map === undefined ? undefined : heap.findMapType(map);
    if (map === undefined || type === undefined) return false;
    const size = whereMapped(() => findObjectSize(heap, at, map, type, around)) ?? 0;
    if (size === 0 || !around.isBoundary(at + size)) return false;
    at += size;
  }
  return true;
}
