/**
 * What was added to containers that grew: the class with most new bytes, where such objects are defined, and what holds them.
 */
import type { HeapGrownNode, HeapSource } from '../../../model/heap.ts';
import type { Heap } from '../heap.ts';
import { sourceOf } from '../questions/scripts.ts';
import { contentsByClass, holderBelow } from '../suspects/common-holder.ts';

type Added = NonNullable<HeapGrownNode['added']>;

export interface AddedObjects {
  most?: Added;
  /**
   * What holds the objects of that class if the container doesn't do so itself, such as one of its two lists; otherwise -1.
   */
  holder: number;
  /** If there is a holder: what else the container had before, which may have grown by itself. */
  others: readonly number[];
}

/** @param isNew by ordinal. */
export function addedTo(heap: Heap, containers: readonly number[], isNew: Uint8Array): AddedObjects {
  const byClass = contentsByClass(heap, containers, (node) => isNew[node] === 1);
  const rows = [...byClass].map(([name, nodes]) => ({ nodes, row: addedRow(heap, name, nodes) }));
  const most = rows.sort((a, b) => b.row.retainedSizeBytes - a.row.retainedSizeBytes)[0];
  if (!most) return { holder: -1, others: [] };
  const holder = containers.length === 1 ? holderBelow(heap, containers[0]!, most.nodes) : -1;
  const others = holder < 0 ? [] : contentsBeside(heap, containers, most.row.class, isNew);
  return { most: most.row, holder, others };
}

function contentsBeside(
  heap: Heap,
  containers: readonly number[],
  name: string,
  isNew: Uint8Array,
): number[] {
  const known = contentsByClass(heap, containers, (node) => isNew[node] === 0);
  known.delete(name);
  return [...known.values()].flat();
}

export function addedRow(heap: Heap, name: string, nodes: readonly number[]): Added {
  const retainedSizeBytes = nodes.reduce((sum, node) => sum + heap.retained[node]!, 0);
  return { class: name, count: nodes.length, retainedSizeBytes, ...placeOf(heap, nodes[0]!) };
}

/** For a function, its own position; otherwise that of the constructor. */
function placeOf(heap: Heap, node: number): { source?: HeapSource } {
  const { classes, snapshot } = heap;
  const own = sourceOf(heap, snapshot.location(node));
  const source = own ?? sourceOf(heap, classes.kinds[classes.of[node]!]?.place);
  return source ? { source } : {};
}
