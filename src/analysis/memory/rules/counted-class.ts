/** For rules about one of Node's own classes: the number of objects, what they retain, and the largest. */
import { EdgeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { classMembers } from '../suspects/class-members.ts';

export interface CountedClass {
  count: number;
  bytes: number;
  /** All but prototypes. A walk over the class, for those that are reported. */
  members(): number[];
}

/** For the nodes whose class has this name; undefined if there are none. */
export function countClass(heap: Heap, name: string | RegExp): CountedClass | undefined {
  const { count, retainedSize } = heap.aggregates;
  const rows: number[] = [];
  for (const [row, kind] of heap.classes.kinds.entries())
    if (count[row]! > 0 && (typeof name === 'string' ? kind.name === name : name.test(kind.name)))
      rows.push(row);
  if (!rows.length) return undefined;
  const sum = (column: ArrayLike<number>): number => rows.reduce((all, row) => all + column[row]!, 0);
  return { count: sum(count), bytes: sum(retainedSize), members: () => membersOf(heap, rows) };
}

function membersOf(heap: Heap, rows: readonly number[]): number[] {
  const prototype = heap.snapshot.strings.findAscii('prototype');
  const nodes: number[] = [];
  // `Promise.prototype` also has the class Promise, but is never a leak.
  for (const row of rows)
    for (const node of classMembers(heap).of(row))
      if (heap.selfSize.narrow[node] !== 0 && !isPrototype(heap, node, prototype)) nodes.push(node);
  return nodes;
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
