/**
 * Objects that an isolate refers to, directly or from memory that it owns: chunks of the allocator. Strings found this way are
 * weak, because V8's string table does not keep them alive. Memory that is only reserved contains leftovers of its last use, and
 * is left out where its use can be told: vectors of C++, and blocks of V8's local handles. Sources: src/handles/handles.h,
 * src/api/api.h, src/execution/isolate-data.h of V8.
 */
import type { MemoryReader } from '../../../../bytes/memory.ts';
import type { HeapObjects } from '../objects/heap-objects.ts';
import type { HandleBlocks } from './global-handles.ts';
import type { MallocChunks } from './malloc-chunks.ts';
import { forEachWord, inRanges, type Range } from './native-words.ts';
import type { RootReference, RootSources } from './root-sources.ts';

/** The rest of the isolate surrounds a heap's address within this distance. */
const isolateBytes = 1 << 16;
const handlesOfBlock = 256;
/** Size of the chunk of a block of eternal handles, which are only words: EternalHandles in src/handles. */
const eternalBlock = handlesOfBlock * 8 + 16;
/** Bytes of a block of local handles, and of its chunk. */
const [scopeBytes, scopeBlock] = [1022 * 8, 1024 * 8];
const chunkUnit = 16;
const elementBytes = 8;
const systemPage = 4096;
/** Limit for the memory that an isolate owns directly and indirectly. */
const maxOwned = 1 << 28;
/** Limit for the different words in it, below that of a Set. */
const maxWords = 1 << 23;
const firstNonString = 0x80;

/** What else has been found out about the memory outside of the heap. */
export interface NativeFacts {
  chunks: MallocChunks;
  handles: HandleBlocks;
  /** Addresses of bytes that belong to the program, which may look like anything. */
  buffers: ReadonlySet<number>;
  /** Whether V8 keeps objects of that type in a list of which the isolate has the first, and which keeps none of them alive. */
  isListed(type: number): boolean;
  /** Called if the isolate has more memory than is searched. */
  onCut?(): void;
}

export function findIsolateRoots(
  objects: HeapObjects,
  { memory, heaps, native }: RootSources,
  { chunks, handles, buffers, isListed, onCut }: NativeFacts,
): RootReference[] {
  const isNative = inRanges(native);
  const isolates: Range[] = heaps.map((heap) => [heap - isolateBytes, heap + isolateBytes]);
  const endOfHandles = findEndsOfHandles(memory, isolates, chunks);
  const found = new Set<number>();
  const eternal = new Set<number>();
  const seen = new Set<number>();
  const pagesRead = new Set<number>();
  const open = [...isolates];
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
      if (seen.size >= maxWords) return;
      seen.add(word);
      if (!isNative(word) || handles.has(word) || buffers.has(word)) return;
      const size = chunks.sizeAt(word);
      if (size === 0) return;
      open.push([word, endOfHandles.get(word) ?? endOfVector(memory, at, word, size) ?? word + size - 8]);
      if (size === eternalBlock)
        for (const target of eternalHandles(objects, memory, word)) eternal.add(target);
    };
    for (const part of parts) forEachWord(memory, part, visit);
  }
  if (owned >= maxOwned || seen.size >= maxWords) onCut?.();
  const isWeak = (target: number) => {
    const type = objects.typeOf(target);
    return (type < firstNonString || isListed(type)) && !eternal.has(target);
  };
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
 * Where the local handles of an isolate end, by the block that contains them: an isolate has that address beside the end of the
 * block.
 */
function findEndsOfHandles(
  memory: MemoryReader,
  isolates: readonly Range[],
  chunks: MallocChunks,
): Map<number, number> {
  const found = new Map<number, number>();
  let last = 0;
  for (const isolate of isolates)
    forEachWord(memory, isolate, (_, low, high) => {
      const word = high * 2 ** 32 + (low >>> 0);
      const block = word - scopeBytes;
      if (last >= block && last <= word && block > 4096 && chunks.sizeAt(block) === scopeBlock)
        found.set(block, last);
      last = word;
    });
  return found;
}

/**
 * The end of a vector's elements, if the word at an address is its first: begin, end, and end of the chunk, as in C++'s library, or
 * begin, number of elements with room, and number of elements, as in V8's. An empty one of V8's looks like an array that is full, its
 * length, and a word of something else that is 0.
 */
function endOfVector(memory: MemoryReader, at: number, begin: number, size: number): number | undefined {
  const second = memory.findWord(at + 8) ?? 0;
  const third = memory.findWord(at + 16) ?? 0;
  const [end, endOfRoom] =
    second < begin ? [begin + third * elementBytes, begin + second * elementBytes] : [second, third];
  const spare = begin + size - 8 - endOfRoom;
  if (end === begin && second < begin) return undefined;
  return begin <= end && end <= endOfRoom && spare >= 0 && spare < chunkUnit ? end : undefined;
}

/** The objects of a block of eternal handles, which is full of objects; none if it is another chunk of that size. */
function eternalHandles(objects: HeapObjects, memory: MemoryReader, block: number): number[] {
  const found: number[] = [];
  forEachWord(memory, [block, block + handlesOfBlock * 8], (_, low, high) => {
    if ((low & 3) === 1) found.push(objects.words.objectAt(low, high));
  });
  return found.length === handlesOfBlock && found.every((target) => target >= 0) ? found : [];
}
