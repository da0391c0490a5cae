/**
 * The memory layout of a small snapshot's columns in the kernel (graph.as.ts), and the functions that it imports from
 * TypeScript. Touching a page for the first time costs more than filling it, so columns that only one walk needs share their
 * place with those of other walks.
 */

/** Called for the few edges that are not simply strong (`value < 0`). */
export declare function counts(value: u32, edge: u32, lastPage: u32): bool;
export declare function passes(value: u32, edge: u32, node: u32): bool;
export declare function rowOf(node: u32): i32;

export const targetMask: u32 = 0x1fffffff;
export const typeShift: u32 = 29;
/** Values of EdgeType in layout.ts; those above `weak` are entries of WeakMaps. */
export const hidden: u32 = 4;
export const weak: u32 = 6;

export let nodes: u32 = 0;
/** Filled when the file is read. */
export let packedAt: usize = 0;
export let edgeNameAt: usize = 0;
export let edgeNameHighAt: usize = 0;
export let firstEdgeAt: usize = 0;
export let nameAt: usize = 0;
export let idAt: usize = 0;
export let selfSizeAt: usize = 0;
export let typeAt: usize = 0;
/** By node: `isPart`, `isSpecial`. */
export let flagsAt: usize = 0;
/** Results, which are kept. */
export let orderAt: usize = 0;
export let dominatorAt: usize = 0;
export let distanceAt: usize = 0;
export let shallowAt: usize = 0;
export let retainedAt: usize = 0;
export let firstAt: usize = 0;
export let dominatedAt: usize = 0;
export let rowAt: usize = 0;
export let sharedAt: usize = 0;
export let retainerFirstAt: usize = 0;
export let retainersAt: usize = 0;
/** Used only for the dominators. */
export let numberAt: usize = 0;
export let parentAt: usize = 0;
export let semiAt: usize = 0;
export let startsAt: usize = 0;
export let linksAt: usize = 0;
export let stackAt: usize = 0;
export let crossingAt: usize = 0;
export let sourcesAt: usize = 0;
/** Used by one walk only; overlap the columns of the dominators. */
export let seenAt: usize = 0;
export let queueAt: usize = 0;
export let ownerAt: usize = 0;
export let placeOfAt: usize = 0;
/** By name: its mark. Then the objects with marked properties, and all marks of each. */
export let markOfNameAt: usize = 0;
export let markedAt: usize = 0;
export let marksAt: usize = 0;
/** The plain objects, their states in the trie of names and, for each state, the number of objects and the first one. */
export let plainAt: usize = 0;
export let plainStateAt: usize = 0;
export let stateCountAt: usize = 0;
export let stateFirstAt: usize = 0;
export let trieAt: usize = 0;
export const stateRoom: u32 = 1 << 18;
/** Row of a class plus one; 0 if unknown. */
export let rowOfTypeAt: usize = 0;
export let rowOfNameAt: usize = 0;
/** By place: the row, and the name that it belongs to. */
export let rowAtPlaceAt: usize = 0;
/** By row of a class: count, own bytes, retained bytes, distance, and whether it is open. */
export let classCountAt: usize = 0;
export let classSelfAt: usize = 0;
export let classRetainedAt: usize = 0;
export let classDistanceAt: usize = 0;
export let classOpenAt: usize = 0;
export let classRoom: u32 = 0;

/** Sets the address of each column; returns the number of bytes needed. Pages that are never written cost nothing. */
export function layout(nodeCount: u32, edgeCount: u32): f64 {
  nodes = nodeCount;
  const words: usize = ((<usize>nodeCount + 3) & ~1) << 2;
  const edgeWords: usize = ((<usize>edgeCount + 4) & ~3) << 2;
  let at: usize = 1024;
  packedAt = at;
  at += edgeWords;
  edgeNameAt = at;
  at += edgeWords >> 1;
  edgeNameHighAt = at;
  at += edgeWords;
  firstEdgeAt = at;
  at += words;
  nameAt = at;
  at += words;
  idAt = at;
  at += words;
  selfSizeAt = at;
  at += words;
  typeAt = at;
  at += words;
  flagsAt = at;
  at += words;
  orderAt = at;
  at += words;
  dominatorAt = at;
  at += words;
  distanceAt = at;
  at += words;
  shallowAt = at;
  at += words;
  retainedAt = at;
  at += words << 1;
  firstAt = at;
  at += words;
  dominatedAt = at;
  at += words;
  rowAt = at;
  at += words;
  sharedAt = at;
  at += words;
  retainerFirstAt = at;
  at += words;
  retainersAt = at;
  at += edgeWords;
  const end = layoutDominators(at, words, edgeWords);
  const other = layoutOthers(at, words, edgeWords);
  return <f64>(end > other ? end : other) + 65536;
}

function layoutDominators(from: usize, words: usize, edgeWords: usize): usize {
  let at = from;
  numberAt = at;
  at += words;
  parentAt = at;
  at += words;
  semiAt = at;
  at += words;
  startsAt = at;
  at += words;
  linksAt = at;
  at += words << 1;
  stackAt = at;
  at += words << 2;
  crossingAt = at;
  at += edgeWords << 1;
  sourcesAt = at;
  return at + edgeWords;
}

function layoutOthers(from: usize, words: usize, edgeWords: usize): usize {
  let at = from;
  seenAt = at;
  // A node is pushed at most twice.
  queueAt = at;
  at += words << 1;
  ownerAt = at;
  at = from;
  plainAt = at;
  at += words;
  plainStateAt = at;
  at += words;
  stateCountAt = at;
  at += (<usize>stateRoom) << 2;
  stateFirstAt = at;
  at += (<usize>stateRoom) << 2;
  // Slots of twelve bytes, twice as many as states. The tables before the last one are together as large as that one.
  trieAt = at;
  const end = at + <usize>stateRoom * 48;
  at = from;
  // Each name belongs to a node or an edge.
  markOfNameAt = at;
  at += words + edgeWords;
  markedAt = at;
  at += words;
  marksAt = at;
  const marked = at + words;
  at = from;
  placeOfAt = at;
  at += words;
  rowOfTypeAt = at;
  at += 1024;
  // Each place belongs to a node.
  rowOfNameAt = at;
  at += words + edgeWords;
  rowAtPlaceAt = at;
  // The sums start after the stack, which is at the beginning.
  at = from + (words << 1);
  classRoom = nodes + 4096;
  const classWords = (<usize>classRoom) << 2;
  classSelfAt = at;
  at += classWords << 1;
  classRetainedAt = at;
  at += classWords << 1;
  classCountAt = at;
  at += classWords;
  classDistanceAt = at;
  at += classWords;
  classOpenAt = at;
  at += classWords;
  let last = rowAtPlaceAt + (words << 1);
  if (at > last) last = at;
  if (end > last) last = end;
  return marked > last ? marked : last;
}
