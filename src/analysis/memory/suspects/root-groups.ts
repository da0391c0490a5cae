/** The groups of V8's own roots: `(GC roots)`, and below it `(Strong roots)`, `(Read-only roots)`, `(Global handles)` and so on. */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';

export function rootGroups(heap: Heap): number[] {
  return groupsBelow(heap, heap.root).flatMap((group) => [group, ...groupsBelow(heap, group)]);
}

function groupsBelow({ snapshot }: Heap, node: number): number[] {
  const { firstEdge, type } = snapshot.nodes;
  const found: number[] = [];
  for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++) {
    const target = snapshot.edgeTarget(edge);
    if (type[target] === NodeType.synthetic && target !== node) found.push(target);
  }
  return found;
}
