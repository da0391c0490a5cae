/**
 * Finds the nodes that more than one edge of any type leads to. This is much cheaper than finding these edges, and saves most
 * of the work of a graph search. One bit by ordinal, so that the whole set stays in a core's cache.
 */
import { edgeTargetMask } from '../layout.ts';

export const sharedTargetBytes = (nodeCount: number): number => (nodeCount >>> 3) + 1;

/** Edges per call, so that later calls benefit from code that V8 has optimised in the meantime. */
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

/** Two bits per node: the lower one for the first edge, the upper one for any further edge. */
function countTargets(packed: Uint32Array, from: number, to: number, counts: Uint32Array): void {
  for (let edge = from; edge < to; edge++) {
    const target = packed[edge]! & edgeTargetMask;
    const bit = 1 << ((target & 15) << 1);
    const before = counts[target >>> 4]!;
    counts[target >>> 4] = before | bit | ((before & bit) << 1);
  }
}

/** Packs the upper bit of each pair of the lower sixteen bits. */
function upperBits(word: number): number {
  let bits = (word >>> 1) & 0x5555;
  bits = (bits | (bits >>> 1)) & 0x3333;
  bits = (bits | (bits >>> 2)) & 0x0f0f;
  return (bits | (bits >>> 4)) & 0xff;
}
