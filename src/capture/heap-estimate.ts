/**
 * What a heap snapshot taken now would cost. V8's memory for one goes with the number of objects, not with their bytes,
 * and with the longest array: for each index that an element has it keeps a name of 1 KB (StringsStorage formats numbers
 * into a buffer of that size and keeps the buffer). Figures: test/bench/heap-estimate.ts, on Node 20 to 26.
 */

export interface SnapshotEstimate {
  bytes: number;
  ms: number;
  /** The objects were counted; else it is the upper end of what their bytes may mean. */
  isCounted: boolean;
}

const mb = 1024 ** 2;
const baseBytes = 30 * mb;
const bytesPerObject = 260;
const bytesPerIndex = 1080;
const slotBytes = 8;
/** Seen as the average of heaps of small objects; those of strings and arrays of numbers are larger. */
const smallestAverageBytes = 28;
/** Node's own objects, and its own bytes among the large ones. */
const ownObjects = 45_000;
const ownLargeBytes = 0.25 * mb;
const baseMs = 200;
/** The redactor and gzip included. Node 20's V8 takes longer, and with an unlucky heap several times as long. */
const usPerObject = Number.parseInt(process.versions.v8, 10) < 12 ? 2.8 : 1.8;
const usPerIndex = 2.2;
/** While they are counted: the ids. */
const countingBytesPerObject = 110;
const usPerCountedObject = 0.5;

/** By the heap's spaces alone: never much too low, and many times too high for strings and numbers. */
export function estimateUpper(): SnapshotEstimate {
  const { small, large } = readSpaces();
  return estimateOf(small / smallestAverageBytes, large / slotBytes, false);
}

export function estimateCounted(objects: number): SnapshotEstimate {
  const { large } = readSpaces();
  // Large strings and arrays of numbers have no indexes to name: not more of them than there are objects.
  return estimateOf(objects, Math.min(large / slotBytes, Math.max(0, objects - ownObjects)), true);
}

/** How long a census of the objects may take: heap-census.ts. */
export function censusMs(): number {
  return ((readSpaces().small / smallestAverageBytes) * usPerCountedObject) / 1000;
}

/** Memory that counting the objects may take. */
export function countingBytes(): number {
  return Math.round((readSpaces().small / smallestAverageBytes) * countingBytesPerObject);
}

function estimateOf(objects: number, indexes: number, isCounted: boolean): SnapshotEstimate {
  const us = objects * usPerObject + indexes * usPerIndex;
  return {
    bytes: Math.round(baseBytes + objects * bytesPerObject + indexes * bytesPerIndex),
    ms: Math.round(baseMs + us / 1000),
    isCounted,
  };
}

/** Bytes in use: of objects of any size, and of those in a space of their own, above 128 KB. */
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
