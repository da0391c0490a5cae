/**
 * Spanning tree, dominators and the dominated nodes: the counterpart of spanning-tree.ts, dominators.ts and
 * dominated-index.ts.
 */
import {
  counts,
  crossingAt,
  dominatedAt,
  dominatorAt,
  firstAt,
  firstEdgeAt,
  hidden,
  linksAt,
  nodes,
  numberAt,
  orderAt,
  packedAt,
  parentAt,
  retainedAt,
  seenAt,
  semiAt,
  shallowAt,
  sharedAt,
  sourcesAt,
  stackAt,
  startsAt,
  targetMask,
  typeShift,
  weak,
} from './graph-columns';

let crossings: u32 = 0;
export let visited: u32 = 0;

/** State of an interrupted walk: the depth of its stack, and the values of the current node. */
let depth: u32 = 0;
let vertex: u32 = 0;
let anchor: u32 = 0;
let edge: u32 = 0;
let end: u32 = 0;

/**
 * One bit per ordinal: whether more than one edge leads to it. Processes the edges [from, to); must be called from the first
 * edges on.
 */
export function findShared(from: u32, to: u32): void {
  if (from === 0) memory.fill(seenAt, 0, <usize>(nodes >>> 3) + 1);
  for (let edge = from; edge < to; edge++) {
    const target = load<u32>(packedAt + ((<usize>edge) << 2)) & targetMask;
    const at = <usize>(target >>> 3);
    const bit: u32 = 1 << (target & 7);
    const before = <u32>load<u8>(seenAt + at);
    if (before & bit) store<u8>(sharedAt + at, load<u8>(sharedAt + at) | <u8>bit);
    else store<u8>(seenAt + at, <u8>(before | bit));
  }
}

/** Called before the first walk. */
export function startTree(): void {
  memory.fill(numberAt, 0, (<usize>nodes) << 2);
  memory.fill(startsAt, 0, (<usize>nodes + 2) << 2);
}

/** Search.#walk of spanning-tree.ts: visits `start`; goOn visits the rest. */
export function walk(start: u32): void {
  visited++;
  depth = 0;
  vertex = visited;
  anchor = vertex;
  store<u32>(numberAt + ((<usize>start) << 2), vertex);
  store<u32>(parentAt + ((<usize>vertex) << 2), 1);
  store<u32>(semiAt + ((<usize>vertex) << 2), 1);
  edge = load<u32>(firstEdgeAt + ((<usize>start) << 2));
  end = load<u32>(firstEdgeAt + ((<usize>start) << 2), 4);
}

/**
 * Continues for `steps` steps; returns whether there is more. Called repeatedly, because code that V8 has optimised in the
 * meantime is only used from the next call on. A stack entry: vertex, anchor, next edge, end of its edges.
 */
export function goOn(lastPage: u32, steps: i32): bool {
  let top = stackAt + ((<usize>depth) << 4);
  for (; steps > 0; steps--) {
    if (edge === end) {
      if (depth === 0) return false;
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
  return true;
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

/** Sorts the crossing edges by target, for evaluateSemidominators. */
export function sortCrossings(): void {
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
}

/** evaluateSemidominators of dominators.ts, for the vertices from `last` down to `first`. */
export function evaluateSemidominators(last: u32, first: u32): void {
  // After sorting, each start is the end of a vertex's edges, and the previous start is their beginning.
  for (let vertex = last; vertex >= first; vertex--) {
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

/** The plain walk of computeImmediateDominators; false if it takes more than `patience` steps per vertex. */
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

/** computeRetainedSizes of retained-sizes.ts, from the sizes in shallowAt. */
export function sumRetained(): void {
  for (let node: u32 = 0; node < nodes; node++)
    store<f64>(retainedAt + ((<usize>node) << 3), <f64>load<u32>(shallowAt + ((<usize>node) << 2)));
  for (let at = nodes - 1; at > 0; at--) {
    const node = load<u32>(orderAt + ((<usize>at) << 2));
    const above = retainedAt + ((<usize>load<u32>(dominatorAt + ((<usize>node) << 2))) << 3);
    store<f64>(above, load<f64>(above) + load<f64>(retainedAt + ((<usize>node) << 3)));
  }
}

/** DominatedIndex of dominated-index.ts. */
export function indexDominated(root: u32): void {
  memory.fill(firstAt, 0, (<usize>nodes + 2) << 2);
  for (let node: u32 = 0; node < nodes; node++) {
    if (node === root) continue;
    const count = firstAt + ((<usize>load<u32>(dominatorAt + ((<usize>node) << 2))) << 2) + 8;
    store<u32>(count, load<u32>(count) + 1);
  }
  for (let node: u32 = 2; node <= nodes; node++) {
    const at = firstAt + ((<usize>node) << 2);
    store<u32>(at, load<u32>(at) + load<u32>(at - 4));
  }
  // The counter of each row is in the next element; once filled, it equals the start of the next row.
  for (let node: u32 = 0; node < nodes; node++) {
    if (node === root) continue;
    const next = firstAt + ((<usize>load<u32>(dominatorAt + ((<usize>node) << 2))) << 2) + 4;
    const row = load<u32>(next);
    store<u32>(dominatedAt + ((<usize>row) << 2), node);
    store<u32>(next, row + 1);
  }
}
