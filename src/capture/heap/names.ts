/**
 * Counts the names of 1 KB that V8 would keep for a snapshot (StringsStorage formats each into a buffer of that size): one
 * for each number of a place in its longest tables, and in its table of internalized strings; three for each entry of a
 * WeakMap. V8's statistics don't contain these, so the objects are listed. All collections are examined, and a sample of the
 * rest. Not seen: objects without a prototype, and strings that are only held by code, closures or Sets.
 */
import { type AskV8, askV8 } from '../host/ask-v8.ts';
import { Chance } from './chance.ts';
import { DistinctStrings } from './distinct-strings.ts';
import { listObjects } from './list-objects.ts';
import { countPlaces, type NumberedTable } from './name-tables.ts';

export interface HeapNames {
  /** Numbers, in addition to those of a bare Node. */
  numbers: number;
  /** Internalized strings, in addition to those of a bare Node. */
  strings: number;
  weakEntries: number;
  /** Objects for fractional numbers: V8 counts them, but a snapshot has no node for them. */
  boxedNumbers: number;
  /** Bytes of those tables that are in the large-object space. */
  tableBytes: number;
}

const wordBytes = 8;
const leastLargeBytes = 128 * 1024;
/** The internalized strings of a bare Node. */
const ownStrings = 9_000;
/** The numbers of shorter tables are covered by those of the internalized strings. */
const leastLong = 1000;
const sampledObjects = 20_000;
const membersOfSampled = 8;
const membersOfLong = 256;
const mostPlaces = 500;
const elsewhere = 'elsewhere';
const entriesOfMap = Map.prototype.entries;
const nextOfMap = new Map().entries().next;
const sizeOfMap = Object.getOwnPropertyDescriptor(Map.prototype, 'size')!.get!;
const sizeOfSet = Object.getOwnPropertyDescriptor(Set.prototype, 'size')!.get!;

/** Undefined if the objects could not be listed, or V8 can't be queried (ask-v8.ts). */
export function countHeapNames(): HeapNames | undefined {
  let names: HeapNames | undefined;
  try {
    listObjects((objects) => {
      names = askV8((v8) => new Look(v8).at(objects));
    });
  } catch {
    return undefined;
  }
  return names;
}

class Look {
  readonly #v8: AskV8;
  readonly #types = process.getBuiltinModule('node:util').types;
  readonly #tables: NumberedTable[] = [];
  /**
   * By the place where they were found: otherwise many distinct strings and a few shared ones would distort each other's
   * estimate.
   */
  readonly #ofSample = new Map<string, DistinctStrings>();
  /** The strings seen in long tables, all of which are examined, to recognize them in the next one. */
  readonly #known = new DistinctStrings();
  #ofLong = 0;
  #weakEntries = 0;
  #boxedNumbers = 0;
  #step = 1;

  constructor(v8: AskV8) {
    this.#v8 = v8;
  }

  at(objects: object[]): HeapNames {
    this.#step = Math.max(1, Math.floor(objects.length / sampledObjects));
    const chance = new Chance(this.#step);
    let nextSampled = 0;
    for (let at = 0; at < objects.length; at++) {
      const object = objects[at]!;
      const isLong = this.#lookAtTable(object);
      if (at < nextSampled) continue;
      nextSampled = at + chance.step();
      if (!isLong && !ArrayBuffer.isView(object)) this.#lookAtSampled(object);
    }
    const ofSample = [...this.#ofSample.values()].reduce((sum, { estimate }) => sum + estimate, 0);
    const strings = Math.round(this.#ofLong) + ofSample;
    const all = ownStrings + strings;
    const numbers = countPlaces([...this.#tables, { span: all, filled: all }]);
    const tableBytes = this.#tables.reduce(
      (sum, { span }) => sum + (span * wordBytes < leastLargeBytes ? 0 : span * wordBytes),
      0,
    );
    return {
      numbers: numbers - ownStrings,
      strings,
      weakEntries: this.#weakEntries,
      boxedNumbers: Math.round(this.#boxedNumbers),
      tableBytes,
    };
  }

  /** Returns whether the object has a table that is long enough to matter by itself. */
  #lookAtTable(object: object): boolean {
    if (Array.isArray(object)) return this.#lookAtArray(object);
    if (this.#v8.isSparse(object)) return this.#lookAtSparse(object);
    if (!this.#v8.isFast(object)) return this.#lookAtDictionary(object);
    const types = this.#types;
    if (types.isMap(object)) return this.#lookAtMap(object);
    if (types.isSet(object)) return this.#lookAtSet(object);
    if (types.isWeakMap(object) || types.isWeakSet(object)) this.#lookAtWeak(object);
    return false;
  }

  #lookAtArray(array: unknown[]): boolean {
    if (array.length < leastLong) return false;
    if (this.#v8.isSparse(array)) return this.#lookAtSparse(array);
    const values = this.#members(array.length, membersOfLong).map(
      (at) => Object.getOwnPropertyDescriptor(array, at)?.value,
    );
    this.#seeLong(values, array.length);
    this.#tables.push({ span: array.length, filled: Math.round(array.length * shareOf(values, hasNode)) });
    return true;
  }

  /** The key of an entry is a number, so only the value has a node. */
  #lookAtSparse(object: object): boolean {
    const entries = Object.keys(object).length;
    if (entries < leastLong) return false;
    this.#tables.push({ span: 3 * tableSize(entries), filled: entries });
    return true;
  }

  #lookAtDictionary(object: object): boolean {
    const keys = Object.keys(object);
    if (keys.length < leastLong) return false;
    const looked = this.#members(keys.length, membersOfLong).map((at) => keys[at]!);
    this.#seeLong(looked, keys.length);
    // Each place has key, value and details.
    this.#tables.push({ span: 3 * tableSize(keys.length), filled: 2 * keys.length });
    return true;
  }

  #lookAtMap(map: object): boolean {
    const size: number = Reflect.apply(sizeOfMap, map, []);
    if (size < leastLong) return false;
    const values = this.#entries(map, membersOfLong);
    this.#seeLong(values, 2 * size);
    // Each place has key, value and chain, after the buckets: OrderedHashMap.
    this.#tables.push({ span: 3.5 * size, filled: Math.round(2 * size * shareOf(values, hasNode)) });
    return true;
  }

  #lookAtSet(set: object): boolean {
    const size: number = Reflect.apply(sizeOfSet, set, []);
    if (size < leastLong) return false;
    this.#tables.push({ span: 2.5 * size, filled: size });
    return true;
  }

  #lookAtWeak(collection: WeakMap<object, unknown> | WeakSet<object>): void {
    const entries = this.#v8.weakEntries(collection);
    this.#weakEntries += entries;
    if (entries >= leastLong) this.#tables.push({ span: 2 * tableSize(entries), filled: 2 * entries });
  }

  #lookAtSampled(object: object): void {
    if (this.#types.isMap(object)) {
      const values = this.#entries(object, membersOfSampled);
      const size: number = Reflect.apply(sizeOfMap, object, []);
      for (const value of values) this.#seeSampled(value, (2 * size) / values.length, placeIn('Map', size));
    }
    const keys = Object.keys(object);
    const looked = this.#members(keys.length, membersOfSampled);
    const weight = keys.length / looked.length;
    const isArray = Array.isArray(object);
    const place = isArray ? placeIn('array', keys.length) : this.#v8.isFast(object) ? 'keys' : 'own keys';
    for (const at of looked) {
      const key = keys[at]!;
      const value = Object.getOwnPropertyDescriptor(object, key)?.value;
      this.#seeSampled(value, weight, isArray ? place : `.${key}`);
      if (isArray) continue;
      this.#seeSampled(key, weight, place);
      if (isBoxed(value)) this.#boxedNumbers += weight * this.#step;
    }
  }

  #seeSampled(value: unknown, weight: number, place: string): void {
    if (!this.#isInternalized(value)) return;
    const where = this.#ofSample.has(place) || this.#ofSample.size < mostPlaces ? place : elsewhere;
    const strings = this.#ofSample.get(where) ?? new DistinctStrings();
    this.#ofSample.set(where, strings);
    strings.see(value, weight * this.#step);
  }

  /** Adds the distinct strings among those that were examined, less the share that was in other tables. */
  #seeLong(looked: unknown[], count: number): void {
    const own = new DistinctStrings();
    const strings = looked.filter((value) => this.#isInternalized(value));
    let fresh = 0;
    for (const text of strings) {
      if (own.see(text, count / looked.length) && this.#known.see(text, 1)) fresh++;
    }
    if (fresh > 0) this.#ofLong += (own.estimate * fresh) / new Set(strings).size;
  }

  #isInternalized(value: unknown): value is string {
    return typeof value === 'string' && this.#v8.isInternalized(value);
  }

  /** Up to `most` of the indices, evenly spaced. */
  #members(count: number, most: number): number[] {
    const looked = Math.min(count, most);
    return Array.from({ length: looked }, (_, at) => Math.floor((at * count) / looked));
  }

  /** Keys and values of the first entries of a map. */
  #entries(map: object, most: number): unknown[] {
    const looked = Math.min(Reflect.apply(sizeOfMap, map, []), most);
    const entries = Reflect.apply(entriesOfMap, map, []);
    const values: unknown[] = [];
    for (let at = 0; at < looked; at++) values.push(...(Reflect.apply(nextOfMap, entries, []).value ?? []));
    return values;
  }
}

/** Collections of similar size are assumed to be of the same kind. */
function placeIn(collection: string, size: number): string {
  return `${collection} ${Math.ceil(Math.log2(size))}`;
}

function shareOf(values: unknown[], is: (value: unknown) => boolean): number {
  return values.length > 0 ? values.filter(is).length / values.length : 0;
}

/** Numbers in arrays and holes have no node. */
function hasNode(value: unknown): boolean {
  return value !== undefined && typeof value !== 'number';
}

/** A number that is not a small integer, which would be stored in its holder. */
function isBoxed(value: unknown): boolean {
  return typeof value === 'number' && value !== (value | 0);
}

/** Capacity that V8 allocates: HashTable::ComputeCapacity. */
function tableSize(entries: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(4, entries * 1.5)));
}
