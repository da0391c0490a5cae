/**
 * The memory layout of the kernel (heap.as.ts): the words of V8's pages, which objects start and end where, which live, and what
 * is known of each map. An object is the slot of its first word, as in objects/heap-words.ts. Nothing in the pages is trusted:
 * a slot is checked before it is read.
 */

/** What TypeScript answers: the number of a map that was not met yet, or -1 if it can't be kept; called once for each. */
export declare function learnMap(object: i32): i32;
/** The address of the program that reads the objects of a map; `byReader` if there is none. */
export declare function learnProgram(object: i32, map: i32): u32;
/** The text number of an index. */
export declare function learnIndex(index: u32): u32;
/** The combination of tags after one more tag. */
export declare function learnTag(combination: u32, tag: u32): u32;
/** Reads the references of an object that has no program. */
export declare function readObject(object: i32, index: u32): void;
/** Takes the edges that are ready. */
export declare function takeEdges(): void;
/** Is told of a number of edges that does not fit a byte. */
export declare function largeCount(index: u32, count: u32): void;
/** The number of a text that is withheld. */
export declare function addWithheld(): u32;
/** Keeps an object for later, because the stack is full. */
export declare function spill(object: i32): void;

/** An address of a program: the general reader is asked for the object. */
export const byReader: u32 = 1;
/** Words per row of memory, as bits. */
const rowBits: u32 = 15;
const chunkBits: u32 = 18;
const chunkMask: u32 = (1 << chunkBits) - 1;
/** Rows of 16 bytes: the word of a map, and its number; the word is 0 if the row is empty. */
const mapRows: u32 = 1 << 18;
export const mapRoom: u32 = 1 << 17;
export const programRoom: u32 = 1 << 25;
export const edgeRoom: u32 = 1 << 17;
export const indexRoom: u32 = 1 << 20;
export const codeRoom: u32 = 1 << 22;
export const nodeRoom: u32 = 1 << 12;

export let slots: u32 = 0;
export let firstReadOnly: i32 = 0;
export let rowsAt: usize = 0;
export let startsAt: usize = 0;
export let endsAt: usize = 0;
export let liveAt: usize = 0;
export let beforeAt: usize = 0;
/** Objects whose references have not been followed; later the counts and tags of nodes. */
export let stackAt: usize = 0;
export let stackRoom: u32 = 0;
export let countsAt: usize = 0;
export let tagsAt: usize = 0;
/** Chunk number plus one, and its row. */
export let chunksAt: usize = 0;
let chunkRowMask: u32 = 0;
let chunkShift: u32 = 0;
export let mapsAt: usize = 0;
/** By map number: way to mark, program, flags, instance type, and type, name and way of naming of its nodes. */
export let waysAt: usize = 0;
export let programsAt: usize = 0;
export let flagsAt: usize = 0;
export let nodeWaysAt: usize = 0;
export let nodeTypesAt: usize = 0;
export let nodeNamesAt: usize = 0;
export let programAt: usize = 0;
/** By index: its text number plus one. */
export let indexesAt: usize = 0;
/** By row of the dispatch table: the slot of the code plus two, one if there is none, zero if unknown. */
export let codesAt: usize = 0;
/** By read-only slot: `isInessential`, `isHole`. */
export let constantsAt: usize = 0;
/** By combination times 16 plus a tag: the next combination plus one. */
export let tagStepsAt: usize = 0;
export let packedAt: usize = 0;
export let namesAt: usize = 0;
/** A batch of nodes. */
export let nodeSlotsAt: usize = 0;
export let batchTypesAt: usize = 0;
export let batchNamesAt: usize = 0;
export let batchSizesAt: usize = 0;
/** Hashes of withheld texts, up to the end of memory. */
export let textsAt: usize = 0;

/** Flags of a map. */
export const isFixedArray: u32 = 1;
export const isOtherFixed: u32 = 2;
export const isTaggedArray: u32 = 4;
export const isMap: u32 = 8;
export const isReceiver: u32 = 16;
/** Flags of a constant. */
export const isInessential: u32 = 1;
export const isHole: u32 = 2;

/** Sets the address of each column; returns the number of bytes needed. Pages that are never written cost nothing. */
export function layout(rows: u32): f64 {
  slots = rows << rowBits;
  const bits = ((((<u64>slots >>> 5) + 1) << 2) + 15) & ~15;
  let at: u64 = 4096;
  rowsAt = <usize>at;
  at += (<u64>slots) << 3;
  startsAt = <usize>at;
  at += bits;
  endsAt = <usize>at;
  at += bits;
  liveAt = <usize>at;
  at += bits;
  beforeAt = <usize>at;
  at += bits;
  stackRoom = (slots >>> 1) + 1024;
  stackAt = <usize>at;
  countsAt = <usize>at;
  tagsAt = <usize>(at + slots);
  at += ((<u64>slots) << 1) + 4096;
  let size: u32 = 64;
  chunkShift = 26;
  while (size < rows * 4) {
    size <<= 1;
    chunkShift--;
  }
  chunkRowMask = size - 1;
  chunksAt = <usize>at;
  at += (<u64>size) << 3;
  mapsAt = <usize>at;
  at += (<u64>mapRows) << 4;
  waysAt = <usize>at;
  at += mapRoom;
  flagsAt = <usize>at;
  at += mapRoom;
  nodeWaysAt = <usize>at;
  at += mapRoom;
  nodeTypesAt = <usize>at;
  at += mapRoom;
  programsAt = <usize>at;
  at += mapRoom << 2;
  nodeNamesAt = <usize>at;
  at += mapRoom << 2;
  programAt = <usize>at;
  at += programRoom;
  indexesAt = <usize>at;
  at += indexRoom << 2;
  codesAt = <usize>at;
  at += codeRoom << 2;
  constantsAt = <usize>at;
  at += slots;
  tagStepsAt = <usize>at;
  at += 1 << 12;
  packedAt = <usize>at;
  at += edgeRoom << 2;
  namesAt = <usize>at;
  at += edgeRoom << 2;
  nodeSlotsAt = <usize>at;
  at += nodeRoom << 2;
  batchNamesAt = <usize>at;
  at += nodeRoom << 2;
  batchSizesAt = <usize>at;
  at += nodeRoom << 2;
  batchTypesAt = <usize>at;
  at += nodeRoom;
  textsAt = <usize>at;
  return <f64>at;
}

/** Each chunk once, in the order of the rows. Later rows of the same chunk are never looked up. */
export function putChunk(chunk: u32, row: u32): void {
  let at = (chunk * 0x9e3779b1) >>> chunkShift;
  while (true) {
    const key = load<u32>(chunksAt + ((<usize>at) << 3));
    if (key === chunk + 1) return;
    if (key === 0) break;
    at = (at + 1) & chunkRowMask;
  }
  store<u32>(chunksAt + ((<usize>at) << 3), chunk + 1);
  store<u32>(chunksAt + ((<usize>at) << 3), row, 4);
}

let lastChunk: u32 = 0xffffffff;
let lastRow: u32 = 0;

/** The slot of the object that a pointer refers to, with any tag; -1 for none. */
export function objectAt(word: u64): i32 {
  if ((<u32>word & 5) !== 1 || word >>> 47 !== 0) return -1;
  const chunk = <u32>(word >>> chunkBits);
  if (chunk !== lastChunk) {
    let at = (chunk * 0x9e3779b1) >>> chunkShift;
    while (true) {
      const key = load<u32>(chunksAt + ((<usize>at) << 3));
      if (key === chunk + 1) break;
      if (key === 0) return -1;
      at = (at + 1) & chunkRowMask;
    }
    lastChunk = chunk;
    lastRow = load<u32>(chunksAt + ((<usize>at) << 3), 4) << rowBits;
  }
  const slot = lastRow | ((<u32>word & chunkMask) >>> 3);
  return has(startsAt, slot) ? <i32>slot : -1;
}

export function has(set: usize, slot: u32): bool {
  return ((load<u32>(set + ((<usize>(slot >>> 5)) << 2)) >>> (slot & 31)) & 1) !== 0;
}

export function wordOf(slot: u32): u64 {
  return load<u64>(rowsAt + ((<usize>slot) << 3));
}

/** The first member of a set that is not below `from`; -1 for none. */
export function nextOf(set: usize, from: u32): i32 {
  let word = from >>> 5;
  const end = (slots >>> 5) + 1;
  if (word >= end) return -1;
  let rest = load<u32>(set + ((<usize>word) << 2)) & (-1 << (from & 31));
  while (rest === 0) {
    if (++word >= end) return -1;
    rest = load<u32>(set + ((<usize>word) << 2));
  }
  return (word << 5) + ctz(rest);
}

/** In words. 0 where nothing tells the end. */
export function sizeOf(object: i32): u32 {
  const end = nextOf(endsAt, object + 1);
  if (end < 0) return 0;
  return (<u32>end > slots ? slots : <u32>end) - object;
}

/** How many live objects are below a slot. */
export function numberOf(slot: u32): u32 {
  const at = (<usize>(slot >>> 5)) << 2;
  const below: u32 = (1 << (slot & 31)) - 1;
  return load<u32>(beforeAt + at) + popcnt(load<u32>(liveAt + at) & below);
}

let lastMap: u64 = 0;
let lastNumber: i32 = -1;

function rowOfMap(word: u64): u32 {
  return (<u32>(word >>> 3) * 0x9e3779b1) >>> 14;
}

/** The number of an object's map; -1 if it has none here. */
export function mapOf(object: i32): i32 {
  const word = wordOf(object);
  if (word === lastMap) return lastNumber;
  if (word === 0) return -1;
  const found = findMap(word);
  if (found === -2) return learnMap(object);
  lastMap = word;
  lastNumber = found;
  return found;
}

function findMap(word: u64): i32 {
  let at = rowOfMap(word);
  while (true) {
    const key = load<u64>(mapsAt + ((<usize>at) << 4));
    if (key === word) return load<i32>(mapsAt + ((<usize>at) << 4), 8);
    if (key === 0) return -2;
    at = (at + 1) & (mapRows - 1);
  }
}

/** Must be called once for a word that is not 0, and not for more than `mapRoom` of them. */
export function putMap(low: u32, high: u32, number: i32): void {
  const word = ((<u64>high) << 32) | low;
  let at = rowOfMap(word);
  while (load<u64>(mapsAt + ((<usize>at) << 4)) !== 0) at = (at + 1) & (mapRows - 1);
  store<u64>(mapsAt + ((<usize>at) << 4), word);
  store<i32>(mapsAt + ((<usize>at) << 4), number, 8);
}

export function setFirstReadOnly(slot: i32): void {
  firstReadOnly = slot;
}

/** From now on only live objects are objects. */
export function keepOnlyLive(): void {
  startsAt = liveAt;
}
