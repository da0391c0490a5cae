/**
 * References from outside of V8's heap that keep objects alive. Global handles are recognised by their layout: V8 allocates
 * them in blocks, in which each handle contains its own index. All other roots are found conservatively: words of the
 * isolate, of memory that it owns, and of the threads' stacks that point exactly to an object. Such a root may be a
 * coincidence, and is marked as a guess. Sources: src/handles/global-handles.cc, src/execution/isolate.h, src/heap/heap.h of
 * V8.
 */
import type { MemoryReader } from '../../../bytes/memory.ts';
import type { HeapObjects } from './objects/heap-objects.ts';

export interface RootReference {
  target: number;
  isWeak: boolean;
}

export interface RootGroup {
  name: string;
  references: RootReference[];
}

type Range = readonly [start: number, end: number];

export interface RootSources {
  memory: MemoryReader;
  /** Addresses of the heaps, which are members of their isolates. */
  heaps: readonly number[];
  /** Writable memory of the process, without V8's pages. */
  native: readonly Range[];
  /** The used part of each thread's stack. */
  stacks: readonly Range[];
}

/** The rest of the isolate surrounds a heap's address within this distance. */
const isolateBytes = 1 << 16;
const handleBytes = 32;
const handlesOfBlock = 256;
const [normalHandle, weakHandle] = [1, 2];
const stateMask = 3;
/** Size of the chunk of a block of eternal handles, which are only words: EternalHandles in src/handles. */
const eternalBlock = handlesOfBlock * 8 + 16;
const windowBytes = 1 << 20;
const smallestChunk = 32;
/** In the lowest bits of a chunk's size. */
const [previousInUse, ownPages] = [1, 2];
const systemPage = 4096;
/** A number in other data may look like the size of a chunk, but is not followed by the sizes of so many others. */
const followingChunks = 6;
const largestChunk = 1 << 26;
/** Limit for the memory that an isolate owns directly and indirectly. */
const maxOwned = 1 << 28;
const firstNonString = 0x80;

export function findRoots(objects: HeapObjects, sources: RootSources): RootGroup[] {
  const handles = new HandleBlocks(objects, sources);
  return [
    { name: '(Global handles)', references: handles.references },
    { name: '(Stack roots, conservative)', references: stackRoots(objects, sources, handles) },
    { name: '(Isolate, conservative)', references: isolateRoots(objects, sources, handles) },
  ];
}

/** Blocks of 256 global handles. Each handle has an object, a class, its index in the block, and its state. */
class HandleBlocks {
  readonly references: RootReference[] = [];
  readonly #isIn: (address: number) => boolean;

  constructor(objects: HeapObjects, { memory, native }: RootSources) {
    const blocks: Range[] = [];
    for (const [start, end] of native)
      for (let at = start; at < end; at += windowBytes) {
        const length = Math.min(windowBytes + handleBytes * handlesOfBlock, end - at);
        const bytes = memory.peek(at, length) ?? memory.peek(at, Math.min(windowBytes, end - at));
        if (bytes) this.#search(bytes, at, objects, blocks);
      }
    this.#isIn = inRanges(blocks);
  }

  #search(bytes: Uint8Array, address: number, objects: HeapObjects, blocks: Range[]): void {
    const blockBytes = handleBytes * handlesOfBlock;
    for (let at = 0; at < windowBytes && at + blockBytes <= bytes.length; at += 8) {
      if (bytes[at + 10] !== 0 || bytes[at + 42] !== 1 || bytes[at + 74] !== 2 || bytes[at + 106] !== 3)
        continue;
      let i = 4;
      while (i < handlesOfBlock && bytes[at + i * handleBytes + 10] === i) i++;
      if (i < handlesOfBlock) continue;
      blocks.push([address + at, address + at + blockBytes]);
      this.#addBlock(new DataView(bytes.buffer, bytes.byteOffset + at, blockBytes), objects);
      at += blockBytes - 8;
    }
  }

  #addBlock(block: DataView, objects: HeapObjects): void {
    for (let at = 0; at < block.byteLength; at += handleBytes) {
      const state = block.getUint8(at + 11) & stateMask;
      if (state !== normalHandle && state !== weakHandle) continue;
      const target = objects.words.objectAt(block.getInt32(at, true), block.getInt32(at + 4, true));
      if (target >= 0) this.references.push({ target, isWeak: state === weakHandle });
    }
  }

  has(address: number): boolean {
    return this.#isIn(address);
  }
}

/** Objects that a stack refers to directly or through its handles: words of the native heap that point to objects. */
function stackRoots(objects: HeapObjects, sources: RootSources, handles: HandleBlocks): RootReference[] {
  const { memory, stacks, native } = sources;
  const isNative = inRanges(native);
  const found = new Set<number>();
  for (const [start, end] of stacks)
    for (let at = start; at + 8 <= end; at += 8) {
      const word = memory.findWord(at);
      if (word === undefined || word <= 4096) continue;
      const direct = word % 2 === 1 ? objects.words.objectFor(word) : -1;
      if (direct >= 0) found.add(direct);
      if (word % 8 !== 0 || !isNative(word) || handles.has(word)) continue;
      const handle = memory.findWord(word);
      const behind = handle !== undefined && handle % 4 === 1 ? objects.words.objectFor(handle) : -1;
      if (behind >= 0) found.add(behind);
    }
  return [...found].map((target) => ({ target, isWeak: false }));
}

/**
 * Objects that an isolate refers to, directly or from memory that it owns: chunks of the allocator, which are preceded by
 * their size. Strings found this way are weak, because V8's string table does not keep them alive.
 */
function isolateRoots(objects: HeapObjects, sources: RootSources, handles: HandleBlocks): RootReference[] {
  const { memory, heaps, native } = sources;
  const isNative = inRanges(native);
  const found = new Set<number>();
  const eternal = new Set<number>();
  const seen = new Set<number>();
  const pagesRead = new Set<number>();
  const open: Range[] = heaps.map((heap) => [heap - isolateBytes, heap + isolateBytes]);
  let owned = 0;
  for (let range = open.pop(); range && owned < maxOwned; range = open.pop()) {
    const parts = unread(range, pagesRead);
    for (const [start, end] of parts) owned += end - start;
    const visit = (at: number, low: number, high: number) => {
      if ((low & 3) === 1) {
        const target = objects.words.objectAt(low, high);
        if (target >= 0 && !handles.has(at)) found.add(target);
        return;
      }
      const word = high * 2 ** 32 + (low >>> 0);
      if ((low & 15) !== 0 || word <= 4096 || high < 0 || high > 0x7fff || seen.has(word)) return;
      seen.add(word);
      if (!isNative(word) || handles.has(word)) return;
      const size = sizeOfChunk(memory, word);
      if (size === 0) return;
      open.push([word, word + size - 8]);
      if (size === eternalBlock)
        for (const target of eternalHandles(objects, memory, word)) eternal.add(target);
    };
    for (const part of parts) forEachWord(memory, part, visit);
  }
  const isWeak = (target: number) => objects.typeOf(target) < firstNonString && !eternal.has(target);
  return [...found].map((target) => ({ target, isWeak: isWeak(target) }));
}

/** The parts of a range without the pages that were read before, which it adds its own to. */
function unread([start, end]: Range, pagesRead: Set<number>): Range[] {
  const parts: Range[] = [];
  for (let at = start; at < end; ) {
    const page = Math.floor(at / systemPage) * systemPage;
    const next = Math.min(end, page + systemPage);
    const isWhole = at === page && next === page + systemPage;
    if (!isWhole || !pagesRead.has(page)) parts.push([at, next]);
    if (isWhole) pagesRead.add(page);
    at = next;
  }
  return parts;
}

/**
 * The size of the allocator's chunk whose memory starts at an address, as glibc's malloc keeps it; 0 if there is none: a chunk in
 * use has its size before it, and is followed by another that says so, or has pages of its own.
 */
function sizeOfChunk(memory: MemoryReader, start: number): number {
  const size = chunkSize(memory.findWord(start - 8));
  if (size === 0) return 0;
  if (((memory.findWord(start - 8) ?? 0) & ownPages) !== 0)
    return (start - 16) % systemPage === 0 && size % systemPage === 0 ? size : 0;
  const following = memory.findWord(start + size - 8) ?? 0;
  if ((following & previousInUse) === 0) return 0;
  let at = start + size - 8;
  for (let i = 0; i < followingChunks; i++) {
    const header = memory.findWord(at);
    // The last chunk ends with the allocator's memory.
    if (header === undefined && i > 0) break;
    const length = chunkSize(header);
    if (length === 0) return 0;
    at += length;
  }
  return size;
}

/** The size in a chunk's header; 0 if the word is not one. */
function chunkSize(header = 0): number {
  if (header > largestChunk) return 0;
  const size = header & ~7;
  return size >= smallestChunk && size % 16 === 0 ? size : 0;
}

/** The objects of a block of eternal handles, which is full of objects; none if it is another chunk of that size. */
function eternalHandles(objects: HeapObjects, memory: MemoryReader, block: number): number[] {
  const found: number[] = [];
  forEachWord(memory, [block, block + handlesOfBlock * 8], (_, low, high) => {
    if ((low & 3) === 1) found.push(objects.words.objectAt(low, high));
  });
  return found.length === handlesOfBlock && found.every((target) => target >= 0) ? found : [];
}

/** `visit` receives the address and the two halves of each word. */
function forEachWord(
  memory: MemoryReader,
  [start, end]: Range,
  visit: (at: number, low: number, high: number) => void,
): void {
  for (let at = start; at < end; at += systemPage) {
    const bytes = memory.peek(at, Math.min(systemPage, end - at));
    const view = bytes && new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let i = 0; view && i + 8 <= view.byteLength; i += 8)
      visit(at + i, view.getInt32(i, true), view.getInt32(i + 4, true));
  }
}

function inRanges(ranges: readonly Range[]): (address: number) => boolean {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0]);
  return (address) => {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sorted[middle]![1] > address) high = middle;
      else low = middle + 1;
    }
    return low < sorted.length && sorted[low]![0] <= address;
  };
}
