/**
 * The field `change`: which objects exist in only one of two snapshots of a process, and which in both. They are matched by
 * V8's ids. Those of its own objects are odd and only increase, so that they also tell which snapshot is the later one; those
 * of embedder nodes are even and come from addresses.
 */
import { AgentdumpError } from '../../../errors.ts';
import { areOfOneProcess } from '../growth/one-process.ts';
import { rowsById } from '../growth/rows-by-id.ts';
import type { Heap } from '../heap.ts';
import { isStringType } from '../questions/node-rows.ts';

/** All that is needed of the other snapshot, so that its graph can be closed. */
export interface OtherSnapshot {
  /** Sorted. */
  ids: Uint32Array;
  /** By row of `ids`. */
  types: Uint8Array;
  hasLastingIds: boolean;
}

/** `new` in the later snapshot, `gone` in the earlier one; null for the roots, which have no size. */
export type Change = 'new' | 'gone' | 'common' | null;

export function otherSnapshot({ snapshot }: Heap): OtherSnapshot {
  const { ids, rows } = rowsById(snapshot);
  const types = new Uint8Array(rows.length);
  for (let row = 0; row < rows.length; row++) types[row] = snapshot.nodes.type[rows[row]!]!;
  return { ids: ids.slice(), types, hasLastingIds: snapshot.header.hasLastingIds };
}

export function changeReader(heap: Heap, other: OtherSnapshot): (node: number) => Change {
  const [onlyHere, inBoth] = [1, 2];
  const state = new Uint8Array(heap.nodeCount);
  const { ids, rows } = rowsById(heap.snapshot);
  const { type } = heap.snapshot.nodes;
  let common = 0;
  let otherType = 0;
  let at = 0;
  for (let row = 0; row < ids.length; row++) {
    const node = rows[row]!;
    while (at < other.ids.length && other.ids[at]! < ids[row]!) at++;
    state[node] = onlyHere;
    if (other.ids[at] !== ids[row]) continue;
    common++;
    if (isSameType(type[node]!, other.types[at]!)) state[node] = inBoth;
    else otherType++;
  }
  const isLater = newestId(ids) >= newestId(other.ids);
  const idsHold = other.hasLastingIds && heap.snapshot.header.hasLastingIds;
  if (!idsHold || !areOfOneProcess(common, isLater ? other.ids.length : ids.length, otherType))
    throw new AgentdumpError(
      'usage',
      'these snapshots are not of one process, so objects can’t be matched: heap diff compares them by class and place',
      { argument: '--baseline' },
    );
  return (node) => {
    if (state[node] === inBoth) return 'common';
    if (state[node] !== onlyHere) return null;
    return isLater ? 'new' : 'gone';
  };
}

/** @param ids sorted. */
const newestId = (ids: Uint32Array): number => ids[ids.findLastIndex((id) => id % 2 === 1)] ?? 0;

/** V8 flattens strings in place. */
const isSameType = (a: number, b: number): boolean => a === b || (isStringType(a) && isStringType(b));
