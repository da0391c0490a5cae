/**
 * Sizes of objects in bytes. For most kinds the map contains the size; the others are arrays, each with its own count. If
 * V8's debugger metadata does not describe a kind, its size is taken from the one of a few candidate shapes that ends at the
 * start of another object. Source: HeapObject::SizeFromMap in src/objects/objects.cc of V8, and the .tq files of each kind.
 */

import { isStringType } from '../strings.ts';
import type { Tagged, V8Heap } from './heap.ts';

/** What is known about the memory around an object. */
export interface Surroundings {
  /** Whether an object may start at this address, or no more objects follow. */
  isBoundary(at: number): boolean;
  /** The first address after `at` that an object starting at `at` can't extend beyond. */
  wallBehind(at: number): number;
}

/** The length of a property array shares its word with the object's hash. */
const maxPropertyArray = 1023;
/** A slot of feedback metadata has five bits of a 32-bit word, so a word contains six. */
const slotsPerWord = 6;
/** WebAssembly's null is a map word alone where addresses are not compressed, and its map has no size. */
const wasmNullBytes = 8;
/** Limit for kinds without a length; they are small. */
const maxScanned = 1 << 16;

/** How the size of an object follows from its map and the count behind it. */
export const SizeKind = {
  /** Requires `findObjectSize`. */
  other: 0,
  fixed: 1,
  oneByteString: 2,
  twoByteString: 3,
  /** A header of two words, followed by as many words as the small integer in the header states. */
  words: 4,
  /** Like `words`, but only if an object follows. */
  perhapsWords: 5,
  /** A header of two words, followed by as many bytes as the header states. */
  bytes: 6,
  /** Free space: a small integer contains its size, in units of `size` bytes. */
  free: 7,
} as const;

export interface SizePlan {
  kind: number;
  /** In bytes, for a fixed size. */
  size: number;
}

/** Must agree with `findObjectSize`. */
export function planSize(heap: V8Heap, map: Tagged, type: number): SizePlan {
  const { types, freeSpaceUnit } = heap.layout;
  const words = heap.memory.readUint8(map - 1 + heap.layout.map.instanceSizeInWords);
  const plan = (kind: number, size = 0): SizePlan => ({ kind, size });
  if (words > 0) return plan(SizeKind.fixed, words * 8);
  if (isStringType(type)) return plan(type & 8 ? SizeKind.oneByteString : SizeKind.twoByteString);
  switch (type) {
    case types.byteArray:
    case types.trustedByteArray:
      return plan(SizeKind.bytes);
    case types.fixedDoubleArray:
    case types.fixedArray:
      return plan(SizeKind.words);
    case types.wasmNull:
      return plan(SizeKind.fixed, wasmNullBytes);
    case types.freeSpace:
      return freeSpaceUnit === 8 ? plan(SizeKind.free, freeSpaceUnit) : plan(SizeKind.other);
    case types.bigInt:
    case types.descriptorArray:
    case types.propertyArray:
    case types.bytecodeArray:
    case types.feedbackVector:
    case types.feedbackMetadata:
    case types.scopeInfo:
    case types.preparseData:
    case types.instructionStream:
      return plan(SizeKind.other);
    default:
      return plan(SizeKind.perhapsWords);
  }
}

/** 0 if it can't be determined. Reads only memory that is present; may throw AbsentMemory. */
export function findObjectSize(
  heap: V8Heap,
  at: number,
  map: Tagged,
  type: number,
  around: Surroundings,
): number {
  const words = heap.memory.readUint8(map - 1 + heap.layout.map.instanceSizeInWords);
  const wall = around.wallBehind(at);
  const exact = words > 0 ? words * 8 : findExactSize(heap, at, type);
  if (exact !== undefined) return exact >= 8 && at + exact <= wall ? exact : 0;
  const shapes = shapesOf(heap, at, type).filter((size) => size >= 16 && at + size <= wall);
  const fitting = shapes.find((size) => around.isBoundary(at + size));
  // Behind the instructions that were made last is memory that was not handed out, which allocators for code do not describe.
  const found = fitting ?? (type === heap.layout.types.instructionStream ? shapes[0] : undefined);
  if (found !== undefined) return found;
  return holdsMaps(heap, type) ? 0 : scanToNext(at, Math.min(wall, at + maxScanned), around);
}

/** Uses formulas that hold in every line. */
function findExactSize(heap: V8Heap, at: number, type: number): number | undefined {
  const { types, bytecode, string, bigInt, descriptors } = heap.layout;
  const { memory } = heap;
  if (isStringType(type)) {
    const length = memory.readInt32(at + string.length);
    return length < 0 ? 0 : align(string.chars + length * (type & 8 ? 1 : 2));
  }
  switch (type) {
    case types.bigInt:
      return bigInt.digits + ((memory.readUint32(at + bigInt.bits) >>> 1) & 0x3fff_ffff) * 8;
    case types.descriptorArray:
      return descriptors.header + memory.readUint16(at + 8) * descriptors.entryWords * 8;
    case types.propertyArray:
      return 16 + (countAt(heap, at) & maxPropertyArray) * 8;
    case types.bytecodeArray:
      return align(bytecode.data + countAt(heap, at));
    case types.byteArray:
    case types.trustedByteArray:
      return align(16 + countAt(heap, at));
    case types.fixedDoubleArray:
    case types.fixedArray:
      return 16 + countAt(heap, at) * 8;
    case types.wasmNull:
      return wasmNullBytes;
    case types.freeSpace:
      return countAt(heap, at) * heap.layout.freeSpaceUnit;
    default:
      return undefined;
  }
}

/** A count as a small integer; -2 if it is not one. */
function countAt(heap: V8Heap, at: number): number {
  const word = heap.memory.readWord(at + 8);
  return heap.isSmi(word) && word >= 0 ? heap.smi(word) : -2;
}

/** Candidate sizes with the header of each kind of array. Some kinds have a raw count instead of a small integer. */
function shapesOf(heap: V8Heap, at: number, type: number): number[] {
  const { types } = heap.layout;
  const bare = heap.memory.readInt32(at + 8);
  if (type === types.feedbackVector) return [48, 56, 40].map((header) => header + bare * 8);
  if (type === types.feedbackMetadata) {
    const closures = heap.memory.readInt32(at + 12);
    const slots = 16 + Math.ceil(bare / slotsPerWord) * 4;
    return [align(slots), align(slots + closures * 2)];
  }
  if (type === types.instructionStream) {
    const body = findBodyOfStream(heap, at);
    if (body === undefined) return [];
    const bytes = heap.layout.code.streamStart + body;
    return heap.layout.code.alignments.map((unit) => Math.ceil(bytes / unit) * unit);
  }
  if (type === types.scopeInfo || type === types.preparseData) return [];
  const count = countAt(heap, at);
  if (count < 0) return [];
  // Headers: plain; one more word before or after the elements; two more; three more.
  return [16, 24, 32, 40].map((header) => header + count * 8);
}

/**
 * The bytes of instructions and of what follows them. Before V8 12 only the code object has their sizes, and that of dead
 * instructions may be gone.
 */
function findBodyOfStream(heap: V8Heap, at: number): number | undefined {
  const { memory, layout } = heap;
  const { streamStart, streamCode, instructionSize } = layout.code;
  if (streamCode === undefined) return undefined;
  if (streamStart > streamCode + 8) return memory.readInt32(at + streamStart - 8);
  const code = memory.readWord(at + streamCode);
  if (heap.findType(code) !== layout.types.code) return undefined;
  const sizes = code - 1 + instructionSize;
  return memory.readInt32(sizes) + memory.readInt32(sizes + 4);
}

/** Elements of these types may be maps, so the next map in memory is not necessarily the start of the next object. */
function holdsMaps(heap: V8Heap, type: number): boolean {
  const { types } = heap.layout;
  const [first, last] = types.context;
  return type === types.feedbackVector || (type >= first && type <= last);
}

function scanToNext(at: number, end: number, around: Surroundings): number {
  for (let next = at + 16; next <= end; next += 8) if (around.isBoundary(next)) return next - at;
  return 0;
}

const align = (size: number) => Math.ceil(size / 8) * 8;
