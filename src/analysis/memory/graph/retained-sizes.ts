/** Retained sizes in bytes: the size of a node and of all nodes that it dominates. Exact up to 2^53. */
import type { SizeColumn } from '../../../formats/heapsnapshot/index.ts';
import type { DominatorTree } from './dominators.ts';

/** Replaces the counter of a node whose bytes were added to its dominator's. */
const isAdded = 0xffffffff;

/** By ordinal. Four bytes per node if the whole heap is smaller than 4 GiB. */
export type RetainedSizes = Uint32Array | Float64Array;

/** The size of a node is part of its dominator's. Uses the tree's spare memory, so it can be called only once per tree. */
export function computeRetainedSizes(tree: DominatorTree, selfSize: SizeColumn): RetainedSizes {
  const { dominator, kernel, spare } = tree;
  const count = dominator.length;
  if (kernel?.holds('shallow', selfSize.narrow) && !selfSize.hasWide) {
    kernel.code.sumRetained();
    return kernel.doubles('retained', count);
  }
  const retained = isNarrow(selfSize)
    ? (spare?.take() ?? new Uint32Array(count)).subarray(0, count)
    : new Float64Array(spare?.takeWide() ?? new ArrayBuffer(8 * count), 0, count);
  retained.set(selfSize.narrow);
  for (const [node, bytes] of selfSize.wideRows()) retained[node] = bytes;
  addUp(dominator, retained, spare?.work ?? new Uint32Array(count));
  return retained;
}

function isNarrow({ hasWide, narrow }: SizeColumn): boolean {
  let total = 0;
  for (let node = 0; node < narrow.length; node++) total += narrow[node]!;
  return !hasWide && total <= 0xffffffff;
}

/**
 * Adds each node to its dominator once all nodes that it dominates were added. The root is its own dominator, so its counter
 * never becomes zero.
 */
function addUp(dominator: Uint32Array, retained: RetainedSizes, waitsFor: Uint32Array): void {
  const count = dominator.length;
  waitsFor.fill(0, 0, count);
  for (let node = 0; node < count; node++) waitsFor[dominator[node]!]!++;
  for (let node = 0; node < count; node++) {
    for (let at = node; waitsFor[at] === 0; ) {
      const above = dominator[at]!;
      retained[above]! += retained[at]!;
      waitsFor[at] = isAdded;
      waitsFor[above]!--;
      at = above;
    }
  }
}
