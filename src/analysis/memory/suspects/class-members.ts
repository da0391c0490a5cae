/** The nodes of each class, from one pass over the heap that all rules share. */
import type { Heap } from '../heap.ts';

export interface ClassMembers {
  /** Ordinals of the nodes of one kind (row of `classes.kinds`), ascending. */
  of(kind: number): Uint32Array;
}

const known = new WeakMap<Heap, ClassMembers>();

export function classMembers(heap: Heap): ClassMembers {
  const found = known.get(heap) ?? compute(heap);
  known.set(heap, found);
  return found;
}

function compute(heap: Heap): ClassMembers {
  const { of, kinds } = heap.classes;
  const { nodeCount } = heap;
  const first = new Uint32Array(kinds.length + 1);
  for (let node = 0; node < nodeCount; node++) first[of[node]! + 1]!++;
  for (let kind = 0; kind < kinds.length; kind++) first[kind + 1]! += first[kind]!;
  const next = first.slice();
  const nodes = new Uint32Array(nodeCount);
  for (let node = 0; node < nodeCount; node++) nodes[next[of[node]!]!++] = node;
  return { of: (kind) => nodes.subarray(first[kind]!, first[kind + 1]!) };
}
