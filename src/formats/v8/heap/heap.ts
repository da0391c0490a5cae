/**
 * Tagged values in a dead V8's memory. A value is a plain number: a heap pointer is odd, a small integer ("Smi") is its value
 * times 2^32. Every read may throw AbsentMemory. Only the types of maps are cached.
 */
import type { MemoryReader } from '../../../bytes/memory.ts';
import type { V8Layout } from './object-layout.ts';

/** A 64-bit word as returned by ProcessMemory.readWord. */
export type Tagged = number;

const smiUnit = 2 ** 32;
const maxKnownMaps = 1 << 18;

/** Pointers that represent a text instead of an object. */
export interface ValueNotes {
  findNote(value: Tagged): string | undefined;
}

/** Whether a string is another text than the one that V8 hashed. */
export interface TextChecker {
  contradicts(heap: V8Heap, value: Tagged): boolean;
}

export class V8Heap {
  readonly memory: MemoryReader;
  readonly layout: V8Layout;
  readonly notes: ValueNotes | undefined;
  readonly texts: TextChecker | undefined;
  readonly #types = new Map<number, number>();

  constructor(memory: MemoryReader, layout: V8Layout, notes?: ValueNotes, texts?: TextChecker) {
    this.memory = memory;
    this.layout = layout;
    this.notes = notes;
    this.texts = texts;
  }

  isSmi(value: Tagged): boolean {
    return value % smiUnit === 0;
  }

  smi(value: Tagged): number {
    return value / smiUnit;
  }

  toSmi(value: number): Tagged {
    return value * smiUnit;
  }

  isPointer(value: Tagged): boolean {
    return value > 4096 && value < 2 ** 48 && value % 2 === 1;
  }

  /** The word at a byte offset in an object. */
  field(object: Tagged, offset: number): Tagged {
    return this.memory.readWord(object - 1 + offset);
  }

  /** A field that should contain a small integer; undefined if it does not. */
  findSmi(object: Tagged, offset: number): number | undefined {
    const value = this.field(object, offset);
    return this.isSmi(value) ? this.smi(value) : undefined;
  }

  map(object: Tagged): Tagged {
    const word = this.field(object, 0);
    return this.isForwarding(word) ? this.memory.readWord(word) : word;
  }

  /**
   * Whether the first word of an object is a forwarding address, the place to which a garbage collection has moved the
   * object, instead of a map. The rest of the object is still there. Source: MapWord in src/objects/map-word.h of V8.
   */
  isForwarding(word: number): boolean {
    return word > 4096 && word < 2 ** 48 && word % 8 === 0 && !this.isSmi(word);
  }

  /** Instance type of a map, checked: a map's own map is of type MAP. Undefined if it is not a map. */
  findMapType(map: Tagged): number | undefined {
    if (!this.isPointer(map)) return undefined;
    const known = this.#types.get(map);
    if (known !== undefined) return known < 0 ? undefined : known;
    const type = this.#readMapType(map);
    // A walk over stale memory asks for many words that are not maps.
    if (this.#types.size >= maxKnownMaps) this.#types.clear();
    this.#types.set(map, type ?? -1);
    return type;
  }

  /** Instance type of an object; undefined if the value is not an object. */
  findType(value: Tagged): number | undefined {
    if (!this.isPointer(value)) return undefined;
    const word = this.memory.findWord(value - 1);
    const map = word !== undefined && this.isForwarding(word) ? this.memory.findWord(word) : word;
    return map === undefined ? undefined : this.findMapType(map);
  }

  isType(value: Tagged, type: number | undefined): boolean {
    return type !== undefined && this.findType(value) === type;
  }

  isInRange(value: Tagged, [first, last]: readonly [number, number]): boolean {
    const type = this.findType(value);
    return type !== undefined && type >= first && type <= last;
  }

  isFunction(value: Tagged): boolean {
    return this.isInRange(value, this.layout.types.function);
  }

  isContext(value: Tagged): boolean {
    return this.isInRange(value, this.layout.types.context);
  }

  /** The bytes of a byte array, of the normal or the trusted heap. */
  findByteArray(value: Tagged): Uint8Array | undefined {
    const { types, fixedArray } = this.layout;
    if (!this.isType(value, types.byteArray) && !this.isType(value, types.trustedByteArray)) return undefined;
    const length = this.findSmi(value, fixedArray.length);
    if (length === undefined || length < 0) return undefined;
    return this.memory.readBytes(value - 1 + fixedArray.data, length);
  }

  #readMapType(map: Tagged): number | undefined {
    const { instanceType } = this.layout.map;
    const metaMap = this.memory.findWord(map - 1);
    if (metaMap === undefined || !this.isPointer(metaMap)) return undefined;
    if (!this.memory.has(metaMap - 1 + instanceType, 2) || !this.memory.has(map - 1 + instanceType, 2))
      return undefined;
    if (this.memory.readUint16(metaMap - 1 + instanceType) !== this.layout.types.map) return undefined;
    return this.memory.readUint16(map - 1 + instanceType);
  }
}
