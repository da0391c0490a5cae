/** For rules about one class of Node's own: how many there are, what they hold, and the largest of them. */
import { EdgeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';

export interface CountedClass {
  count: number;
  bytes: number;
  largest: number;
  /** The first of those that one and the same node keeps alive, of the node that keeps most of them. */
  typical: number;
}

/** Of the nodes whose class has this name; undefined when there are none. */
export function countClass(heap: Heap, name: string | RegExp): CountedClass | undefined {
  const isWanted = heap.classes.kinds.map((kind) =>
    typeof name === 'string' ? kind.name === name : name.test(kind.name),
  );
  if (!isWanted.includes(true)) return undefined;
  const found: CountedClass = { count: 0, bytes: 0, largest: -1, typical: -1 };
  const groups = new Map<number, { count: number; first: number }>();
  for (const [row, wanted] of isWanted.entries())
    if (wanted) found.bytes += heap.aggregates.retainedSize[row]!;
  for (let node = 0; node < heap.nodeCount; node++) {
    if (!isWanted[heap.classes.of[node]!] || heap.selfSize.get(node) === 0) continue;
    found.count++;
    // `Promise.prototype` is of class Promise too, and nobody's leak.
    if (isPrototype(heap, node)) continue;
    const group = groups.get(heap.tree.dominator[node]!) ?? { count: 0, first: node };
    groups.set(heap.tree.dominator[node]!, group);
    group.count++;
    if (found.largest < 0 || heap.retained[node]! > heap.retained[found.largest]!) found.largest = node;
  }
  let most = 0;
  for (const { count, first } of groups.values())
    if (count > most) {
      most = count;
      found.typical = first;
    }
  return found.count ? found : undefined;
}

function isPrototype({ snapshot, retainers }: Heap, node: number): boolean {
  for (const edge of retainers.to(node))
    if (snapshot.edgeType(edge) === EdgeType.property && snapshot.edgeName(edge) === 'prototype') return true;
  return false;
}
