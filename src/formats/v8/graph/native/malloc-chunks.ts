/**
 * The chunks that glibc's malloc handed out. Each has its size in front of it, and the next chunk follows, so that the chunks of
 * an arena are found exactly by walking from its first one. Where no walk begins (an arena with a hole, pages of a chunk's own), a
 * chunk is recognised by the sizes that follow it. Other allocators have no such chunks. Sources: malloc/malloc.c and malloc/arena.c of glibc.
 */
import type { MemoryReader } from '../../../../bytes/memory.ts';
import type { Range } from './native-words.ts';

const unit = 16;
const smallestChunk = 32;
/** Where the program's part of a chunk begins; its size is in the word before. */
const headerBytes = 16;
/** In the lowest bits of a chunk's size. */
const [previousInUse, ownPages] = [1, 2];
const flags = 7;
const systemPage = 4096;
/** Chunks with sizes like these mark the end of memory that malloc could not extend. */
const fenceposts = [0, 16];
/** A free chunk may consist of many others. */
const largestChunk = 2 ** 36;
/** A chunk of which all words are read for pointers. */
const largestOwned = 1 << 26;
/** Arenas of threads begin at multiples of this, with their own data before the first chunk. */
const threadHeap = 1 << 26;
const mostHeapData = 1 << 12;
/** Other data may look like the size of a chunk, but not like the sizes of so many in a row. */
const leastInArena = 64;
const leastFollowing = 6;
/** One bit for each unit. */
const regionBytes = 1 << 20;

export class MallocChunks {
  readonly #memory: MemoryReader;
  /** Of the arenas that were walked, in order; not overlapping. */
  readonly #arenas: Range[] = [];
  /** Which units are the start of a chunk, by the number of the region. */
  readonly #starts = new Map<number, Uint8Array>();

  constructor(memory: MemoryReader, native: readonly Range[]) {
    this.#memory = memory;
    for (const [start, end] of [...native].sort((a, b) => a[0] - b[0])) {
      this.#walk(Math.ceil(start / unit) * unit);
      for (let at = Math.ceil(start / threadHeap) * threadHeap; at < end; at += threadHeap)
        for (let data = 2 * unit; data < mostHeapData && !this.#arenaOf(at + data); data += unit)
          this.#walk(at + data);
    }
  }

  /** The size of the chunk in use whose memory starts at an address; 0 if there is none. */
  sizeAt(address: number): number {
    const chunk = address - headerBytes;
    const header = this.#headerOf(chunk);
    const size = sizeIn(header);
    if (size === 0 || size > largestOwned || address % unit !== 0) return 0;
    const arena = this.#arenaOf(chunk);
    if (arena) return this.#isStart(chunk) && this.#isInUse(chunk + size) ? size : 0;
    if (isOnOwnPages(header)) return this.#hasOwnPages(chunk, size) ? size : 0;
    return this.#isInUse(chunk + size) && this.#areFollowing(chunk + size) ? size : 0;
  }

  #headerOf(chunk: number): number | undefined {
    return this.#memory.findWord(chunk + 8);
  }

  /** Records the chunks from `first` on, if there are enough for an arena. */
  #walk(first: number): void {
    const found: number[] = [];
    let chunk = first;
    for (; !this.#arenaOf(chunk); ) {
      const header = this.#headerOf(chunk);
      const size = sizeIn(header);
      // Chunks with pages of their own lie side by side too, but each is recognised by itself.
      if (size === 0 || isOnOwnPages(header)) break;
      if (found.length < leastInArena) found.push(chunk);
      else this.#mark(chunk);
      chunk += size;
    }
    if (found.length < leastInArena) return;
    for (const each of found) this.#mark(each);
    this.#arenas.push([first, chunk]);
  }

  #mark(chunk: number): void {
    const region = Math.floor(chunk / regionBytes);
    const bits = this.#starts.get(region) ?? new Uint8Array(regionBytes / unit / 8);
    this.#starts.set(region, bits);
    const at = (chunk - region * regionBytes) / unit;
    bits[at >>> 3] = bits[at >>> 3]! | (1 << (at & 7));
  }

  #isStart(chunk: number): boolean {
    const region = Math.floor(chunk / regionBytes);
    const at = (chunk - region * regionBytes) / unit;
    return (((this.#starts.get(region)?.[at >>> 3] ?? 0) >>> (at & 7)) & 1) === 1;
  }

  #arenaOf(address: number): Range | undefined {
    let low = 0;
    let high = this.#arenas.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#arenas[middle]![1] > address) high = middle;
      else low = middle + 1;
    }
    const found = this.#arenas[low];
    return found && found[0] <= address ? found : undefined;
  }

  /** Whether the chunk before this one is. The last chunk of an arena is what is left of it. */
  #isInUse(next: number): boolean {
    return ((this.#headerOf(next) ?? 0) & previousInUse) !== 0;
  }

  /** With an alignment of its own, it begins later: the bytes before it are in front of its size. */
  #hasOwnPages(chunk: number, size: number): boolean {
    const before = this.#memory.findWord(chunk) ?? Number.NaN;
    return (chunk - before) % systemPage === 0 && (before + size) % systemPage === 0;
  }

  #areFollowing(first: number): boolean {
    let chunk = first;
    for (let i = 0; i < leastFollowing; i++) {
      const header = this.#headerOf(chunk);
      if (this.#isEnd(chunk, header) && i > 0) return true;
      const size = sizeIn(header);
      if (size === 0) return false;
      chunk += size;
    }
    return true;
  }

  /** Behind the last chunk there is other memory, or none, or what was never written to. */
  #isEnd(chunk: number, header: number | undefined): boolean {
    if (header === undefined || fenceposts.includes(header - previousInUse)) return true;
    return header === 0 && chunk % systemPage === 0;
  }
}

const isOnOwnPages = (header = 0): boolean => (header & ownPages) !== 0;

/** The size in a chunk's header; 0 if the word is not one. */
function sizeIn(header = 0): number {
  const size = header - (header % (flags + 1));
  return size >= smallestChunk && size <= largestChunk && size % unit === 0 ? size : 0;
}
