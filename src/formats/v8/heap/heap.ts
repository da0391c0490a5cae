/**
 * Tagged values in a dead V8's memory. A value is a plain number: a heap pointer is odd, a small integer ("Smi") is
 * its value times 2^32. Every read may throw AbsentMemory. Only the types of maps are kept.
 */
import type { MemoryReader } from '../../../bytes/memory.ts';
import type { V8Layout } from './object-layout.ts';

/** A 64-bit word as ProcessMemory.readWord gives it. */
export type Tagged = number;

const smiUnit = 2 ** 32;
const maxKnownMaps = 1 << 18;

/** Pointers that stand for a text instead of an object. */
export interface ValueNotes {
  findNote(value: Tagged): string | undefined;
}

export class V8Heap {
  readonly memory: MemoryReader;
  readonly layout: V8Layout;
  readonly notes: ValueNotes | undefined;
  readonly #types = new Map<number, number>();

  constructor(memory: MemoryReader, layout: V8Layout, notes?: ValueNotes) {
    this.memory = memory;
    this.layout = layout;
    this.notes = notes;
  }

  isSmi(value: Tagged): boolean {
    return value % smiUnit === 0;
  }

  smi(value: Tagged): number {
    return value / smiUnit;
  }

  isPointer(value: Tagged): boolean {
    return value > 4096 && value < 2 ** 48 && value % 2 === 1;
  }

  /** The word at a byte offset in an object. */
  field(object: Tagged, offset: number): Tagged {
    return this.memory.readWord(object - 1 + offset);
  }

  /** A field that must hold a small integer; undefined where it holds something else. */
  findSmi(object: Tagged, offset: number): number | undefined {
    const value = this.field(object, offset);
    return this.isSmi(value) ? this.smi(value) : undefined;
  }

  map(object: Tagged): Tagged {
    const word = this.field(object, 0);
    return this.isForwarding(word) ? this.memory.readWord(word) : word;
  }

  /**
   * Whether the first word of an object is no map but says where a collection of garbage has moved it; all else of
   * it is still there. Source: MapWord in src/objects/map-word.h of V8.
   */
  isForwarding(word: number): boolean {
    return word > 4096 && word < 2 ** 48 && word % 8 === 0 && !this.isSmi(word);
  }

  /** Instance type of a map, checked: a map's own map is of type MAP. Undefined for what is no map. */
  findMapType(map: Tagged): number | undefined {
    if (!this.isPointer(map)) return undefined;
    const known = this.#types.get(map);
    if (known !== undefined) return known < 0 ? undefined : known;
    const type = this.#readMapType(map);
    // A walk over garbage asks about many words that are no maps.
    if (this.#types.size >= maxKnownMaps) this.#types.clear();
    this.#types.set(map, type ?? -1);
    return type;
  }

  /** Undefined for what is no object. */
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

  /** A byte array of either of V8's two heaps. */
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
