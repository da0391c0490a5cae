/**
 * Arrays whose room is exactly what they hold: made at once (`Array.from`, JSON.parse), since V8 gives an array that is
 * pushed to half as much room again. What nothing was put into later is a table that was loaded, and no leak.
 */
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { findChild } from '../questions/node-rows.ts';

const fewestElements = 1000;
/** A map and a length stand before the elements. */
const headBytes = 16;
const slotBytes = 8;

export function isMadeAtOnce(heap: Heap, node: number): boolean {
  const { snapshot } = heap;
  const { firstEdge, type, selfSize } = snapshot.nodes;
  if (type[node] !== NodeType.object || snapshot.nodeName(node) !== 'Array') return false;
  let length = 0;
  for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++)
    if (snapshot.edgeType(edge) === EdgeType.element)
      length = Math.max(length, snapshot.edges.nameOrIndex.get(edge) + 1);
  if (length < fewestElements) return false;
  const elements = findChild(heap, node, 'elements', EdgeType.internal);
  return elements >= 0 && selfSize.get(elements) === headBytes + length * slotBytes;
}

/** Bytes of such arrays that are a share of the heap worth a look, none counted twice. */
export function bytesMadeAtOnce(heap: Heap, leastBytes: number): number {
  const { retained, tree, root, snapshot } = heap;
  const found = new Set<number>();
  for (let node = 0; node < heap.nodeCount; node++)
    if (
      retained[node]! >= leastBytes &&
      snapshot.nodes.type[node] === NodeType.object &&
      isMadeAtOnce(heap, node)
    )
      found.add(node);
  let bytes = 0;
  for (const node of found) {
    let above = node === root ? root : tree.dominator[node]!;
    while (above !== root && !found.has(above)) above = tree.dominator[above]!;
    if (!found.has(above)) bytes += retained[node]!;
  }
  return bytes;
}
