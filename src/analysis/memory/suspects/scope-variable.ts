/** The variable of a function's scope that retains most. */
import { EdgeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';

export const isScope = ({ snapshot }: Heap, node: number): boolean =>
  snapshot.nodeName(node).startsWith('system / Context');

/** Only counts what the scope alone keeps alive. */
export function largestVariable(heap: Heap, scope: number): { name: string; node: number } | undefined {
  const { snapshot } = heap;
  let largest: { name: string; node: number } | undefined;
  for (let edge = snapshot.nodes.firstEdge[scope]!; edge < snapshot.nodes.firstEdge[scope + 1]!; edge++) {
    if (snapshot.edgeType(edge) !== EdgeType.context) continue;
    const node = snapshot.edgeTarget(edge);
    if (heap.tree.dominator[node] !== scope) continue;
    if (!largest || heap.retained[node]! > heap.retained[largest.node]!)
      largest = { name: snapshot.edgeName(edge), node };
  }
  return largest;
}
