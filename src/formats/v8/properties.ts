/**
 * Own properties of objects in a dead V8: in the object, in its property array, or in a dictionary; and indexed elements. The
 * names of private fields include the `#`. Sources: src/objects/{map,descriptor-array,js-objects,dictionary}.tq.
 */

import { findScopeInfo } from './frames/scope-info.ts';
import type { Tagged, V8Heap } from './heap/heap.ts';
import { findString, isStringType } from './strings.ts';

export interface OwnProperty {
  name: string;
  value: Tagged;
  /** A getter or setter: the value was not computed. */
  isAccessor: boolean;
}

const maxNameLength = 256;
/** Elements kinds: pairs of packed and holey; 4 and 5 contain doubles, 6 to 11 are for sealed and frozen objects. */
const doubleKinds = [4, 5];
const lastPlainKind = 11;
/** For a dictionary with more entries than this, the entries that come first in memory are returned. */
const maxSorted = 2048;
/** A torn length must not make a list of billions. */
const maxScanned = 1 << 20;
/** In the details of a dictionary entry, the insertion index follows kind, attributes and cell type. */
const additionShift = 8;
/** The double that marks a hole. */
const holeHigh = 0xfff7_ffff;

/** At most `limit` named properties, in creation order. */
export function readOwnProperties(heap: V8Heap, object: Tagged, limit: number): OwnProperty[] {
  const map = heap.map(object);
  const bits = heap.memory.readUint32(map - 1 + heap.layout.map.bitField3);
  const isDictionary = ((bits >>> heap.layout.map.isDictionaryShift) & 1) === 1;
  if (isDictionary && heap.isType(object, heap.layout.types.globalObject))
    return readCells(heap, heap.field(object, heap.layout.object.properties), limit);
  return isDictionary
    ? readDictionary(heap, heap.field(object, heap.layout.object.properties), limit)
    : readDescribed(heap, object, map, bits, limit);
}

function readDescribed(
  heap: V8Heap,
  object: Tagged,
  map: Tagged,
  bits: number,
  limit: number,
): OwnProperty[] {
  const { map: m, descriptors: d, object: o, fixedArray } = heap.layout;
  const count = (bits & m.descriptorCountMask) >>> m.descriptorCountShift;
  const array = heap.field(map, m.descriptors);
  const first = heap.memory.readUint8(map - 1 + m.inObjectStart);
  const inObject = heap.memory.readUint8(map - 1 + m.instanceSizeInWords) - first;
  const properties: OwnProperty[] = [];
  for (let i = 0; i < count && properties.length < limit; i++) {
    const at = d.header + i * d.entryWords * 8;
    const name = propertyName(heap, heap.field(array, at + d.key * 8));
    const details = heap.findSmi(array, at + d.details * 8);
    if (name === undefined || details === undefined) continue;
    const isAccessor = (details & d.kindMask) !== 0;
    const isField = (details & d.locationMask) === 0;
    const index = (details & d.indexMask) >>> d.indexShift;
    const value = !isField
      ? heap.field(array, at + d.value * 8)
      : index < inObject
        ? heap.field(object, (first + index) * 8)
        : heap.field(heap.field(object, o.properties), fixedArray.data + (index - inObject) * 8);
    properties.push({ name, value, isAccessor });
  }
  return properties;
}

/** Whether each property of the object's map has a name and details; true for dictionaries, which are not examined. */
export function hasWholeDescriptors(heap: V8Heap, object: Tagged): boolean {
  const { map: m, descriptors: d, types } = heap.layout;
  const map = heap.map(object);
  const bits = heap.memory.readUint32(map - 1 + m.bitField3);
  if (((bits >>> m.isDictionaryShift) & 1) === 1) return true;
  const count = (bits & m.descriptorCountMask) >>> m.descriptorCountShift;
  const array = heap.field(map, m.descriptors);
  for (let i = 0; i < count; i++) {
    const at = d.header + i * d.entryWords * 8;
    const type = heap.findType(heap.field(array, at + d.key * 8));
    const isName = isStringType(type) || type === types.symbol;
    if (!isName || heap.findSmi(array, at + d.details * 8) === undefined) return false;
  }
  return true;
}

/** A NameDictionary has three counts and three more words, followed by key, value and details for each slot. */
function readDictionary(heap: V8Heap, table: Tagged, limit: number): OwnProperty[] {
  const { fixedArray, dictionary, descriptors } = heap.layout;
  const capacity = heap.isPointer(table) ? (heap.findSmi(table, fixedArray.data + 16) ?? 0) : 0;
  const length = heap.isPointer(table) ? (heap.findSmi(table, fixedArray.length) ?? 0) : 0;
  const held = Math.floor((length - dictionary.start) / dictionary.entryWords);
  const slots = Math.min(capacity, held, maxScanned);
  const entries = Array.from({ length: Math.max(0, slots) }, (_, i) => {
    const at = fixedArray.data + (dictionary.start + i * dictionary.entryWords) * 8;
    return { at, details: slots <= maxSorted ? (heap.findSmi(table, at + 16) ?? 0) : 0 };
  });
  entries.sort((a, b) => (a.details >>> additionShift) - (b.details >>> additionShift));
  const properties: OwnProperty[] = [];
  for (const { at } of entries) {
    if (properties.length >= limit) break;
    const name = propertyName(heap, heap.field(table, at));
    if (name === undefined) continue;
    const details = heap.findSmi(table, at + 16) ?? 0;
    properties.push({
      name,
      value: heap.field(table, at + 8),
      isAccessor: (details & descriptors.kindMask) !== 0,
    });
  }
  return properties;
}

/** The dictionary of a global object has a cell for each slot, with name, details and value. */
function readCells(heap: V8Heap, table: Tagged, limit: number): OwnProperty[] {
  const { fixedArray, dictionary, descriptors, types } = heap.layout;
  const length = heap.isPointer(table) ? (heap.findSmi(table, fixedArray.length) ?? 0) : 0;
  const properties: OwnProperty[] = [];
  for (let i = dictionary.start; i < length && properties.length < limit; i++) {
    const cell = heap.field(table, fixedArray.data + i * 8);
    if (!heap.isType(cell, types.propertyCell)) continue;
    const name = propertyName(heap, heap.field(cell, 8));
    if (name === undefined) continue;
    const isAccessor = ((heap.findSmi(cell, 16) ?? 0) & descriptors.kindMask) !== 0;
    properties.push({ name, value: heap.field(cell, 24), isAccessor });
  }
  return properties;
}

/** A string, `[symbol]`, or the `#name` of a private field; undefined for V8's own markers. */
function propertyName(heap: V8Heap, key: Tagged): string | undefined {
  const type = heap.findType(key);
  if (isStringType(type)) return findString(heap, key, maxNameLength);
  if (type !== heap.layout.types.symbol) return undefined;
  const name = findString(heap, heap.field(key, heap.layout.symbolName), maxNameLength) ?? '';
  return name.startsWith('#') ? name : `[${name || 'symbol'}]`;
}

export type Element = { value: Tagged } | { number: number } | 'hole';

/** The first elements of an array or of an object with indexed properties. Empty for sparse arrays (dictionaries). */
export function readElements(heap: V8Heap, object: Tagged, limit: number): Element[] {
  const { map: m, object: o, fixedArray } = heap.layout;
  const bits = heap.memory.readUint8(heap.map(object) - 1 + m.bitField2);
  const kind = (bits & m.elementsKindMask) >>> m.elementsKindShift;
  const array = heap.field(object, o.elements);
  if (kind > lastPlainKind || !heap.isPointer(array)) return [];
  const length = Math.min(heap.findSmi(array, fixedArray.length) ?? 0, limit);
  const elements: Element[] = [];
  for (let i = 0; i < length; i++) {
    const address = array - 1 + fixedArray.data + i * 8;
    if (!doubleKinds.includes(kind)) elements.push({ value: heap.memory.readWord(address) });
    else if (heap.memory.readUint32(address + 4) === holeHigh) elements.push('hole');
    else elements.push({ number: heap.memory.readDouble(address) });
  }
  return elements;
}

/** Name of the class or function that created the object. */
export function findConstructorName(heap: V8Heap, object: Tagged): string | undefined {
  return findMapConstructorName(heap, heap.map(object));
}

const maxTransitions = 2000;
const maxPrototypeProperties = 500;

/**
 * From the `constructor` of the prototype, which distinguishes an instance of a derived class from one of its base; otherwise
 * from the function that V8 recorded in the map.
 */
export function findMapConstructor(heap: V8Heap, map: Tagged): Tagged | undefined {
  const { map: m, types } = heap.layout;
  const prototype = heap.field(map, m.prototype);
  const isObject = (heap.findType(prototype) ?? 0) >= types.jsProxy && !heap.isType(prototype, types.jsProxy);
  const own = isObject ? readOwnProperties(heap, prototype, maxPrototypeProperties) : [];
  const named = own.find(({ name, isAccessor }) => name === 'constructor' && !isAccessor);
  return named && heap.isFunction(named.value) ? named.value : findMaker(heap, map);
}

export function findMapConstructorName(heap: V8Heap, map: Tagged): string | undefined {
  const maker = findMapConstructor(heap, map);
  return maker === undefined ? undefined : findFunctionName(heap, maker);
}

function findMaker(heap: V8Heap, map: Tagged): Tagged | undefined {
  const { map: m, types } = heap.layout;
  let value = heap.field(map, m.constructorOrBack);
  for (let i = 0; i < maxTransitions && heap.isType(value, types.map); i++)
    value = heap.field(value, m.constructorOrBack);
  return heap.isFunction(value) ? value : undefined;
}

export function findFunctionName(heap: V8Heap, closure: Tagged): string | undefined {
  const { functionObject, shared, types } = heap.layout;
  const info = heap.field(closure, functionObject.shared);
  if (!heap.isType(info, types.shared)) return undefined;
  const nameOrScope = heap.field(info, shared.name);
  return findString(heap, nameOrScope, maxNameLength) ?? findScopeInfo(heap, nameOrScope)?.functionName;
}
