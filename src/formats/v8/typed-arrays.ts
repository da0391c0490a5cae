/**
 * Contents of typed arrays, views and buffers: the location of their bytes, and the bytes as numbers or as text. Sources:
 * src/objects/{js-array-buffer,js-typed-array}.tq and JSTypedArray::DataPtr of V8.
 */
import { whereMapped } from '../../bytes/memory.ts';
import type { Tagged, V8Heap } from './heap/heap.ts';
import { findConstructorName } from './properties.ts';

export interface HeldBytes {
  /**
   * Class of the elements, such as `Int16Array`; undefined for objects that are not arrays of numbers: a buffer, a DataView.
   */
  kind: ElementKind | undefined;
  byteLength: number;
  /** The bytes from the start, truncated to `limit`. Undefined if the memory is absent. */
  bytes: Uint8Array | undefined;
}

type ElementKind = keyof typeof elementReaders;
type ElementReader = readonly [size: number, read: (view: DataView, at: number) => number | bigint];

const elementReaders = {
  Int8Array: [1, (view, at) => view.getInt8(at)],
  Uint8Array: [1, (view, at) => view.getUint8(at)],
  Uint8ClampedArray: [1, (view, at) => view.getUint8(at)],
  Int16Array: [2, (view, at) => view.getInt16(at, true)],
  Uint16Array: [2, (view, at) => view.getUint16(at, true)],
  Float16Array: [2, (view, at) => halfFloat(view.getUint16(at, true))],
  Int32Array: [4, (view, at) => view.getInt32(at, true)],
  Uint32Array: [4, (view, at) => view.getUint32(at, true)],
  Float32Array: [4, (view, at) => view.getFloat32(at, true)],
  Float64Array: [8, (view, at) => view.getFloat64(at, true)],
  BigInt64Array: [8, (view, at) => view.getBigInt64(at, true)],
  BigUint64Array: [8, (view, at) => view.getBigUint64(at, true)],
} as const satisfies Record<string, ElementReader>;

/** Limit for chains of subclasses (Buffer is a subclass of Uint8Array). */
const maxBases = 16;
/** The length of the array follows its buffer, which may be resized. */
const tracksLength = 1;
/** This many consecutive printable characters are shown as text. */
const shortestText = 4;

/** At most `limit` of the bytes. Undefined for other objects, and if the location of the bytes is unknown. */
export function readHeldBytes(heap: V8Heap, object: Tagged, limit: number): HeldBytes | undefined {
  const { types, typedArray: t, arrayBuffer: b } = heap.layout;
  const type = heap.findType(object);
  const bufferLength = (buffer: Tagged) => heap.memory.readWord(buffer - 1 + b.byteLength);
  if (t.externalPointer === 0 || b.backingStore === 0) return undefined;
  if (type === types.jsArrayBuffer) {
    const start = heap.memory.readWord(object - 1 + b.backingStore);
    return bytesAt(heap, undefined, start, bufferLength(object), limit);
  }
  const isTyped = type === types.jsTypedArray;
  if (!isTyped && type !== types.jsDataView && type !== types.jsResizableDataView) return undefined;
  const buffer = heap.field(object, t.buffer);
  const offset = heap.memory.readWord(object - 1 + t.byteOffset);
  const tracks = (heap.memory.readUint8(object - 1 + t.flags) & tracksLength) !== 0;
  const rest = () => Math.max(0, bufferLength(buffer) - offset);
  const kind = isTyped ? findElementKind(heap, object) : undefined;
  const size = kind ? elementReaders[kind][0] : 1;
  const byteLength = tracks
    ? Math.floor(rest() / size) * size
    : heap.memory.readWord(object - 1 + t.byteLength);
  // Short arrays are on the heap: the first word is a pointer to the object, the second an offset to be added.
  const start = isTyped
    ? heap.field(object, t.basePointer) + heap.memory.readWord(object - 1 + t.externalPointer)
    : heap.memory.readWord(buffer - 1 + b.backingStore) + offset;
  return bytesAt(heap, kind, start, byteLength, limit);
}

function bytesAt(
  heap: V8Heap,
  kind: ElementKind | undefined,
  start: number,
  byteLength: number,
  limit: number,
): HeldBytes | undefined {
  if (!(byteLength >= 0) || !Number.isSafeInteger(byteLength)) return undefined;
  const length = Math.min(byteLength, limit);
  const bytes = length > 0 ? whereMapped(() => heap.memory.readBytes(start, length)) : new Uint8Array();
  return { kind, byteLength, bytes };
}

function findElementKind(heap: V8Heap, object: Tagged): ElementKind | undefined {
  let current = object;
  for (let i = 0; i < maxBases; i++) {
    const name = whereMapped(() => findConstructorName(heap, current));
    if (name !== undefined && Object.hasOwn(elementReaders, name)) return name as ElementKind;
    current = heap.field(heap.map(current), heap.layout.map.prototype);
    if (!heap.isPointer(current)) return undefined;
  }
  return undefined;
}

/** The elements as numbers; a truncated last element is left out. */
export function elementsOf({ kind, bytes = new Uint8Array() }: HeldBytes): (number | bigint)[] {
  const [size, read]: ElementReader = elementReaders[kind ?? 'Uint8Array'];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: Math.floor(bytes.length / size) }, (_, i) => read(view, i * size));
}

export function elementCountOf({ kind, byteLength }: HeldBytes): number {
  return Math.floor(byteLength / elementReaders[kind ?? 'Uint8Array'][0]);
}

/** The bytes as text, if part of it is readable: UTF-8, or UTF-16 for elements of two bytes. */
export function textOf({ kind, bytes = new Uint8Array() }: HeldBytes): string | undefined {
  const size = elementReaders[kind ?? 'Uint8Array'][0];
  if (size > 2) return undefined;
  const text = Buffer.from(bytes).toString(size === 2 ? 'utf16le' : 'utf8');
  // Truncated bytes may end within a character.
  const whole = size === 1 ? text.replace(/\ufffd{1,3}$/, '') : text;
  return new RegExp(`[\\t\\n\\r\\x20-\\x7e\\xa0-\\ud7ff]{${shortestText}}`).test(whole) ? whole : undefined;
}

/** IEEE 754, binary16. */
function halfFloat(bits: number): number {
  const [exponent, fraction] = [(bits >>> 10) & 31, bits & 1023];
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 31) return fraction ? Number.NaN : sign * Infinity;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}
