/** Retained sizes: what a node and all that it dominates hold, in bytes, exact up to 2^53. */
import type { SizeColumn } from '../../../formats/heapsnapshot/index.ts';
import type { DominatorTree } from './dominators.ts';

/** In place of a node's count: its bytes are in its dominator's. */
const isAdded = 0xffffffff;

/** By ordinal. Of four bytes a node where the whole heap is below 4 GiB. */
export type RetainedSizes = Uint32Array | Float64Array;

/** Sizes of nodes overlap: a node's is part of its dominator's. Takes the tree's memory: once a tree. */
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

/** Each node once nothing is left that it dominates; the root, its own dominator, waits for itself. */
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
