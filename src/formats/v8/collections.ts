/**
 * Reads entries of Map, Set, WeakMap and WeakSet from their hash tables. Sources: src/objects/ordered-hash-table.h and
 * hash-table.h of V8.
 */
import type { Tagged, V8Heap } from './heap/heap.ts';
import { isStringType } from './strings.ts';

export interface Collection {
  /** The size that the program would see. */
  count: number;
  /** `value`: only in maps. */
  entries: { key: Tagged; value?: Tagged }[];
}

/** Header of a weak table: number of entries, number of deleted entries, capacity. */
const weakPrefix = 3;

/**
 * The first `limit` entries in insertion order; entries of weak collections are in no particular order. Undefined for other
 * objects.
 */
export function readCollection(heap: V8Heap, object: Tagged, limit: number): Collection | undefined {
  const { types } = heap.layout;
  switch (heap.findType(object)) {
    case types.jsMap:
      return readOrdered(heap, tableOf(heap, object), 2, limit);
    case types.jsSet:
      return readOrdered(heap, tableOf(heap, object), 1, limit);
    case types.jsWeakMap:
      return readWeak(heap, tableOf(heap, object), true, limit);
    case types.jsWeakSet:
      return readWeak(heap, tableOf(heap, object), false, limit);
    default:
      return undefined;
  }
}

const tableOf = (heap: V8Heap, object: Tagged): Tagged => heap.field(object, heap.layout.collectionTable);

/** Ordered hash tables: numbers of elements, of deleted elements, and of buckets; the buckets; then the entries. */
function readOrdered(heap: V8Heap, table: Tagged, words: 1 | 2, limit: number): Collection {
  const { fixedArray } = heap.layout;
  const slot = (i: number) => heap.field(table, fixedArray.data + i * 8);
  const [count = 0, deleted = 0, buckets = 0] = [0, 1, 2].map((i) => heap.smi(slot(i)));
  const length = heap.findSmi(table, fixedArray.length) ?? 0;
  const entries: Collection['entries'] = [];
  for (let i = 0; i < count + deleted && entries.length < limit; i++) {
    const at = 3 + buckets + i * (words + 1);
    if (!Number.isInteger(at) || at + words > length) break;
    const key = slot(at);
    // The key of a deleted entry is a marker of V8's.
    if (!heap.isSmi(key) && !isValue(heap, key)) continue;
    entries.push(words === 2 ? { key, value: slot(at + 1) } : { key });
  }
  return { count, entries };
}

/** Pairs of key and value at hash positions. An entry whose key died remains until a garbage collection removes it. */
function readWeak(heap: V8Heap, table: Tagged, isMap: boolean, limit: number): Collection {
  const { fixedArray, types } = heap.layout;
  const slot = (i: number) => heap.field(table, fixedArray.data + i * 8);
  const length = heap.findSmi(table, fixedArray.length) ?? 0;
  const count = heap.findSmi(table, fixedArray.data) ?? 0;
  const entries: Collection['entries'] = [];
  for (let at = weakPrefix; at + 1 < length && entries.length < Math.min(limit, count); at += 2) {
    const key = slot(at);
    const type = heap.findType(key);
    if (type === undefined || (type < types.jsProxy && type !== types.symbol)) continue;
    entries.push(isMap ? { key, value: slot(at + 1) } : { key });
  }
  return { count, entries };
}

/** Whether the value is one that a program can have, not an internal one. */
function isValue(heap: V8Heap, value: Tagged): boolean {
  const type = heap.findType(value);
  if (type === undefined) return false;
  const { types } = heap.layout;
  const primitive = [types.heapNumber, types.symbol, types.bigInt, types.oddball];
  return isStringType(type) || primitive.includes(type) || type >= types.jsProxy;
}
