/** The object whose references are being read: its words, which of them already have a named edge, and its edges. */
import type { V8Heap } from '../heap/heap.ts';
import { EdgeList } from './edges/edge-list.ts';
import { type NamedWords, Trait } from './named-words.ts';
import type { Names } from './names.ts';
import { Edge, type ObjectKinds } from './object-kinds.ts';
import type { HeapObjects } from './objects/heap-objects.ts';

const weakBits = 3;
const linesWithoutHoles = 1400;

/** Names of edges that most objects have: text numbers. */
export interface UsualNames {
  map: number;
  properties: number;
  elements: number;
  prototype: number;
  code: number;
}

/** Words of an object whose marks fit into one number. */
const maskWords = 32;

export class ObjectCursor {
  readonly heap: V8Heap;
  readonly objects: HeapObjects;
  readonly kinds: ObjectKinds;
  readonly names: Names;
  readonly usual: UsualNames;
  object = 0;
  type = 0;
  /** Number of its map. */
  map = 0;
  /** Number of words of the object. */
  words = 0;
  readonly edges = new EdgeList();
  /** The row of memory with the object's first words, where in it they are, and how many. */
  #row: Int32Array = new Int32Array(0);
  #base = 0;
  #near = 0;
  /** One byte per read-only slot. */
  readonly inessential: Uint8Array;
  readonly #nameOf = new Map<string, number>();
  /** Words that have a named edge, or must not get an edge: a bit for each of the first, a byte for each of the others. */
  #seenMask = 0;
  #seen = new Uint8Array(1 << 12);
  #lastSeen = 0;

  constructor(heap: V8Heap, objects: HeapObjects, kinds: ObjectKinds, names: Names) {
    this.heap = heap;
    this.objects = objects;
    this.kinds = kinds;
    this.names = names;
    this.inessential = findInessential(heap, objects);
    this.usual = {
      map: names.of('map'),
      properties: names.of('properties'),
      elements: names.of('elements'),
      prototype: names.of('__proto__'),
      code: names.of('code'),
    };
  }

  begin(object: number, type: number, map: number): void {
    const { words } = this.objects;
    this.object = object;
    this.type = type;
    this.map = map;
    this.words = this.objects.sizeOf(object);
    this.#row = words.rowOfSlot(object);
    const first = object - words.firstOfRow(object);
    this.#base = first * 2;
    this.#near = this.#row.length / 2 - first;
    this.edges.count = 0;
    this.#seenMask = 0;
    if (this.#lastSeen > 0) this.#seen.fill(0, 0, this.#lastSeen + 1);
    this.#lastSeen = 0;
    if (this.#seen.length < this.words) this.#seen = new Uint8Array(this.words * 2);
  }

  /** The edges of an object that has at most one, which leads to `target`; -1 for none. */
  only(type: number, name: number, target: number): EdgeList {
    this.edges.count = 0;
    if (target >= 0) this.edges.add(type, name, target);
    return this.edges;
  }

  get typeName(): string {
    return this.kinds.typeName(this.type);
  }

  text(text: string): number {
    const known = this.#nameOf.get(text);
    if (known !== undefined) return known;
    const number = this.names.of(text);
    this.#nameOf.set(text, number);
    return number;
  }

  /** `name`: text number, or an index if the type is element or hidden. */
  emit(type: number, name: number, target: number): void {
    this.edges.add(type, name, target);
  }

  /** The object that a word points to; -1 for none. */
  targetAt(word: number): number {
    if (word >= this.#near) return this.objects.target(this.object, word);
    const at = this.#base + word * 2;
    return this.objects.words.objectAt(this.#row[at]!, this.#row[at + 1]!);
  }

  isWeak(word: number): boolean {
    const low =
      word < this.#near ? this.#row[this.#base + word * 2]! : this.objects.words.low(this.object + word);
    return (low & weakBits) === weakBits;
  }

  see(word: number): void {
    if (word < maskWords) {
      this.#seenMask |= 1 << word;
      return;
    }
    this.#seen[word] = 1;
    if (word > this.#lastSeen) this.#lastSeen = word;
  }

  /** V8's profiler omits references to constants that every heap has. */
  isEssential(target: number): boolean {
    const { firstReadOnly } = this.objects;
    return target < firstReadOnly || this.inessential[target - firstReadOnly] === 0;
  }

  /** Adds an edge for each of these words that refers to an object; a weak one for an internal word with the weak tag. */
  follow({ count, words, types, names, traits }: NamedWords): void {
    const [row, base, near, edges] = [this.#row, this.#base, Math.min(this.#near, this.words), this.edges];
    const all = this.objects.words;
    for (let i = 0; i < count; i++) {
      const word = words[i]!;
      if (word >= near) {
        this.#followFar(word, types[i]!, names[i]!, traits[i]!);
        continue;
      }
      const low = row[base + word * 2]!;
      const target = all.objectAt(low, row[base + word * 2 + 1]!);
      if (target < 0) continue;
      const trait = traits[i]!;
      if ((trait & Trait.withConstants) === 0 && !this.isEssential(target)) continue;
      if ((trait & Trait.twice) === 0) this.see(word);
      const isWeak = types[i] === Edge.internal && (low & weakBits) === weakBits;
      edges.add(isWeak ? Edge.weak : types[i]!, names[i]!, target);
    }
  }

  /** For a word that is not in the row of the first. */
  #followFar(word: number, type: number, name: number, trait: number): void {
    const target = word < this.words ? this.targetAt(word) : -1;
    if (target < 0 || ((trait & Trait.withConstants) === 0 && !this.isEssential(target))) return;
    if ((trait & Trait.twice) === 0) this.see(word);
    this.emit(type === Edge.internal && this.isWeak(word) ? Edge.weak : type, name, target);
  }

  /** Adds a named edge for a word; weak if the word has the weak tag. */
  internal(word: number, name: number | string, isWeak = false): void {
    const target = word < this.words ? this.targetAt(word) : -1;
    if (target < 0 || !this.isEssential(target)) return;
    this.see(word);
    this.emit(
      isWeak || this.isWeak(word) ? Edge.weak : Edge.internal,
      typeof name === 'string' ? this.text(name) : name,
      target,
    );
  }

  /** Adds an edge named by its index for each word from `first`. */
  indexed(first: number): void {
    const [row, base, near, edges] = [this.#row, this.#base, this.#near, this.edges];
    const { words, firstReadOnly } = this.objects;
    const isInessential = this.inessential;
    const end = this.words;
    for (let word = first; word < end; word++) {
      const at = base + word * 2;
      const target = word < near ? words.objectAt(row[at]!, row[at + 1]!) : this.targetAt(word);
      if (target < 0 || (target >= firstReadOnly && isInessential[target - firstReadOnly] === 1)) continue;
      this.see(word);
      edges.add(this.isWeak(word) ? Edge.weak : Edge.internal, this.names.ofIndex(word - first), target);
    }
  }

  /** Adds edges for the remaining words up to `end`. Strong references become hidden edges with consecutive numbers. */
  rest(end = this.words): void {
    const [row, base, near, mask] = [this.#row, this.#base, this.#near, this.#seenMask];
    const { words } = this.objects;
    let index = 0;
    for (let word = 0; word < end; word++) {
      if (word < maskWords ? ((mask >>> word) & 1) === 1 : this.#seen[word] === 1) continue;
      const at = base + word * 2;
      const target = word < near ? words.objectAt(row[at]!, row[at + 1]!) : this.targetAt(word);
      if (target < 0) continue;
      const name = index++;
      if (!this.isEssential(target)) continue;
      if (this.isWeak(word)) this.emit(Edge.weak, this.names.ofIndex(name), target);
      else this.emit(Edge.hidden, name, target);
    }
  }
}

/** One byte per read-only slot. V8's profiler omits references to constants that every heap has. */
function findInessential(heap: V8Heap, objects: HeapObjects): Uint8Array {
  const { types } = heap.layout;
  const marks = new Uint8Array(objects.words.slotCount - objects.firstReadOnly);
  const nameOf = (type: number) => heap.layout.instanceTypes.get(type);
  const plainMaps = new Set([types.propertyCell, types.shared, types.freeSpace, types.freeSpace - 1]);
  let isFixedArrayMet = false;
  let isHoleMet = false;
  const descriptors = new Set(
    heap.layout.line < 1200 ? [types.descriptorArray, types.descriptorArray + 1] : [types.descriptorArray],
  );
  const empty = new Set([types.fixedArray, types.byteArray, types.weakFixedArray, ...descriptors]);
  for (let object = objects.next(objects.firstReadOnly); object >= 0; object = objects.next(object + 1)) {
    const type = objects.typeOf(object);
    // Before V8 14 only the first of V8's markers for missing values, the hole in arrays, is left out.
    const isTheHole = type === types.hole && (!isHoleMet || heap.layout.line >= linesWithoutHoles);
    if (isTheHole) isHoleMet = true;
    const isConstant = type === types.oddball || isTheHole;
    const isEmpty = empty.has(type) && objects.sizeOf(object) <= (descriptors.has(type) ? 3 : 2);
    const described =
      type === types.map
        ? heap.memory.readUint16(objects.pointer(object) - 1 + heap.layout.map.instanceType)
        : -1;
    const isFirst = described === types.fixedArray && !isFixedArrayMet;
    if (isFirst) isFixedArrayMet = true;
    const isPlainMap = isFirst || plainMaps.has(described) || nameOf(described) === 'CELL';
    if (isConstant || isEmpty || isPlainMap) marks[object - objects.firstReadOnly] = 1;
  }
  return marks;
}
