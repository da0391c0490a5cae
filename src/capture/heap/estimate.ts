/**
 * Estimates the cost of a heap snapshot taken now. The memory that V8 needs depends on the number of objects and of the names
 * of 1 KB that it keeps (heap/names.ts), not on bytes. Three estimates: from the heap's spaces alone, from the objects once
 * they are counted, and from the names too. Figures: test/bench/heap/heap-estimate.ts, on Node 20 to 26.
 */
import type { HeapNames } from './names.ts';

export interface Cost {
  bytes: number;
  ms: number;
}

export interface SnapshotEstimate extends Cost {
  /** Upper bound, given what is known. */
  highestBytes: number;
}

const mb = 1024 ** 2;
const baseBytes = 30 * mb;
const bytesPerObject = 260;
const bytesPerIndex = 1080;
const slotBytes = 8;
/** Measured as the average in heaps of small objects; in heaps of strings and arrays of numbers it is larger. */
const smallestAverageBytes = 28;
/** Node's own objects, and its own bytes in the large-object space. */
const ownObjects = 45_000;
const ownLargeBytes = 0.25 * mb;
const baseMs = 200;
const v8Version = Number.parseInt(process.versions.v8, 10);
/** Node 20 and 22, whose V8 is slower, and several times as slow for some heaps on Node 20. */
const isSlower = v8Version < 13;
/** Including the redactor and gzip. */
const usPerObject = v8Version < 12 ? 2.8 : 1.8;
const usPerIndex = 2.2;
/** Tiny strings parsed from JSON, for each of which V8 keeps a name of 1 KB, took 4 times the estimate. */
const highestOverUncounted = 5;

/** Fitted to 31 heaps on each Node with the names counted: the minimum of a bare Node, and the addition per item. */
const named = {
  base: { bytes: 58 * mb, us: isSlower ? 228_000 : 160_000 },
  object: { bytes: 280, us: isSlower ? 2.4 : 1.9 },
  number: { bytes: 1110, us: isSlower ? 2.1 : 2.3 },
  string: { bytes: 360, us: isSlower ? 4 : 2.5 },
  weakEntry: { bytes: 2900, us: isSlower ? 8.2 : 8.7 },
};
/** The maximum ratio so far between the actual cost and the estimate. */
const highestOverNamed = 1.5;
/** From V8 14 on, boxed numbers are not among the objects that are counted. */
const countsBoxedNumbers = v8Version < 14;

/** For the ids, while objects are counted. */
const countingBytesPerObject = 110;
const usPerCountedObject = 0.5;
/** V8 collects garbage several times before it lists its objects, even in an empty heap. */
const censusBaseMs = 100;

/** From the heap's spaces alone: rarely too low, and many times too high for strings and numbers. */
export function estimateUpper(): SnapshotEstimate {
  const { small, large } = readSpaces();
  return estimateOf(small / smallestAverageBytes, large / slotBytes);
}

export function estimateCounted(objects: number): SnapshotEstimate {
  return estimateOf(objects, numbersIn(readSpaces().large, objects));
}

/** @param large from largeBytes(), read before the names were counted, because the list for that is large itself. */
export function estimateNamed(objects: number, names: HeapNames, large: number): SnapshotEstimate {
  const { numbers, strings, weakEntries, boxedNumbers, tableBytes } = names;
  const nodes = objects - (countsBoxedNumbers ? boxedNumbers : 0);
  const sum = (of: 'bytes' | 'us'): number =>
    named.base[of] +
    nodes * named.object[of] +
    numbers * named.number[of] +
    strings * named.string[of] +
    weakEntries * named.weakEntry[of];
  const unseen = Math.max(0, numbersIn(Math.max(0, large - tableBytes), objects) - numbers);
  return {
    bytes: Math.round(sum('bytes')),
    ms: Math.round(sum('us') / 1000),
    highestBytes: Math.round(highestOverNamed * (sum('bytes') + unseen * named.number.bytes)),
  };
}

/** The cost of counting the objects. */
export function countingCost(objects = readSpaces().small / smallestAverageBytes): Cost {
  return {
    bytes: Math.round(objects * countingBytesPerObject),
    ms: Math.round((objects * usPerCountedObject) / 1000),
  };
}

/** The cost of a census. @param objects if they were counted; otherwise derived from bytes, which may be garbage. */
export function censusCost(objects?: number): Cost {
  const { bytes, ms } = countingCost(objects);
  return { bytes, ms: censusBaseMs + ms };
}

export function largeBytes(): number {
  return readSpaces().large;
}

/** Large strings and arrays of numbers contain no numbered places, so there are at most as many as objects. */
function numbersIn(large: number, objects: number): number {
  return Math.min(large / slotBytes, Math.max(0, objects - ownObjects));
}

function estimateOf(objects: number, indexes: number): SnapshotEstimate {
  const us = objects * usPerObject + indexes * usPerIndex;
  const bytes = Math.round(baseBytes + objects * bytesPerObject + indexes * bytesPerIndex);
  return { bytes, ms: Math.round(baseMs + us / 1000), highestBytes: highestOverUncounted * bytes };
}

/** Bytes in use: of all objects below 128 KB, and of larger ones, which are in a separate space. */
function readSpaces(): { small: number; large: number } {
  let small = 0;
  let large = 0;
  for (const { space_name, space_used_size } of process
    .getBuiltinModule('node:v8')
    .getHeapSpaceStatistics()) {
    if (/large/.test(space_name)) large += space_used_size;
    else if (!/read_only|code/.test(space_name)) small += space_used_size;
  }
  return { small, large: Math.max(0, large - ownLargeBytes) };
}
