/**
 * New objects that only the roots dominate, because several things hold them: a job that is in a list and in a timer. Grouped
 * by class, and reported at the container that they have in common; omitted if there is none.
 */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { HeapGrownNode } from '../../../model/heap.ts';
import { isGlobal } from '../graph/global-node.ts';
import type { Heap } from '../heap.ts';
import { nodeRow } from '../questions/node-rows.ts';
import { generalPath } from '../questions/paths.ts';
import { commonHolder } from '../suspects/common-holder.ts';
import { addedRow } from './added-objects.ts';

const fewestObjects = 8;
const leastBytes = 16 * 1024;
/** If more than half of them replace freed objects, nothing grew. */
const leastNetShare = 0.5;
const ofProgram: ReadonlySet<number> = new Set([
  NodeType.object,
  NodeType.closure,
  NodeType.native,
  NodeType.string,
  NodeType.concatenatedString,
  NodeType.slicedString,
]);

/** For each snapshot, how much the objects of a class retain. */
interface ClassSums {
  classes: ReadonlyMap<string, { retainedSize: number }>;
}

/**
 * @param isNew by ordinal.
 * @param net the share of a class's new objects that don't replace freed ones.
 */
export function sharedGrowth(
  digests: readonly ClassSums[],
  heap: Heap,
  isNew: Uint8Array,
  net: (className: string) => number,
): HeapGrownNode[] {
  const rows: HeapGrownNode[] = [];
  for (const [name, nodes] of newBelowRoots(heap, isNew)) {
    const added = addedRow(heap, name, nodes);
    const share = net(name);
    if (nodes.length < fewestObjects || share < leastNetShare || added.retainedSizeBytes < leastBytes)
      continue;
    const holder = commonHolder(heap, nodes);
    if (holder < 0) continue;
    const heldBytes = digests.map((digest) => digest.classes.get(name)?.retainedSize ?? 0);
    rows.push({
      node: nodeRow(heap, holder),
      count: 1,
      beforeBytes: heldBytes[0]!,
      growthBytes: Math.round(added.retainedSizeBytes * share),
      path: generalPath(heap, holder),
      heldBytes,
      added,
    });
  }
  return rows;
}

function newBelowRoots(heap: Heap, isNew: Uint8Array): Map<string, number[]> {
  const { dominator } = heap.tree;
  const isRoot = new Map<number, boolean>();
  const byClass = new Map<string, number[]>();
  for (let node = 0; node < heap.nodeCount; node++) {
    if (!isNew[node] || !ofProgram.has(heap.snapshot.nodes.type[node]!)) continue;
    const above = dominator[node]!;
    if (!isRoot.has(above)) isRoot.set(above, isGlobal(heap, above));
    if (!isRoot.get(above)) continue;
    const name = heap.className(node);
    const nodes = byClass.get(name) ?? [];
    byClass.set(name, nodes);
    nodes.push(node);
  }
  return byClass;
}
