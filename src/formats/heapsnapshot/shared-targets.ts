/**
 * Which nodes more than one edge leads to, of whatever kind: much cheaper than to know which edges those are, and
 * what spares a search of the graph most of its work. A bit by ordinal, so that all of it stays in a core's cache.
 */
import { edgeTargetMask } from './layout.ts';

export const sharedTargetBytes = (nodeCount: number): number => (nodeCount >>> 3) + 1;

/** @param isShared zeros, `sharedTargetBytes` of them, to be filled. */
export function findSharedTargets(
  packed: Uint32Array,
  count: number,
  nodeCount: number,
  isShared: Uint8Array,
): void {
  // Two bits a node, one above the other: an edge leads to it; one more does.
  const counts = new Uint32Array((nodeCount >>> 4) + 1);
  for (let edge = 0; edge < count; edge++) {
    const target = packed[edge]! & edgeTargetMask;
    const bit = 1 << ((target & 15) << 1);
    const before = counts[target >>> 4]!;
    counts[target >>> 4] = before | bit | ((before & bit) << 1);
  }
  for (let word = 0; word < counts.length; word++) {
    const upper = upperBits(counts[word]!);
    isShared[2 * word] = upper;
    // Beyond the last byte nothing is kept.
    isShared[2 * word + 1] = upper >>> 8;
  }
}

/** The upper one of each two bits, side by side. */
function upperBits(word: number): number {
  let bits = (word >>> 1) & 0x55555555;
  bits = (bits | (bits >>> 1)) & 0x33333333;
  bits = (bits | (bits >>> 2)) & 0x0f0f0f0f;
  bits = (bits | (bits >>> 4)) & 0x00ff00ff;
  return (bits | (bits >>> 8)) & 0xffff;
}
