/**
 * All objects on V8's pages. An object is identified by the slot of its first word. Nothing is stored for an object but two
 * bits per word of memory, because a heap of a gigabyte may have 30 million objects.
 */

import type { Tagged, V8Heap } from '../../heap/heap.ts';
import { type HeapPage, walkPage } from '../../heap/heap-pages.ts';
import { HeapWords } from './heap-words.ts';
import { MapTable } from './map-table.ts';
import type { SlotSet } from './slot-set.ts';
import { StartMarker } from './start-marker.ts';

export class HeapObjects {
  readonly words: HeapWords;
  /** Objects from this slot on are on read-only pages. */
  readonly firstReadOnly: number;
  /** The slots behind objects. */
  readonly #ends: SlotSet;
  /** Objects whose size could not be determined. */
  readonly #sizeless = new Set<number>();
  readonly #listed: ReadonlyMap<number, number[]>;
  readonly maps: MapTable;

  constructor(heap: V8Heap, pages: readonly HeapPage[], readOnly: readonly HeapPage[]) {
    const { types } = heap.layout;
    this.maps = new MapTable((map) => heap.findMapType(map) ?? 0);
    this.words = new HeapWords(heap.memory, [...pages, ...readOnly]);
    const [first] = readOnly;
    this.firstReadOnly = first ? this.words.firstOfRow(this.words.slotOf(first.start)) : this.words.slotCount;
    this.words.kernel?.code.setFirstReadOnly(this.firstReadOnly);
    this.#ends = this.words.makeSet('ends');
    const fillers = new Set([types.freeSpace, types.freeSpace - 1]);
    const { jsWeakMap, jsWeakSet, map, code, shared, jsArrayBuffer, globalObject } = types;
    const listed = [jsWeakMap, jsWeakSet, map, code, shared, jsArrayBuffer, globalObject];
    this.#listed = new Map(listed.map((type) => [type, []]));
    const marker = new StartMarker(
      heap,
      this.words,
      this.#ends,
      (type) => fillers.has(type) || this.#listed.has(type),
    );
    for (const page of [...pages, ...readOnly])
      walkPage(
        heap,
        page,
        ({ object, type, size }) => {
          if (!fillers.has(type)) this.#add(object - 1, type, size);
        },
        marker,
      );
  }

  #add(address: number, type: number, size: number): void {
    const object = this.words.slotOf(address);
    this.words.starts.add(object);
    this.#ends.add(object + Math.max(1, size / 8));
    if (size === 0) this.#sizeless.add(object);
    this.#listed.get(type)?.push(object);
  }

  get sizeless(): number {
    return this.#sizeless.size;
  }

  /** Numbers of the maps of objects whose size could not be determined. */
  sizelessMaps(): Set<number> {
    return new Set(Array.from(this.#sizeless, (object) => this.mapOf(object)));
  }

  /** All objects of a type, in order. Only for the few types that are listed. */
  allOf(type: number): readonly number[] {
    return this.#listed.get(type) ?? [];
  }

  /** The first object that starts at or after a slot; -1 if there is none. */
  next(from: number): number {
    return this.words.starts.next(from);
  }

  typeOf(object: number): number {
    return this.maps.types[this.mapOf(object)]!;
  }

  /** The number of an object's map. */
  mapOf(object: number): number {
    const { words } = this;
    return this.maps.of(words.low(object), words.high(object));
  }

  /** In words. */
  sizeOf(object: number): number {
    if (this.#sizeless.size > 0 && this.#sizeless.has(object)) return 0;
    return this.#ends.next(object + 1) - object;
  }

  /** The live or dead object that contains a slot, or precedes it; -1 for none. */
  before(slot: number): number {
    return this.words.starts.previous(slot);
  }

  /** Drops the memory of the words. */
  release(): void {
    this.words.release();
    this.#ends.detach();
  }

  pointer(object: number): Tagged {
    return this.words.addressOf(object) + 1;
  }

  /** The object that a word of another object points to, with any tag; -1 for none. */
  target(object: number, word: number): number {
    const slot = object + word;
    return this.words.objectAt(this.words.low(slot), this.words.high(slot));
  }

  isReadOnly(object: number): boolean {
    return object >= this.firstReadOnly;
  }
}
