/**
 * The pages of V8's heaps, found by their headers in the process's memory, and the objects on them, one after the
 * other. Objects that died since the last collection are still there and are walked too. A page that a collection
 * has emptied is skipped. Sources: src/heap/{memory-chunk,memory-chunk-metadata,basic-memory-chunk}.h of V8.
 */
import type { Tagged, V8Heap } from './heap.ts';
import { isStringType } from './strings.ts';

export interface HeapPage {
  /** Address of the heap that it belongs to: one an isolate, so one a thread of JavaScript. */
  heap: number;
  start: number;
  /** Exclusive. */
  end: number;
}

const pageAlignment = 1 << 18;
/** Headers are at most this large; code pages start their objects later. */
const maxHeader = 1 << 14;
const headerBytes = 96;
const maxPageSize = 2 ** 32;
/** A young page whose objects were moved elsewhere: what is on it is stale. */
const fromPage = 1 << 3;
/** A property array's length shares its word with the object's hash. */
const maxPropertyArray = 1023;

/** `ranges`: memory that may hold pages, as [start, end) pairs. */
export function findHeapPages(heap: V8Heap, ranges: readonly (readonly [number, number])[]): HeapPage[] {
  const pages: HeapPage[] = [];
  for (const [start, end] of ranges) {
    let at = Math.ceil(start / pageAlignment) * pageAlignment;
    while (at < end) {
      const page = readPage(heap, at, end);
      if (page) pages.push(page);
      at = page ? Math.ceil(page.end / pageAlignment) * pageAlignment : at + pageAlignment;
    }
  }
  return pages;
}

/** Peeks, since most of a heap's reserved space is empty. */
function readPage(heap: V8Heap, at: number, limit: number): HeapPage | undefined {
  const { page } = heap.layout;
  const first = heap.memory.peek(at, headerBytes);
  if (!first) return undefined;
  const pointer = page.pointer === undefined ? at : readWord(first, page.pointer);
  if (!(pointer > 4096) || pointer % 8 !== 0) return undefined;
  const header = pointer === at ? first : heap.memory.peek(pointer, headerBytes);
  if (!header || (page.self !== undefined && readWord(header, page.self) !== at)) return undefined;
  const [size, owner, start, end] = [page.size, page.heap, page.start, page.end].map((o) =>
    readWord(header, o),
  ) as [number, number, number, number];
  const flags = readWord(first, page.pointer === undefined ? 8 : 0) % 2 ** 31;
  const isOwned = owner > 4096 && owner % 8 === 0 && (flags & fromPage) === 0;
  const isSized = size >= 4096 && size < maxPageSize;
  const isPlaced = start > at && start <= at + maxHeader && end > start && end <= at + size;
  return isOwned && isSized && isPlaced ? { heap: owner, start, end: Math.min(end, limit) } : undefined;
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
 * walk goes on word by word until several objects fit together.
 */
export function walkPage(heap: V8Heap, page: HeapPage, visit: (found: HeapObject) => void): void {
  const found: HeapObject = { object: 0, map: 0, type: 0, size: 0 };
  let inStep = true;
  let at = page.start;
  while (at < page.end) {
    const map = heap.memory.findWord(at);
    if (map === undefined) {
      // The rest of a system page that the core does not hold.
      at = Math.floor(at / 4096) * 4096 + 4096;
      inStep = false;
      continue;
    }
    const type = heap.findMapType(map);
    if (type === undefined || (!inStep && !isRow(heap, at, page.end))) {
      at += 8;
      inStep = false;
      continue;
    }
    found.object = at + 1;
    found.map = map;
    found.type = type;
    found.size = sizeOf(heap, at, map, type, page.end);
    visit(found);
    inStep = found.size > 0;
    at += Math.max(8, found.size);
  }
}

/** Several objects of known size follow each other from here on. */
function isRow(heap: V8Heap, start: number, end: number): boolean {
  let at = start;
  for (let i = 0; i < resyncObjects && at < end; i++) {
    const map = heap.memory.findWord(at);
    const type = map === undefined ? undefined : heap.findMapType(map);
    const size = map === undefined || type === undefined ? 0 : sizeOf(heap, at, map, type, end);
    if (size === 0) return false;
    at += size;
  }
  return true;
}

function sizeOf(heap: V8Heap, at: number, map: Tagged, type: number, end: number): number {
  const words = heap.memory.readUint8(map - 1 + heap.layout.map.instanceSizeInWords);
  if (words > 0) return words * 8;
  if (isStringType(type)) return sequentialSize(heap, at, type);
  if (type === heap.layout.types.bigInt)
    return (
      heap.layout.bigInt.digits +
      ((heap.memory.readUint32(at + heap.layout.bigInt.bits) >>> 1) & 0x3fff_ffff) * 8
    );
  if (type === heap.layout.types.descriptorArray) return descriptorsSize(heap, at);
  const length = heap.memory.findWord(at + 8);
  if (length === undefined || !heap.isSmi(length) || length < 0) return 0;
  return arraySize(heap, at, type, heap.smi(length), end);
}

/** The shape whose end is where another object starts, or where the page ends. */
function arraySize(heap: V8Heap, at: number, type: number, count: number, end: number): number {
  const { types, bytecode } = heap.layout;
  const isPropertyArray = type === types.propertyArray;
  const shapes = isPropertyArray
    ? [16 + (count & maxPropertyArray) * 8]
    : type === types.bytecodeArray
      ? [align(bytecode.data + count)]
      : // Arrays of words, of bytes; free space; lists, whose length comes after their capacity.
        [16 + count * 8, align(16 + count), align(count), 24 + count * 8];
  for (const size of shapes)
    if (size >= 16 && at + size <= end && (at + size === end || isObjectStart(heap, at + size))) return size;
  return 0;
}

/** Its entries hold maps, so it must not be walked word by word. */
function descriptorsSize(heap: V8Heap, at: number): number {
  const { header, entryWords } = heap.layout.descriptors;
  return header + heap.memory.readUint16(at + 8) * entryWords * 8;
}

function sequentialSize(heap: V8Heap, at: number, type: number): number {
  const { string } = heap.layout;
  const length = heap.memory.readInt32(at + string.length);
  return length < 0 ? 0 : align(string.chars + length * (type & 8 ? 1 : 2));
}

function isObjectStart(heap: V8Heap, at: number): boolean {
  const word = heap.memory.findWord(at);
  return word !== undefined && heap.findMapType(word) !== undefined;
}

const align = (size: number) => Math.ceil(size / 8) * 8;
