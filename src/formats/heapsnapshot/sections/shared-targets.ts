/**
 * Which nodes more than one edge leads to, of whatever kind: much cheaper than to know which edges those are, and
 * what spares a search of the graph most of its work. A bit by ordinal, so that all of it stays in a core's cache.
 */
import { edgeTargetMask } from '../layout.ts';

export const sharedTargetBytes = (nodeCount: number): number => (nodeCount >>> 3) + 1;

/** Looked at in one call: what V8 has compiled better meanwhile serves the next. */
const edgesAtOnce = 1 << 16;

/** @param isShared zeros, `sharedTargetBytes` of them, to be filled. */
export function findSharedTargets(
  packed: Uint32Array,
  count: number,
  nodeCount: number,
  isShared: Uint8Array,
): void {
  const counts = new Uint32Array((nodeCount >>> 4) + 1);
  for (let edge = 0; edge < count; edge += edgesAtOnce)
    countTargets(packed, edge, Math.min(edge + edgesAtOnce, count), counts);
  for (let byte = 0; byte < isShared.length; byte++)
    isShared[byte] = upperBits(counts[byte >>> 1]! >>> (16 * (byte & 1)));
}

/** Two bits a node, one above the other: an edge leads to it; one more does. */
function countTargets(packed: Uint32Array, from: number, to: number, counts: Uint32Array): void {
  for (let edge = from; edge < to; edge++) {
    const target = packed[edge]! & edgeTargetMask;
    const bit = 1 << ((target & 15) << 1);
    const before = counts[target >>> 4]!;
    counts[target >>> 4] = before | bit | ((before & bit) << 1);
  }
}

/** The upper one of each two of the lower sixteen bits, side by side. */
function upperBits(word: number): number {
  let bits = (word >>> 1) & 0x5555;
  bits = (bits | (bits >>> 1)) & 0x3333;
  bits = (bits | (bits >>> 2)) & 0x0f0f;
  return (bits | (bits >>> 4)) & 0xff;
}
