/**
 * Objects as rows of a list. Making a row must be cheap however large the object is: fifty rows are drawn at each step of a
 * scroll.
 */

import type { Heap } from '../../analysis/memory/heap.ts';
import { valueText } from '../../analysis/memory/questions/heap-value.ts';
import { distanceOf, findChild } from '../../analysis/memory/questions/node-rows.ts';
import { NodeType } from '../../formats/heapsnapshot/index.ts';
import { formatCount } from '../../model/quantities.ts';
import type { ObjectRow } from './questions.ts';

/** An object with more references than this is not examined for its preview. */
export const mostLookedThrough = 2_000;
const mostText = 160;

export function objectRow(heap: Heap, node: number): ObjectRow {
  return {
    id: heap.snapshot.nodes.id.get(node),
    class: heap.className(node),
    text: lineOf(heap, node),
    self: heap.selfSize.get(node),
    retained: heap.retained[node]!,
    distance: distanceOf(heap, node),
  };
}

export function referencesOf({ snapshot: { nodes } }: Heap, node: number): number {
  return nodes.firstEdge[node + 1]! - nodes.firstEdge[node]!;
}

/** Whether it, or the table of a Map or Set, has more references than are examined. */
export function isVast(heap: Heap, node: number): boolean {
  if (referencesOf(heap, node) > mostLookedThrough) return true;
  const table = findChild(heap, node, 'table');
  return table >= 0 && referencesOf(heap, table) > mostLookedThrough;
}

function lineOf(heap: Heap, node: number): string {
  const { nodes } = heap.snapshot;
  const isInternal = nodes.type[node] === NodeType.array || nodes.type[node] === NodeType.synthetic;
  if (isInternal)
    return [heap.snapshot.nodeName(node), countText(referencesOf(heap, node))].filter(Boolean).join(', ');
  return isVast(heap, node) ? countText(referencesOf(heap, node)) : valueText(heap, node, mostText);
}

const countText = (count: number): string => formatCount(count, 'reference');
