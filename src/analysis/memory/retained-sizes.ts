/** Retained sizes: what a node and all that it dominates hold, in bytes, exact up to 2^53. */
import type { SizeColumn } from '../../formats/heapsnapshot/index.ts';
import type { DominatorTree } from './dominators.ts';

/** By ordinal. Sizes of nodes overlap: a node's is part of its dominator's. Takes the tree's room: once a tree. */
export function computeRetainedSizes(tree: DominatorTree, selfSize: SizeColumn): Float64Array {
  const { dominator, order, kernel } = tree;
  if (kernel?.holds('shallow', selfSize.narrow) && !selfSize.hasWide) {
    kernel.code.sumRetained();
    return kernel.doubles('retained', order.length);
  }
  const retained = new Float64Array(tree.room ?? new ArrayBuffer(8 * order.length), 0, order.length);
  retained.set(selfSize.narrow);
  for (const [node, bytes] of selfSize.wideRows()) retained[node] = bytes;
  for (let at = order.length - 1; at > 0; at--) {
    const node = order[at]!;
    retained[dominator[node]!]! += retained[node]!;
  }
  return retained;
}
