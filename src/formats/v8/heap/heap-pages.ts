/**
 * The pages of V8's heaps, found by their headers in the process's memory, and the objects on them, one after the
 * other. Objects that died since the last collection are still there and are walked too. A page that a collection
 * has emptied is skipped, also while V8 has yet to give its memory back; one that it is just emptying has objects that
 * it has not reached yet. Sources: src/heap/{memory-chunk,memory-chunk-metadata,basic-memory-chunk}.h of V8.
 */
import { whereMapped } from '../../../bytes/memory.ts';
import { findUnusedStretches, type UnusedStretch } from './allocation-areas.ts';
import type { Tagged, V8Heap } from './heap.ts';
import type { ObjectCounter } from './object-counter.ts';
import { findObjectSize, type Surroundings } from './object-size.ts';

export interface HeapPage {
  /** Address of the heap that it belongs to: one an isolate, so one a thread of JavaScript. */
  heap: number;
  start: number;
  /** Exclusive. */
  end: number;
  /** Stretches without objects, in order: what an allocator had not handed out yet. */
  unused: UnusedStretch[];
  isYoung: boolean;
  /** A collection has moved, or is just moving, what is alive here. */
  isLeft: boolean;
}

const pageAlignment = 1 << 18;
/** Headers are at most this large; code pages start their objects later. */
const maxHeader = 1 << 14;
const headerBytes = 96;
const maxPageSize = 2 ** 32;
/** A young page whose objects were moved elsewhere: what is on it is stale. */
const fromPage = 1 << 3;
/** A young page that objects are moved to, or made on: nothing follows what was made last. */
const toPage = 1 << 4;
/** V8 keeps its allocators' addresses so near to the heap's own. */
const nearHeap = 1 << 18;

type Range = readonly [number, number];

/**
 * `ranges`: memory that may hold pages, as [start, end) pairs. `stacks`: the used parts of the threads' stacks, where
 * a thread beside the main one keeps what it allocates from. `isCollecting`: whether a heap's live objects are being
 * moved at this moment.
 */
export function findHeapPages(
  heap: V8Heap,
  ranges: readonly Range[],
  stacks: readonly Range[] = [],
  isCollecting: (heap: number) => boolean = () => false,
): HeapPage[] {
  const pages: HeapPage[] = [];
  for (const [start, end] of ranges) {
    let at = Math.ceil(start / pageAlignment) * pageAlignment;
    while (at < end) {
      const page = readPage(heap, at, end);
      if (page && (!page.isLeft || isCollecting(page.heap))) pages.push(page);
      at = page ? Math.ceil(page.end / pageAlignment) * pageAlignment : at + pageAlignment;
    }
  }
  const heaps = [...new Set(pages.map((page) => page.heap))];
  const nearby = heaps.map((at): Range => [at - nearHeap, at + nearHeap]);
  // What a collection leaves was closed with a filler when it began.
  const open = pages.filter((page) => !page.isLeft);
  for (const [page, stretches] of findUnusedStretches(heap.memory, open, [...nearby, ...stacks])) {
    // Threads that move objects have a stretch each of the same page.
    const last = isCollecting(page.heap) ? (stretches.at(-1)?.from ?? 0) : 0;
    page.unused = stretches.map(({ from, to }) => ({
      from,
      to: page.isYoung && from >= last ? page.end : to,
    }));
  }
  return pages;
}

/**
 * The pages that V8 made once and never writes to: its own maps, strings and constants. No heap owns them. `ranges`:
 * memory that the process could only read.
 */
export function findReadOnlyPages(heap: V8Heap, ranges: readonly Range[]): HeapPage[] {
  const pages: HeapPage[] = [];
  for (const [start, end] of ranges)
    for (let at = Math.ceil(start / pageAlignment) * pageAlignment; at < end; at += pageAlignment) {
      const page = readPage(heap, at, end, true);
      const map = page && heap.memory.findWord(page.start);
      if (page && map !== undefined && heap.findMapType(map) !== undefined) pages.push(page);
    }
  return pages;
}

/** Peeks, since most of a heap's reserved space is empty. */
function readPage(heap: V8Heap, at: number, limit: number, isReadOnly = false): HeapPage | undefined {
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
  return { heap: owner, start, end: Math.min(end, limit), unused: [], isYoung, isLeft };
}

function readWord(bytes: Uint8Array, offset: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return view.getUint32(offset + 4, true) * 2 ** 32 + view.getUint32(offset, true);
}

/** An object as the walk meets it. */
export interface HeapObject {
  object: Tagged;
  map: Tagged;
  type: number;
  /** Bytes; 0 where the object's kind hides its size. */
  size: number;
}

/** Objects that must follow each other before the walk trusts that it has found their row again. */
const resyncObjects = 3;

/**
 * Every object of a page, in order. `visit` is called with one record that is reused. Behind an object whose size is
 * not known, and in memory that an evacuation left behind, single words look like the starts of objects: there the
 * walk goes on word by word until several objects fit together. `counter` takes what it can count by itself; that is not visited.
 */
export function walkPage(
  heap: V8Heap,
  page: HeapPage,
  visit: (found: HeapObject) => void,
  counter?: ObjectCounter,
): void {
  counter?.open(page);
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
    const counted = inStep && counter ? counter.pass(at, unused?.from ?? page.end) : at;
    if (counted > at) {
      at = counted;
      continue;
    }
    const map = heap.memory.findWord(at);
    if (map === undefined) {
      // The rest of a system page that the core does not hold.
      at = Math.floor(at / 4096) * 4096 + 4096;
      inStep = false;
      continue;
    }
    const mayBeMoved = (inStep || page.isLeft) && heap.isForwarding(map);
    const moved = mayBeMoved ? sizeOfMoved(heap, at, map, around) : 0;
    if (moved > 0) {
      // It is walked where it is now.
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

/** Of an object that is elsewhere by now, where another one or the end follows; 0 for what is none. */
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

/** Several objects of known size follow each other from here on. */
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
