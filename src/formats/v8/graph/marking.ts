/** Which objects are live: reachable from the roots by strong references. */

import type { V8Heap } from '../heap/heap.ts';
import type { HeapKernel } from './kernel/heap-kernel.ts';
import { objectsAtOnce } from './kernel/heap-kernel.ts';
import { Edge, type ObjectKinds } from './object-kinds.ts';
import type { HeapObjects } from './objects/heap-objects.ts';
import type { SlotSet } from './objects/slot-set.ts';
import type { Ephemeron, ReferenceReader } from './references.ts';

/** How to find what an object of a type refers to. The kernel knows those from `allWords` to `function`. */
const Way = {
  unknown: 0,
  /** Every word with a strong tag. */
  allWords: 1,
  mapOnly: 2,
  /** Every word, and what only its references tell. */
  function: 3,
  /** By its references. */
  references: 4,
} as const;

/** What the kernel returns if no object is left, and if it is to be called again. */
const [leftNone, leftSome] = [-1, -2];
const firstRoom = 1 << 16;
const [strongTag, tagMask] = [1, 3];

export class Marking {
  readonly live: SlotSet;
  /** Live tables of weak maps and sets. */
  readonly ephemeronTables: number[] = [];
  readonly #heap: V8Heap;
  readonly #objects: HeapObjects;
  readonly #kinds: ObjectKinds;
  readonly #references: ReferenceReader;
  /** By the number of the map. */
  #ways = new Uint8Array(0);
  /** Marked objects whose references have not been followed. */
  #open = new Int32Array(firstRoom);
  #openCount = 0;
  readonly #waiting: Ephemeron[] = [];
  readonly #kernel: HeapKernel | undefined;

  constructor(heap: V8Heap, objects: HeapObjects, kinds: ObjectKinds, references: ReferenceReader) {
    this.#heap = heap;
    this.#objects = objects;
    this.#kinds = kinds;
    this.#references = references;
    this.live = objects.words.makeSet('live');
    this.#kernel = objects.words.kernel;
    if (this.#kernel) this.#kernel.answers.spill = (object) => this.#push(object);
  }

  /** How the kernel finds what the objects of a map refer to; by its number. */
  kernelWay(map: number): number {
    return this.#findWay(this.#objects.maps.types[map]!);
  }

  add(object: number): void {
    if (this.#kernel) {
      this.#kernel.code.mark(object);
      return;
    }
    if (this.live.has(object)) return;
    this.live.add(object);
    this.#push(object);
  }

  #push(object: number): void {
    if (this.#openCount === this.#open.length) {
      const larger = new Int32Array(Math.ceil(this.#openCount * 1.5));
      larger.set(this.#open);
      this.#open = larger;
    }
    this.#open[this.#openCount++] = object;
  }

  finish(): void {
    this.#references.onEphemeron = (entry) => this.#waiting.push(entry);
    let isDone: boolean;
    do {
      this.#followAll();
      isDone = true;
      for (const { key, value } of this.#waiting) {
        if (!this.live.has(key) || this.live.has(value)) continue;
        this.add(value);
        isDone = false;
      }
    } while (!isDone);
    this.#references.onEphemeron = () => {};
    this.#open = new Int32Array(0);
  }

  #followAll(): void {
    const code = this.#kernel?.code;
    do {
      while (this.#openCount > 0) this.#follow(this.#open[--this.#openCount]!);
      // The kernel returns objects that it leaves to us, or a negative number.
      for (let left = code ? leftSome : leftNone; left !== leftNone; ) {
        left = code!.follow(objectsAtOnce, this.#references.hasCodes);
        if (left >= 0) this.#follow(left);
      }
    } while (this.#openCount > 0);
  }

  #follow(object: number): void {
    const { words } = this.#objects;
    const map = this.#objects.mapOf(object);
    if (map >= this.#ways.length) this.#growWays();
    const way = this.#ways[map]! || this.#wayOf(map);
    if (way === Way.references) {
      if (this.#kinds.of(this.#objects.typeOf(object)).shape === 'ephemerons')
        this.ephemeronTables.push(object);
      const { count, types, targets } = this.#references.visit(object);
      for (let i = 0; i < count; i++) if (types[i] !== Edge.weak) this.add(targets[i]!);
      return;
    }
    const end = way === Way.mapOnly ? object + 1 : object + this.#objects.sizeOf(object);
    for (let slot = object; slot < end; ) {
      const row = words.rowOfSlot(slot);
      const first = words.firstOfRow(slot);
      const last = Math.min((end - first) * 2, row.length);
      for (let at = (slot - first) * 2; at < last; at += 2) {
        const low = row[at]!;
        if ((low & tagMask) !== strongTag) continue;
        const target = words.objectAt(low, row[at + 1]!);
        if (target >= 0) this.add(target);
      }
      slot = first + row.length / 2;
    }
    if (way === Way.function) {
      const code = this.#references.codeOf(object);
      if (code >= 0) this.add(code);
    }
  }

  #wayOf(map: number): number {
    const way = this.#findWay(this.#objects.maps.types[map]!);
    this.#ways[map] = way;
    return way;
  }

  #growWays(): void {
    const ways = new Uint8Array(this.#objects.maps.types.length);
    ways.set(this.#ways);
    this.#ways = ways;
  }

  #findWay(type: number): number {
    const { shape, fields } = this.#kinds.of(type);
    if (shape === 'raw') return Way.mapOnly;
    const isPlain = /^(?:plain|js-object|array|weak-array|descriptors|map|context)$/.test(shape);
    if (!isPlain || this.#kinds.isNativeContext(type) || fields.some(({ isWeak }) => isWeak))
      return Way.references;
    const [first, last] = this.#heap.layout.types.function;
    return type >= first && type <= last ? Way.function : Way.allWords;
  }
}
