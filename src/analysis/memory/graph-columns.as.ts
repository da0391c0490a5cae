/**
 * Where the columns of a small snapshot's graph stand in the kernel's memory (graph.as.ts), and what it asks of TypeScript.
 */

/** What the edge types hold that are not simply strong (`value < 0`): asked of TypeScript, they are few. */
export declare function counts(value: u32, edge: u32, lastPage: u32): bool;
export declare function passes(value: u32, edge: u32, node: u32): bool;
export declare function rowOf(node: u32): i32;

export const targetMask: u32 = 0x1fffffff;
export const typeShift: u32 = 29;
/** EdgeType of layout.ts: those above `weak` are entries of WeakMaps. */
export const hidden: u32 = 4;
export const weak: u32 = 6;

export let nodes: u32 = 0;
export let edges: u32 = 0;
/** Columns; the first ones are filled by whoever asks. */
export let packedAt: usize = 0;
export let edgeNameAt: usize = 0;
export let edgeNameHighAt: usize = 0;
export let placeOfAt: usize = 0;
export let firstEdgeAt: usize = 0;
export let nameAt: usize = 0;
export let typeAt: usize = 0;
/** By node: `isPart`, `isSpecial`. */
export let flagsAt: usize = 0;
export let numberAt: usize = 0;
export let parentAt: usize = 0;
export let semiAt: usize = 0;
export let orderAt: usize = 0;
export let dominatorAt: usize = 0;
export let distanceAt: usize = 0;
export let ownerAt: usize = 0;
export let sharedAt: usize = 0;
export let startsAt: usize = 0;
export let linksAt: usize = 0;
export let rowAt: usize = 0;
/** Plain objects, their states in the trie of names, and of each state how many there are and the first. */
export let plainAt: usize = 0;
export let plainStateAt: usize = 0;
export let stateCountAt: usize = 0;
export let stateFirstAt: usize = 0;
/** Rows of classes, and one: 0 where none is known. */
export let rowOfTypeAt: usize = 0;
export let rowOfNameAt: usize = 0;
/** By place: the row, and the name that it is of. */
export let rowAtPlaceAt: usize = 0;
export let trieAt: usize = 0;
export const stateRoom: u32 = 1 << 18;
export let seenAt: usize = 0;
export let stackAt: usize = 0;
export let crossingAt: usize = 0;
export let sourcesAt: usize = 0;
export let queueAt: usize = 0;

/** Says where each column stands; returns the bytes needed. Pages that nobody writes to cost nothing. */
export function layout(nodeCount: u32, edgeCount: u32, strings: u32, places: u32): f64 {
  nodes = nodeCount;
  edges = edgeCount;
  const words: usize = (<usize>nodeCount + 2) << 2;
  let at: usize = 1024;
  packedAt = at;
  at += (<usize>edgeCount) << 2;
  firstEdgeAt = at;
  at += words;
  nameAt = at;
  at += words;
  numberAt = at;
  at += words;
  parentAt = at;
  at += words;
  semiAt = at;
  at += words;
  orderAt = at;
  at += words;
  dominatorAt = at;
  at += words;
  distanceAt = at;
  at += words;
  ownerAt = at;
  at += words;
  startsAt = at;
  at += words;
  linksAt = at;
  at += words << 1;
  stackAt = at;
  at += words << 2;
  // A node is pushed at most twice.
  queueAt = at;
  at += words << 1;
  crossingAt = at;
  at += (<usize>edgeCount) << 3;
  sourcesAt = at;
  at += (<usize>edgeCount) << 2;
  placeOfAt = at;
  at += words;
  rowAt = at;
  at += words;
  plainAt = at;
  at += words;
  plainStateAt = at;
  at += words;
  stateCountAt = at;
  at += (<usize>stateRoom) << 2;
  stateFirstAt = at;
  at += (<usize>stateRoom) << 2;
  rowOfTypeAt = at;
  at += 1024;
  rowOfNameAt = at;
  at += (<usize>strings) << 2;
  rowAtPlaceAt = at;
  at += (<usize>places) << 3;
  // Slots of twelve bytes, twice as many as states; the tables before the last one are as large as that together.
  trieAt = at;
  at += <usize>stateRoom * 48;
  edgeNameAt = at;
  at += ((<usize>edgeCount) << 1) + 2;
  edgeNameHighAt = at;
  at += <usize>edgeCount + 8;
  at &= ~7;
  typeAt = at;
  at += words >> 2;
  flagsAt = at;
  at += words >> 2;
  sharedAt = at;
  at += words >> 2;
  seenAt = at;
  at += words >> 2;
  return <f64>at + 65536;
}
