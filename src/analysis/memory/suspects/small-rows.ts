/**
 * Whether a container holds rows of a few short fields, or lists of such rows: a table that was filled in a loop and an index
 * look like this, and so does a leak of small records. What has more in it than that comes first.
 */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { referredTo, sampleOf } from './crowds.ts';

const mostBytes = 400;
const nearlyAll = 0.8;

export function holdsSmallRows(heap: Heap, container: number): boolean {
  const contents = sampleOf(referredTo(heap, container).others);
  if (!contents.length) return false;
  const small = contents.filter((node) => isSmallRow(heap, node) || isListOfRows(heap, node));
  return small.length >= contents.length * nearlyAll;
}

function isSmallRow(heap: Heap, node: number): boolean {
  const { nodes } = heap.snapshot;
  if (nodes.type[node] !== NodeType.object || heap.snapshot.nodeName(node) !== 'Object') return false;
  if (heap.retained[node]! > mostBytes) return false;
  // What is shared, such as its prototype, says nothing of the row.
  return referredTo(heap, node).others.every((field) => heap.tree.dominator[field] !== node);
}

function isListOfRows(heap: Heap, node: number): boolean {
  if (heap.snapshot.nodeName(node) !== 'Array') return false;
  const { type } = heap.snapshot.nodes;
  const owned = referredTo(heap, node).others.filter((row) => {
    const owner = heap.tree.dominator[row]!;
    return owner === node || type[owner] === NodeType.array;
  });
  const rows = sampleOf(owned);
  return rows.length > 0 && rows.every((row) => isSmallRow(heap, row));
}
