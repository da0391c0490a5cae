/** Distances from the root, and the owners of V8's internal parts: the counterpart of distances.ts and shallow-sizes.ts. */
import {
  distanceAt,
  firstEdgeAt,
  flagsAt,
  nameAt,
  nodes,
  ownerAt,
  packedAt,
  passes,
  queueAt,
  selfSizeAt,
  shallowAt,
  targetMask,
  typeAt,
  typeShift,
  weak,
} from './graph-columns';

let queued: u32 = 0;
let taken: u32 = 0;

/** Owned by the node that refers to it (shallow-sizes.ts). */
const isPart: u8 = 1;
/** `passes` is called for its edges (distances.ts). */
const isSpecial: u8 = 2;

/** Sets the flags from the types and name indexes used in these two files. */
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

/** Starts a breadth-first search: resets all distances and empties the queue. */
export function resetDistances(unseen: i32): void {
  for (let node: u32 = 0; node < nodes; node++) store<i32>(distanceAt + ((<usize>node) << 2), unseen);
  queued = 0;
}

export function reach(node: u32, distance: i32): void {
  store<i32>(distanceAt + ((<usize>node) << 2), distance);
  store<u32>(queueAt + ((<usize>queued) << 2), node);
  queued++;
}

/** BreadthFirst.#visitQueue of distances.ts, for at most `most` nodes; returns whether there are more. */
export function visitQueue(unseen: i32, most: u32): bool {
  const last = taken + most;
  for (; taken < queued && taken < last; taken++) {
    const node = load<u32>(queueAt + ((<usize>taken) << 2));
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
  if (taken < queued) return true;
  queued = 0;
  taken = 0;
  return false;
}

/** Called before findOwners: a node owns itself; an internal part is `unowned`. */
export function startOwners(unowned: u32): void {
  for (let node: u32 = 0; node < nodes; node++)
    store<u32>(ownerAt + ((<usize>node) << 2), load<u8>(flagsAt + node) & isPart ? unowned : node);
}

/** findOwners of shallow-sizes.ts, for the parts owned by the nodes [from, to). */
export function findOwners(from: u32, to: u32, unowned: u32, shared: u32): void {
  for (let node = from; node < to; node++) {
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

/** `transfer` of shallow-sizes.ts; false if a sum needs more than 32 bits. */
export function transferSizes(root: u32, synthetic: u32, shared: u32): bool {
  memory.copy(shallowAt, selfSizeAt, (<usize>nodes) << 2);
  for (let node: u32 = 0; node < nodes; node++) {
    const owner = load<u32>(ownerAt + ((<usize>node) << 2));
    if (owner === node || owner >= shared || owner === root) continue;
    if (<u32>load<u8>(typeAt + owner) === synthetic) continue;
    const own = shallowAt + ((<usize>node) << 2);
    const owners = shallowAt + ((<usize>owner) << 2);
    const sum = <u64>load<u32>(owners) + load<u32>(own);
    if (sum >= 0xffffffff) return false;
    store<u32>(owners, <u32>sum);
    store<u32>(own, 0);
  }
  return true;
}
