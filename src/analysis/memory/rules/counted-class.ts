/** For rules about one of Node's own classes: the number of objects, what they retain, and the largest. */
import { EdgeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { classMembers } from '../suspects/class-members.ts';

export interface CountedClass {
  count: number;
  bytes: number;
  largest: number;
  members: number[];
}

/** For the nodes whose class has this name; undefined if there are none. */
export function countClass(heap: Heap, name: string | RegExp): CountedClass | undefined {
  const found: CountedClass = { count: 0, bytes: 0, largest: -1, members: [] };
  const { selfSize, retained } = heap;
  for (const [row, kind] of heap.classes.kinds.entries()) {
    if (typeof name === 'string' ? kind.name !== name : !name.test(kind.name)) continue;
    found.bytes += heap.aggregates.retainedSize[row]!;
    const prototype = heap.snapshot.strings.findAscii('prototype');
    for (const node of classMembers(heap).of(row)) {
      if (selfSize.narrow[node] === 0) continue;
      found.count++;
      // `Promise.prototype` also has the class Promise, but is never a leak.
      if (isPrototype(heap, node, prototype)) continue;
      found.members.push(node);
      if (found.largest < 0 || retained[node]! > retained[found.largest]!) found.largest = node;
    }
  }
  return found.count ? found : undefined;
}

function isPrototype({ snapshot, retainers }: Heap, node: number, name: number): boolean {
  const { first, edges } = retainers;
  for (let row = first[node]!; row < first[node + 1]!; row++) {
    const edge = edges[row]!;
    if (snapshot.edges.nameOrIndex.get(edge) === name && snapshot.edgeType(edge) === EdgeType.property)
      return true;
  }
  return false;
}
