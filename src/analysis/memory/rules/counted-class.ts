/** For rules about one class of Node's own: how many there are, what they hold, and the largest of them. */
import { EdgeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { classMembers } from '../suspects/class-members.ts';

export interface CountedClass {
  count: number;
  bytes: number;
  largest: number;
  members: number[];
}

/** Of the nodes whose class has this name; undefined when there are none. */
export function countClass(heap: Heap, name: string | RegExp): CountedClass | undefined {
  const found: CountedClass = { count: 0, bytes: 0, largest: -1, members: [] };
  for (const [row, kind] of heap.classes.kinds.entries()) {
    if (typeof name === 'string' ? kind.name !== name : !name.test(kind.name)) continue;
    found.bytes += heap.aggregates.retainedSize[row]!;
    for (const node of classMembers(heap).of(row)) {
      if (heap.selfSize.get(node) === 0) continue;
      found.count++;
      // `Promise.prototype` is of class Promise too, and nobody's leak.
      if (isPrototype(heap, node)) continue;
      found.members.push(node);
      if (found.largest < 0 || heap.retained[node]! > heap.retained[found.largest]!) found.largest = node;
    }
  }
  return found.count ? found : undefined;
}

function isPrototype({ snapshot, retainers }: Heap, node: number): boolean {
  for (const edge of retainers.to(node))
    if (snapshot.edgeType(edge) === EdgeType.property && snapshot.edgeName(edge) === 'prototype') return true;
  return false;
}
