/** All objects on V8's pages, numbered in page order, with their slot, size, and instance type. */

import type { Tagged, V8Heap } from '../heap/heap.ts';
import { type HeapPage, walkPage } from '../heap/heap-pages.ts';
import { HeapWords } from './heap-words.ts';

const firstRoom = 1 << 16;

export class HeapObjects {
  readonly words: HeapWords;
  count = 0;
  /** Number of objects whose size could not be determined. */
  sizeless = 0;
  slot = new Uint32Array(firstRoom);
  /** In words. */
  size = new Uint32Array(firstRoom);
  type = new Uint16Array(firstRoom);
  /** Objects from this number on are on read-only pages. */
  firstReadOnly = 0;
  readonly #fillers: ReadonlySet<number>;

  constructor(heap: V8Heap, pages: readonly HeapPage[], readOnly: readonly HeapPage[]) {
    const { types } = heap.layout;
    this.#fillers = new Set([types.freeSpace, types.freeSpace - 1]);
    this.words = new HeapWords(heap.memory, [...pages, ...readOnly]);
    for (const page of pages) this.#addPage(heap, page);
    this.firstReadOnly = this.count;
    for (const page of readOnly) this.#addPage(heap, page);
    this.words.finish();
  }

  #addPage(heap: V8Heap, page: HeapPage): void {
    walkPage(heap, page, ({ object, type, size }) => {
      if (this.#fillers.has(type)) return;
      if (this.count === this.slot.length) this.#grow();
      const slot = this.words.slotOf(object - 1);
      this.words.addObject(slot);
      if (size === 0) this.sizeless++;
      this.slot[this.count] = slot;
      this.size[this.count] = size / 8;
      this.type[this.count] = type;
      this.count++;
    });
  }

  #grow(): void {
    const room = this.slot.length * 2;
    const [slot, size, type] = [new Uint32Array(room), new Uint32Array(room), new Uint16Array(room)];
    slot.set(this.slot);
    size.set(this.size);
    type.set(this.type);
    [this.slot, this.size, this.type] = [slot, size, type];
  }

  pointer(object: number): Tagged {
    return this.words.addressOf(this.slot[object]!) + 1;
  }

  /** The object that a word of another object points to, with any tag; -1 for none. */
  target(object: number, word: number): number {
    const slot = this.slot[object]! + word;
    return this.words.objectAt(this.words.low(slot), this.words.high(slot));
  }

  isReadOnly(object: number): boolean {
    return object >= this.firstReadOnly;
  }
}
