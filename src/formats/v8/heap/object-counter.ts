/**
 * Counts the objects of a page by map, in one loop over its words, without allocating for each object. The size of most
 * objects follows from their map, or from one length field after it. The loop stops at the first object of another kind, or
 * word that is not an object, and leaves it to the slower walk (`walkPage`).
 */

import type { Tagged, V8Heap } from './heap.ts';
import { hash } from './map-hash.ts';
import { planSize, SizeKind } from './object-size.ts';

/** Pages with one large object are longer. */
const longestPage = 1 << 18;
const firstRoom = 1 << 12;
const emptyKey = 0;
const rowWords = 4;
const kindBits = 3;
const kindMask = (1 << kindBits) - 1;

export interface CountedMap {
  map: Tagged;
  type: number;
  count: number;
  bytes: number;
}

export class ObjectCounter {
  readonly #heap: V8Heap;
  readonly #isVisited: (map: Tagged, type: number) => boolean;
  readonly #buffer = new Uint8Array(longestPage);
  #words: Int32Array = new Int32Array(this.#buffer.buffer);
  #base = 0;
  #end = 0;
  /**
   * Hash table with open addressing. A row is four numbers: the two halves of the map's pointer, its plan (kind in the low
   * bits, size in 4-byte words above), and the number of objects.
   */
  #rows = new Int32Array(firstRoom * rowWords);
  #type = new Uint16Array(firstRoom);
  /** Total size in 4-byte words of the objects whose size is not fixed. */
  #units = new Float64Array(firstRoom);
  #used = 0;

  /** Every object for which `isVisited` returns true is left to the walk. */
  constructor(heap: V8Heap, isVisited: (map: Tagged, type: number) => boolean) {
    this.#heap = heap;
    this.#isVisited = isVisited;
  }

  /** Must be called with each page before `pass`. */
  open({ start, end }: { start: number; end: number }): void {
    const length = Math.floor((end - start) / 4) * 4;
    const bytes =
      length > 0 && length <= longestPage && start % 8 === 0
        ? this.#heap.memory.peek(start, length, this.#buffer.subarray(0, length))
        : undefined;
    this.#base = start;
    this.#end = bytes ? start + length : start;
    if (bytes) this.#words = new Int32Array(bytes.buffer, bytes.byteOffset, length / 4);
  }

  /** Counts objects from `at` up to `limit`; returns the start of the first object that was not counted. */
  pass(at: number, limit: number): number {
    const end = (Math.min(limit, this.#end) - this.#base) >> 2;
    let index = (at - this.#base) >> 2;
    while (index + 1 < end) {
      index = this.#run(index, end);
      if (index + 1 >= end || !this.#learn(this.#words[index]!, this.#words[index + 1]!)) break;
    }
    return this.#base + index * 4;
  }

  /** Runs while all maps are known and sizes are simple. `from` and `end` are in 4-byte words. */
  #run(from: number, end: number): number {
    const [words, rows, units] = [this.#words, this.#rows, this.#units];
    const mask = units.length - 1;
    const lengthWord = this.#heap.layout.string.length >> 2;
    const charWords = this.#heap.layout.string.chars >> 2;
    let index = from;
    while (index + 3 < end) {
      const map = words[index]!;
      const upper = words[index + 1]!;
      let row = (hash(map, upper) & mask) * rowWords;
      while (rows[row] !== map || rows[row + 1] !== upper) {
        if (rows[row] === emptyKey) return index;
        row = (((row >> 2) + 1) & mask) * rowWords;
      }
      const plan = rows[row + 2]!;
      const kind = plan & kindMask;
      let size = plan >> kindBits;
      if (kind !== SizeKind.fixed) {
        if (kind === SizeKind.other) return index;
        if (kind <= SizeKind.twoByteString) {
          const length = words[index + lengthWord]!;
          if (length < 0) return index;
          size = charWords + (kind === SizeKind.oneByteString ? (length + 3) >> 2 : (length + 1) >> 1);
        } else {
          // The lower half of a small integer is zero.
          const count = words[index + 3]!;
          if (words[index + 2] !== 0 || count < 0) return index;
          if (kind === SizeKind.bytes) size = 4 + ((count + 3) >> 2);
          else if (kind === SizeKind.free) size = count * size;
          else size = 4 + count * 2;
        }
        size = (size + 1) & ~1;
        if (kind === SizeKind.perhapsWords && !this.#startsObject(index + size, end)) return index;
        if (size < 2 || index + size > end) return index;
        units[row >> 2]! += size;
        rows[row + 3]!++;
        index += size;
        continue;
      }
      // Objects of one kind often follow each other: then no lookup has to wait for the size that the one before gave.
      const last = end - size;
      const first = index;
      if (index > last) return index;
      do index += size;
      while (index <= last && words[index] === map && words[index + 1] === upper);
      rows[row + 3]! += (index - first) / size;
    }
    return index;
  }

  /** If the size of a kind is a guess, an object with a known map must follow. */
  #startsObject(index: number, end: number): boolean {
    return index + 1 < end && this.#find(this.#words[index]!, this.#words[index + 1]!) >= 0;
  }

  #find(map: number, upper: number): number {
    if (map === emptyKey) return -1;
    const rows = this.#rows;
    const mask = this.#units.length - 1;
    for (let i = hash(map, upper) & mask; rows[i * rowWords] !== emptyKey; i = (i + 1) & mask)
      if (rows[i * rowWords] === map && rows[i * rowWords + 1] === upper) return i;
    return -1;
  }

  /** False if the word is not a map, or the map is already known: then the object is left to the walk. */
  #learn(low: number, high: number): boolean {
    if (low === emptyKey || this.#find(low, high) >= 0) return false;
    const map = high * 2 ** 32 + (low >>> 0);
    const type = this.#heap.findMapType(map);
    if (type === undefined) return false;
    if (this.#used * 2 >= this.#units.length) this.#grow();
    const { kind, size } = planSize(this.#heap, map, type);
    const i = this.#put(low, high);
    this.#rows[i * rowWords + 2] =
      ((size >> 2) << kindBits) | (this.#isVisited(map, type) ? SizeKind.other : kind);
    this.#type[i] = type;
    return true;
  }

  #put(low: number, high: number): number {
    const mask = this.#units.length - 1;
    let i = hash(low, high) & mask;
    while (this.#rows[i * rowWords] !== emptyKey) i = (i + 1) & mask;
    this.#rows[i * rowWords] = low;
    this.#rows[i * rowWords + 1] = high;
    this.#used++;
    return i;
  }

  #grow(): void {
    const [rows, type, units] = [this.#rows, this.#type, this.#units];
    const room = units.length * 2;
    this.#rows = new Int32Array(room * rowWords);
    this.#type = new Uint16Array(room);
    this.#units = new Float64Array(room);
    this.#used = 0;
    for (let at = 0; at < rows.length; at += rowWords) {
      if (rows[at] === emptyKey) continue;
      const i = this.#put(rows[at]!, rows[at + 1]!);
      this.#rows.set(rows.subarray(at + 2, at + rowWords), i * rowWords + 2);
      this.#type[i] = type[at / rowWords]!;
      this.#units[i] = units[at / rowWords]!;
    }
  }

  /** The counts so far. */
  *maps(): Generator<CountedMap> {
    for (let i = 0; i < this.#units.length; i++) {
      const [low = 0, high = 0, plan = 0, signed = 0] = this.#rows.subarray(i * rowWords, (i + 1) * rowWords);
      const count = signed >>> 0;
      if (count === 0) continue;
      const units = (plan & kindMask) === SizeKind.fixed ? count * (plan >> kindBits) : this.#units[i]!;
      yield { map: high * 2 ** 32 + (low >>> 0), type: this.#type[i]!, count, bytes: units * 4 };
    }
  }
}
