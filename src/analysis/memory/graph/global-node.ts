/**
 * Whether a node is a root or the global object, which retain everything. Since Node 26 the global object is below its native
 * context.
 */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';

export function isGlobal(heap: Heap, node: number): boolean {
  return (
    node === heap.root ||
    heap.snapshot.nodes.type[node] === NodeType.synthetic ||
    /^(global|Window|system \/ NativeContext)\b/.test(heap.snapshot.nodeName(node))
  );
}
