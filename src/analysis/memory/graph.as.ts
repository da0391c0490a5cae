/**
 * The walks over a small snapshot's graph, in AssemblyScript (https://www.assemblyscript.org): of a heap of some ten
 * megabytes V8 has not compiled the same loops in JavaScript before they are over. `npm run build:kernel` compiles this
 * file into graph-code.ts. The algorithms, their names and their sources are those of spanning-tree.ts, dominators.ts,
 * distances.ts, shallow-sizes.ts and shapes.ts, which do the same for large snapshots.
 */

/** What the edge types hold that are not simply strong (`value < 0`): asked of TypeScript, they are few. */
declare function counts(value: u32, edge: u32, lastPage: u32): bool;
declare function passes(value: u32, edge: u32, node: u32): bool;
declare function rowOf(node: u32): i32;

const targetMask: u32 = 0x1fffffff;
const typeShift: u32 = 29;
/** EdgeType of layout.ts: those above `weak` are entries of WeakMaps. */
const hidden: u32 = 4;
const weak: u32 = 6;

let nodes: u32 = 0;
let edges: u32 = 0;
/** Columns; the first ones are filled by whoever asks. */
export let packedAt: usize = 0;
export let edgeNameAt: usize = 0;
export let edgeNameHighAt: usize = 0;
export let placeOfAt: usize = 0;
export let firstEdgeAt: usize = 0;
export let nameAt: usize = 0;
export let typeAt: usize = 0;
/** By node: `isPart`, `isSpecial`. */
let flagsAt: usize = 0;
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
let rowOfTypeAt: usize = 0;
let rowOfNameAt: usize = 0;
/** By place: the row, and the name that it is of. */
let rowAtPlaceAt: usize = 0;
let rowsAssigned: bool = false;
let trieAt: usize = 0;
let tableAt: usize = 0;
let mask: u32 = 0;
export let states: i32 = 0;
const firstSlots: u32 = 1 << 12;
const stateRoom: u32 = 1 << 18;
let seenAt: usize = 0;
let stackAt: usize = 0;
let crossingAt: usize = 0;
let sourcesAt: usize = 0;
let queueAt: usize = 0;
let crossings: u32 = 0;
export let visited: u32 = 0;
let queued: u32 = 0;

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

/** Owned by who refers to it: shallow-sizes.ts. */
const isPart: u8 = 1;
/** `passes` is asked of its edges: distances.ts. */
const isSpecial: u8 = 2;

/** By the types and the names' indexes of which those two files speak. */
export function setFlags(
  internal: u32,
  array: u32,
  native: u32,
  context: u32,
  descriptors: u32,
  data: u32,
): void {
  for (let node: u32 = 0; node < nodes; node++) {
    const type = <u32>load<u8>(typeAt + node);
    const name = load<u32>(nameAt + ((<usize>node) << 2));
    let flags: u8 = 0;
    if (type === internal) flags = name === context ? isPart | isSpecial : isPart;
    else if (type === array) flags = name === descriptors ? isPart | isSpecial : isPart;
    else if (type === native && name === data) flags = isPart;
    store<u8>(flagsAt + node, flags);
  }
}

/** A bit by ordinal: whether more than one edge leads to it. */
export function findShared(): void {
  for (let edge: u32 = 0; edge < edges; edge++) {
    const target = load<u32>(packedAt + ((<usize>edge) << 2)) & targetMask;
    const at = <usize>(target >>> 3);
    const bit: u32 = 1 << (target & 7);
    const before = <u32>load<u8>(seenAt + at);
    if (before & bit) store<u8>(sharedAt + at, load<u8>(sharedAt + at) | <u8>bit);
    else store<u8>(seenAt + at, <u8>(before | bit));
  }
}

/** Search.#walk of spanning-tree.ts. An entry of the stack: vertex, anchor, next edge, end of its edges. */
export function walk(start: u32, lastPage: u32): void {
  let depth: u32 = 0;
  let top = stackAt;
  let vertex = ++visited;
  let anchor = vertex;
  store<u32>(numberAt + ((<usize>start) << 2), vertex);
  store<u32>(parentAt + ((<usize>vertex) << 2), 1);
  store<u32>(semiAt + ((<usize>vertex) << 2), 1);
  let edge = load<u32>(firstEdgeAt + ((<usize>start) << 2));
  let end = load<u32>(firstEdgeAt + ((<usize>start) << 2), 4);
  while (true) {
    if (edge === end) {
      if (depth === 0) break;
      depth--;
      top -= 16;
      vertex = load<u32>(top);
      anchor = load<u32>(top, 4);
      edge = load<u32>(top, 8);
      end = load<u32>(top, 12);
      continue;
    }
    const value = load<u32>(packedAt + ((<usize>edge) << 2));
    edge++;
    const target = value & targetMask;
    const type = value >>> typeShift;
    if (type > hidden && (type === weak || !counts(value, edge - 1, lastPage))) continue;
    const known = load<i32>(numberAt + ((<usize>target) << 2));
    if (known > <i32>vertex) {
      const semi = semiAt + ((<usize>known) << 2);
      if (load<u32>(semi) > vertex) store<u32>(semi, vertex);
    } else if (known > <i32>lastPage) {
      if (<u32>known < anchor) {
        const crossing = crossingAt + ((<usize>crossings) << 3);
        crossings++;
        store<u32>(crossing, known);
        store<u32>(crossing, anchor, 4);
      } else if (<u32>known < vertex) settle(known, depth);
    } else if (known === 0) {
      store<u32>(top, vertex);
      store<u32>(top, anchor, 4);
      store<u32>(top, edge, 8);
      store<u32>(top, end, 12);
      top += 16;
      depth++;
      visited++;
      store<u32>(numberAt + ((<usize>target) << 2), visited);
      store<u32>(parentAt + ((<usize>visited) << 2), vertex);
      store<u32>(semiAt + ((<usize>visited) << 2), vertex);
      vertex = visited;
      if (load<u8>(sharedAt + <usize>(target >>> 3)) & (1 << (target & 7))) anchor = vertex;
      edge = load<u32>(firstEdgeAt + ((<usize>target) << 2));
      end = load<u32>(firstEdgeAt + ((<usize>target) << 2), 4);
    }
  }
}

function settle(known: u32, depth: u32): void {
  let low: u32 = 0;
  let high = depth;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (load<u32>(stackAt + ((<usize>middle) << 4)) <= known) low = middle + 1;
    else high = middle;
  }
  const ancestor: u32 = low > 0 ? load<u32>(stackAt + ((<usize>(low - 1)) << 4)) : 1;
  const semi = semiAt + ((<usize>known) << 2);
  if (ancestor !== known && ancestor < load<u32>(semi)) store<u32>(semi, ancestor);
}

/** evaluateSemidominators of dominators.ts; crossing edges are sorted by their target at once. */
export function evaluateSemidominators(): void {
  for (let at: u32 = 0; at < crossings; at++) {
    const count = startsAt + ((<usize>load<u32>(crossingAt + ((<usize>at) << 3))) << 2) + 4;
    store<u32>(count, load<u32>(count) + 1);
  }
  for (let vertex: u32 = 1; vertex <= visited + 1 && vertex <= nodes + 1; vertex++) {
    const at = startsAt + ((<usize>vertex) << 2);
    store<u32>(at, load<u32>(at) + load<u32>(at - 4));
  }
  for (let at: u32 = 0; at < crossings; at++) {
    const crossing = crossingAt + ((<usize>at) << 3);
    const start = startsAt + ((<usize>load<u32>(crossing)) << 2);
    const row = load<u32>(start);
    store<u32>(sourcesAt + ((<usize>row) << 2), load<u32>(crossing, 4));
    store<u32>(start, row + 1);
  }
  // Each start is now where its edges end, and the one before it where they begin.
  for (let vertex = visited; vertex > 0; vertex--) {
    const at = startsAt + ((<usize>vertex) << 2);
    const end = load<u32>(at);
    let best = load<u32>(semiAt + ((<usize>vertex) << 2));
    for (let row = load<u32>(at - 4); row < end && best > 1; row++) {
      const label = evaluate(load<u32>(sourcesAt + ((<usize>row) << 2)), vertex);
      if (label < best) best = label;
    }
    store<u32>(semiAt + ((<usize>vertex) << 2), best);
    const link = linksAt + ((<usize>vertex) << 3);
    store<u32>(link, load<u32>(parentAt + ((<usize>vertex) << 2)));
    store<u32>(link, best, 4);
  }
}

/** Forest.evaluate of dominators.ts. */
function evaluate(vertex: u32, bound: u32): u32 {
  let link = linksAt + ((<usize>vertex) << 3);
  if (load<u32>(link) <= bound) return load<u32>(link, 4);
  let depth: u32 = 0;
  let up = load<u32>(link);
  while (up > bound) {
    store<u32>(stackAt + ((<usize>depth) << 2), <u32>link);
    depth++;
    link = linksAt + ((<usize>up) << 3);
    up = load<u32>(link);
  }
  let best = load<u32>(link, 4);
  while (depth > 0) {
    depth--;
    const below = <usize>load<u32>(stackAt + ((<usize>depth) << 2));
    store<u32>(below, up);
    if (load<u32>(below, 4) > best) store<u32>(below, best, 4);
    else best = load<u32>(below, 4);
  }
  return best;
}

/** The plain walk of computeImmediateDominators; false where it takes more than `patience` steps a vertex. */
export function findImmediateDominators(patience: u32): bool {
  let steps: i64 = <i64>patience * visited;
  for (let vertex: u32 = 2; vertex <= visited; vertex++) {
    const bound = load<u32>(semiAt + ((<usize>vertex) << 2));
    const parent = parentAt + ((<usize>vertex) << 2);
    let at = load<u32>(parent);
    for (; at > bound; steps--) at = load<u32>(parentAt + ((<usize>at) << 2));
    store<u32>(parent, at);
    if (steps < 0) return false;
  }
  return true;
}

/** byOrdinal of dominators.ts. */
export function orderNodes(root: u32): void {
  let unreached = visited;
  for (let node: u32 = 0; node < nodes; node++) {
    const vertex = load<i32>(numberAt + ((<usize>node) << 2));
    const row: u32 = vertex > 0 ? vertex - 1 : unreached;
    if (vertex <= 0) unreached++;
    store<u32>(orderAt + ((<usize>row) << 2), node);
  }
  for (let node: u32 = 0; node < nodes; node++) {
    const vertex = load<i32>(numberAt + ((<usize>node) << 2));
    const above = vertex > 1 ? load<u32>(parentAt + ((<usize>vertex) << 2)) : 0;
    const dominator = vertex > 1 ? load<u32>(orderAt + ((<usize>(above - 1)) << 2)) : root;
    store<u32>(dominatorAt + ((<usize>node) << 2), dominator);
  }
}

/** DominatedIndex of dominated-index.ts, of the last dominators: rows of the first in startsAt, the nodes in linksAt. */
export function indexDominated(root: u32): void {
  memory.fill(startsAt, 0, (<usize>nodes + 2) << 2);
  for (let node: u32 = 0; node < nodes; node++) {
    if (node === root) continue;
    const count = startsAt + ((<usize>load<u32>(dominatorAt + ((<usize>node) << 2))) << 2) + 8;
    store<u32>(count, load<u32>(count) + 1);
  }
  for (let node: u32 = 2; node <= nodes; node++) {
    const at = startsAt + ((<usize>node) << 2);
    store<u32>(at, load<u32>(at) + load<u32>(at - 4));
  }
  // Each row's own counter is the one after it, which ends where the next begins.
  for (let node: u32 = 0; node < nodes; node++) {
    if (node === root) continue;
    const next = startsAt + ((<usize>load<u32>(dominatorAt + ((<usize>node) << 2))) << 2) + 4;
    const row = load<u32>(next);
    store<u32>(linksAt + ((<usize>row) << 2), node);
    store<u32>(next, row + 1);
  }
}

/** Starts a breadth-first search: the distance of all nodes, and an empty queue. */
export function resetDistances(unseen: i32): void {
  for (let node: u32 = 0; node < nodes; node++) store<i32>(distanceAt + ((<usize>node) << 2), unseen);
  queued = 0;
}

export function reach(node: u32, distance: i32): void {
  store<i32>(distanceAt + ((<usize>node) << 2), distance);
  store<u32>(queueAt + ((<usize>queued) << 2), node);
  queued++;
}

/** BreadthFirst.#visitQueue of distances.ts. */
export function visitQueue(unseen: i32): void {
  for (let at: u32 = 0; at < queued; at++) {
    const node = load<u32>(queueAt + ((<usize>at) << 2));
    const distance = load<i32>(distanceAt + ((<usize>node) << 2)) + 1;
    const end = load<u32>(firstEdgeAt + ((<usize>node) << 2), 4);
    const asks = (load<u8>(flagsAt + node) & isSpecial) !== 0;
    for (let edge = load<u32>(firstEdgeAt + ((<usize>node) << 2)); edge < end; edge++) {
      const value = load<u32>(packedAt + ((<usize>edge) << 2));
      const seen = distanceAt + ((<usize>(value & targetMask)) << 2);
      if (load<i32>(seen) !== unseen) continue;
      const type = value >>> typeShift;
      if (type === weak || ((asks || type > weak) && !passes(value, edge, node))) continue;
      store<i32>(seen, distance);
      store<u32>(queueAt + ((<usize>queued) << 2), value & targetMask);
      queued++;
    }
  }
  queued = 0;
}

/** findOwners of shallow-sizes.ts; owners are set to the node itself, or to `unowned` for an internal part. */
export function findOwners(unowned: u32, shared: u32): void {
  for (let node: u32 = 0; node < nodes; node++)
    store<u32>(ownerAt + ((<usize>node) << 2), load<u8>(flagsAt + node) & isPart ? unowned : node);
  for (let node: u32 = 0; node < nodes; node++) {
    if (load<u32>(ownerAt + ((<usize>node) << 2)) !== node) continue;
    let depth: u32 = 1;
    store<u32>(queueAt, node);
    while (depth > 0) {
      depth--;
      const owned = load<u32>(queueAt + ((<usize>depth) << 2));
      const owner = load<u32>(ownerAt + ((<usize>owned) << 2));
      const end = load<u32>(firstEdgeAt + ((<usize>owned) << 2), 4);
      for (let edge = load<u32>(firstEdgeAt + ((<usize>owned) << 2)); edge < end; edge++) {
        const value = load<u32>(packedAt + ((<usize>edge) << 2));
        const target = value & targetMask;
        const known = load<u32>(ownerAt + ((<usize>target) << 2));
        if (known === target || known === owner || known === shared) continue;
        if (value >>> typeShift === weak) continue;
        store<u32>(ownerAt + ((<usize>target) << 2), known === unowned ? owner : shared);
        store<u32>(queueAt + ((<usize>depth) << 2), target);
        depth++;
      }
    }
  }
}

/**
 * PropertyLists of shapes.ts: a walk down a trie of names for each plain object. Lists the plain objects with their
 * states (-1: more than `mostListed` properties), and by state how many have it and the first of them. Returns the
 * number of plain objects, or -1 where there are more states than room.
 */
export function findShapes(object: u32, objectName: u32, property: u32, mostListed: u32): i32 {
  let plain: i32 = 0;
  if (states > 0) {
    memory.fill(stateCountAt, 0, (<usize>stateRoom) << 2);
    memory.fill(trieAt, 0, <usize>stateRoom * 48);
  }
  states = 1;
  mask = firstSlots - 1;
  tableAt = trieAt;
  for (let node: u32 = 0; node < nodes; node++) {
    if (<u32>load<u8>(typeAt + node) !== object) continue;
    if (load<u32>(nameAt + ((<usize>node) << 2)) !== objectName) continue;
    let state: i32 = 0;
    let length: u32 = 0;
    const end = load<u32>(firstEdgeAt + ((<usize>node) << 2), 4);
    for (let edge = load<u32>(firstEdgeAt + ((<usize>node) << 2)); edge < end; edge++) {
      if (load<u32>(packedAt + ((<usize>edge) << 2)) >>> typeShift !== property) continue;
      length++;
      if (length > mostListed) {
        state = -1;
        break;
      }
      const high = <u32>load<u8>(edgeNameHighAt + edge);
      state = next(state, <u32>load<u16>(edgeNameAt + ((<usize>edge) << 1)) | (high << 16));
      if (state < 0) return -1;
    }
    store<u32>(plainAt + ((<usize>plain) << 2), node);
    store<i32>(plainStateAt + ((<usize>plain) << 2), state);
    plain++;
    if (state < 0) continue;
    const count = stateCountAt + ((<usize>state) << 2);
    if (load<u32>(count) === 0) store<u32>(stateFirstAt + ((<usize>state) << 2), node);
    store<u32>(count, load<u32>(count) + 1);
  }
  return plain;
}

/** IndexTrie.next of shapes.ts; -1 where there is no room for one more. */
function next(state: i32, index: u32): i32 {
  let slot = findSlot(state, index);
  if (load<i32>(slot, 8) === 0) {
    if (states === <i32>stateRoom) return -1;
    if (<u32>states * 2 > mask) {
      growTrie();
      slot = findSlot(state, index);
    }
    store<i32>(slot, state);
    store<u32>(slot, index, 4);
    store<i32>(slot, states, 8);
    states++;
  }
  return load<i32>(slot, 8);
}

function findSlot(state: i32, index: u32): usize {
  let hash: u32 = (<u32>state * 0x9e3779b1) ^ (index * 0x85ebca6b);
  hash ^= hash >>> 15;
  let at = hash & mask;
  while (true) {
    const slot = tableAt + <usize>at * 12;
    if (load<i32>(slot, 8) === 0) return slot;
    if (load<i32>(slot) === state && load<u32>(slot, 4) === index) return slot;
    at = (at + 1) & mask;
  }
}

/** Each table stands after the one before it. */
function growTrie(): void {
  const old = tableAt;
  const end = tableAt + <usize>(mask + 1) * 12;
  mask = mask * 2 + 1;
  tableAt = end;
  for (let slot = old; slot < end; slot += 12) {
    if (load<i32>(slot, 8) === 0) continue;
    const to = findSlot(load<i32>(slot), load<u32>(slot, 4));
    store<i32>(to, load<i32>(slot));
    store<u32>(to, load<u32>(slot, 4), 4);
    store<i32>(to, load<i32>(slot, 8), 8);
  }
}

/**
 * The rows of classes.ts. A type other than `object` and `native` is one class; of those two a name is one at a place,
 * and of objects only the last name at a place is remembered. What is not known yet is asked of TypeScript.
 */
export function assignRows(object: u32, native: u32): void {
  if (rowsAssigned) memory.fill(rowOfTypeAt, 0, trieAt - rowOfTypeAt);
  rowsAssigned = true;
  for (let node: u32 = 0; node < nodes; node++) {
    const type = <u32>load<u8>(typeAt + node);
    const name = load<u32>(nameAt + ((<usize>node) << 2));
    const place: u32 = type === object ? load<u32>(placeOfAt + ((<usize>node) << 2)) : 0;
    let known: usize = 0;
    let row: i32 = 0;
    if (type !== object && type !== native) known = rowOfTypeAt + ((<usize>type) << 2);
    else if (place === 0) known = rowOfNameAt + ((<usize>name) << 2);
    else {
      known = rowAtPlaceAt + ((<usize>place) << 3);
      if (load<u32>(known, 4) !== name) store<i32>(known, 0);
      store<u32>(known, name, 4);
    }
    row = load<i32>(known);
    if (row === 0) {
      row = rowOf(node) + 1;
      store<i32>(known, row);
    }
    store<u32>(rowAt + ((<usize>node) << 2), row - 1);
  }
}
