/**
 * Marks the starts of the objects of a page in one loop over its words, without a call for each object: the size of most
 * objects follows from their map, or from one length field after it. Others are left to the walk (`walkPage`).
 */

import type { Tagged, V8Heap } from '../../heap/heap.ts';
import type { HeapPage, PageRunner } from '../../heap/heap-pages.ts';
import { hash } from '../../heap/map-hash.ts';
import { planSize, SizeKind } from '../../heap/object-size.ts';
import type { HeapWords } from './heap-words.ts';
import type { SlotSet } from './slot-set.ts';

const firstRoom = 1 << 12;
const rowWords = 3;
const kindBits = 3;
const kindMask = (1 << kindBits) - 1;

export class StartMarker implements PageRunner {
  readonly #heap: V8Heap;
  readonly #slots: HeapWords;
  readonly #ends: SlotSet;
  readonly #isVisited: (type: number) => boolean;
  #words: Int32Array = new Int32Array(0);
  /** Slot of the first word, and its address. */
  #first = 0;
  #base = 0;
  #end = 0;
  /** Hash table with open addressing. Rows of three: the two halves of a map's pointer, and its plan; zero: empty. */
  #maps = new Int32Array(firstRoom * rowWords);
  #used = 0;
  /** Number of objects that were passed over. */
  count = 0;

  /** Objects of types for which `isVisited` returns true are left to the walk. */
  constructor(heap: V8Heap, slots: HeapWords, ends: SlotSet, isVisited: (type: number) => boolean) {
    this.#heap = heap;
    this.#slots = slots;
    this.#ends = ends;
    this.#isVisited = isVisited;
  }

  open({ start, end }: HeapPage): void {
    const slot = this.#slots.slotOf(start);
    const words = this.#slots.rowOfSlot(slot);
    this.#first = this.#slots.firstOfRow(slot);
    this.#base = start - (slot - this.#first) * 8;
    // A page of several rows holds a single object.
    this.#end = Math.min(end, this.#base + words.length * 4);
    this.#words = words;
  }

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
    const [words, maps, ends] = [this.#words, this.#maps, this.#ends];
    const { starts } = this.#slots;
    const mask = maps.length / rowWords - 1;
    const lengthWord = this.#heap.layout.string.length >> 2;
    const charWords = this.#heap.layout.string.chars >> 2;
    let index = from;
    while (index + 3 < end) {
      const map = words[index]!;
      const upper = words[index + 1]!;
      let row = (hash(map, upper) & mask) * rowWords;
      while (maps[row] !== map || maps[row + 1] !== upper) {
        if (maps[row] === 0) return index;
        row = (((row / rowWords) | 0) + 1) & mask;
        row *= rowWords;
      }
      const plan = maps[row + 2]!;
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
          else size = 4 + count * 2;
        }
        size = (size + 1) & ~1;
        if (kind === SizeKind.perhapsWords && !this.#startsObject(index + size, end)) return index;
      }
      if (size < 2 || index + size > end) return index;
      starts.add(this.#first + (index >> 1));
      index += size;
      ends.add(this.#first + (index >> 1));
      this.count++;
    }
    return index;
  }

  /** If the size of a kind is a guess, an object with a known map must follow. */
  #startsObject(index: number, end: number): boolean {
    return index + 1 < end && this.#isKnown(this.#words[index]!, this.#words[index + 1]!);
  }

  #isKnown(low: number, high: number): boolean {
    if (low === 0) return false;
    const maps = this.#maps;
    const mask = maps.length / rowWords - 1;
    for (let i = hash(low, high) & mask; maps[i * rowWords] !== 0; i = (i + 1) & mask)
      if (maps[i * rowWords] === low && maps[i * rowWords + 1] === high) return true;
    return false;
  }

  /** False if the word is not a map, or if its map is known already: such an object is left to the walk. */
  #learn(low: number, high: number): boolean {
    if (low === 0 || this.#isKnown(low, high)) return false;
    const map = high * 2 ** 32 + (low >>> 0);
    const type = this.#heap.findMapType(map);
    if (type === undefined) return false;
    this.#put(low, high, this.#planOf(map, type));
    return true;
  }

  #planOf(map: Tagged, type: number): number {
    const { kind, size } = planSize(this.#heap, map, type);
    const isLeft = this.#isVisited(type) || kind === SizeKind.free;
    return ((size >> 2) << kindBits) | (isLeft ? SizeKind.other : kind);
  }

  #put(low: number, high: number, plan: number): void {
    if (this.#used * 2 * rowWords >= this.#maps.length) this.#grow();
    const maps = this.#maps;
    const mask = maps.length / rowWords - 1;
    let i = hash(low, high) & mask;
    while (maps[i * rowWords] !== 0) i = (i + 1) & mask;
    maps.set([low, high, plan], i * rowWords);
    this.#used++;
  }

  #grow(): void {
    const old = this.#maps;
    this.#maps = new Int32Array(old.length * 2);
    this.#used = 0;
    for (let at = 0; at < old.length; at += rowWords)
      if (old[at] !== 0) this.#put(old[at]!, old[at + 1]!, old[at + 2]!);
  }
}
