/**
 * All nodes with a size, sorted by id. A sort with a comparator took half of the time of comparing two snapshots. V8's ids are
 * dense (it counts in steps of two), so that nearly always each node has a place of its own in a table by id; after many
 * snapshots of a process with much coming and going they are not, and are sorted.
 */
import type { HeapSnapshot } from '../../../formats/heapsnapshot/index.ts';

export interface RowsById {
  /** Ascending. */
  ids: Uint32Array;
  /** Their ordinals. */
  rows: Uint32Array;
}

const digitBits = 11;
const digitMask = (1 << digitBits) - 1;

const known = new WeakMap<HeapSnapshot, RowsById>();

export function rowsById(snapshot: HeapSnapshot): RowsById {
  const found = known.get(snapshot) ?? compute(snapshot);
  known.set(snapshot, found);
  return found;
}

/** Places of the table for each node: a table is read once, a sort writes every node three times. */
const mostPlaces = 8;
/** The ids of Node's own C++ objects are hashes far above all others. Of so many nodes one may have such an id. */
const leastNear = 8;

function compute({ nodes }: HeapSnapshot): RowsById {
  const { id, count } = nodes;
  const { narrow } = nodes.selfSize;
  const ids = new Uint32Array(count);
  const rows = new Uint32Array(count);
  const mostPlace = mostPlaces * count;
  let length = 0;
  let largest = 0;
  let before = 0;
  let far = 0;
  let isSorted = true;
  for (let node = 0; node < count; node++) {
    if (narrow[node] === 0) continue;
    const own = id.get(node);
    if (own <= before) isSorted = false;
    before = own;
    if (own >= mostPlace) far++;
    else if (own > largest) largest = own;
    ids[length] = own;
    rows[length++] = node;
  }
  const all = { ids: ids.subarray(0, length), rows: rows.subarray(0, length) };
  if (isSorted) return all;
  return (far * leastNear < count && fromTable(all, largest, far)) || sortedById(all);
}

/**
 * Overwrites the given arrays; undefined, and nothing is overwritten, if two nodes have one id or the table has no room in memory.
 * @param largest the largest id that has a place in the table.
 * @param far how many ids are greater.
 */
function fromTable({ ids, rows }: RowsById, largest: number, far: number): RowsById | undefined {
  /** By id: the node, plus one. */
  const nodeOf = tableOf(largest + 1);
  if (!nodeOf) return undefined;
  const rest: RowsById = { ids: new Uint32Array(far), rows: new Uint32Array(far) };
  for (let at = 0, others = 0; at < ids.length; at++) {
    const id = ids[at]!;
    if (id > largest) {
      rest.ids[others] = id;
      rest.rows[others++] = rows[at]!;
    } else if (nodeOf[id] !== 0) return undefined;
    else nodeOf[id] = rows[at]! + 1;
  }
  let at = 0;
  for (let id = 0; id <= largest; id++) {
    if (nodeOf[id] === 0) continue;
    ids[at] = id;
    rows[at++] = nodeOf[id]! - 1;
  }
  const sorted = sortedById(rest);
  ids.set(sorted.ids, at);
  rows.set(sorted.rows, at);
  return { ids, rows };
}

/** Takes up to four times as much memory as a sort does. */
function tableOf(length: number): Uint32Array | undefined {
  try {
    return new Uint32Array(length);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Least-significant-digit radix sort; stable. Overwrites the given arrays. */
export function sortedById(all: RowsById): RowsById {
  const { length } = all.ids;
  let from = all;
  let to: RowsById = { ids: new Uint32Array(length), rows: new Uint32Array(length) };
  for (let shift = 0; shift < 32; shift += digitBits) {
    const next = new Uint32Array(digitMask + 2);
    for (let at = 0; at < length; at++) next[((from.ids[at]! >>> shift) & digitMask) + 1]!++;
    if (next.includes(length)) continue;
    for (let digit = 0; digit <= digitMask; digit++) next[digit + 1]! += next[digit]!;
    for (let at = 0; at < length; at++) {
      const id = from.ids[at]!;
      const place = next[(id >>> shift) & digitMask]!++;
      to.ids[place] = id;
      to.rows[place] = from.rows[at]!;
    }
    [from, to] = [to, from];
  }
  return from;
}
