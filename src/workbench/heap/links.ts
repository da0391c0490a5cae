/** The objects that an object references, and its retainers. */

import type { Heap } from '../../analysis/memory/heap.ts';
import {
  computeHeapValueKeys,
  type HeapValueKeys,
  type ValueInMemory,
} from '../../analysis/memory/questions/heap-value.ts';
import { EdgeType } from '../../formats/heapsnapshot/index.ts';
import { isVast, mostLookedThrough, objectRow } from './object-rows.ts';
import type { LinkRow } from './questions.ts';

/** A list of references whose rows are made on demand. */
export interface LinkList {
  total: number;
  row(at: number): LinkRow;
}

/**
 * An object with more retainers than this is referenced by V8's own tables: their order means nothing, and sorting takes
 * seconds.
 */
const mostSorted = 20_000;

/** @param value of an object that is not vast. */
export function fieldsOf(
  heap: Heap,
  node: number,
  isRaw: boolean,
  value: (node: number) => HeapValueKeys = (node) => computeHeapValueKeys(heap, node, mostLookedThrough),
): LinkList {
  const { snapshot } = heap;
  if (!isRaw && !isVast(heap, node)) {
    const { entries } = value(node);
    return {
      total: entries.length,
      row(at) {
        const { key, id } = entries[at]!;
        // A small integer has no node.
        return id === 0 ? { name: key } : { name: key, object: objectRow(heap, snapshot.findById(id)) };
      },
    };
  }
  const first = snapshot.nodes.firstEdge[node]!;
  return {
    total: snapshot.nodes.firstEdge[node + 1]! - first,
    row: (at) => linkRow(heap, first + at, snapshot.edgeTarget(first + at)),
  };
}

/** With the values that are no objects. */
export function fieldsInMemory(heap: Heap, { entries }: ValueInMemory): LinkList {
  return {
    total: entries.length,
    row(at) {
      const { key, id, text } = entries[at]!;
      const node = id === 0 ? -1 : heap.snapshot.findById(id);
      return node < 0 ? { name: key, text } : { name: key, object: objectRow(heap, node) };
    },
  };
}

/** The nearest to the roots first, weak ones last. */
export function retainersOf(heap: Heap, node: number): LinkList {
  const { snapshot, retainers, distances } = heap;
  const edges = retainers.to(node);
  const isWeak = (edge: number): number => Number(snapshot.edgeType(edge) === EdgeType.weak);
  const sorted =
    edges.length > mostSorted
      ? edges
      : [...edges]
          .map((edge) => ({ edge, weak: isWeak(edge), distance: distances[retainers.sourceOf(edge)]! >>> 0 }))
          .sort((a, b) => a.weak - b.weak || a.distance - b.distance || a.edge - b.edge)
          .map(({ edge }) => edge);
  return { total: sorted.length, row: (at) => linkRow(heap, sorted[at]!, retainers.sourceOf(sorted[at]!)) };
}

function linkRow(heap: Heap, edge: number, other: number): LinkRow {
  const { snapshot } = heap;
  const isElement = snapshot.edgeType(edge) === EdgeType.element;
  const name = snapshot.edgeName(edge);
  return {
    name: isElement ? `[${name}]` : name,
    kind: snapshot.edgeTypeName(edge),
    object: objectRow(heap, other),
  };
}
