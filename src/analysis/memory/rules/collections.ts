/**
 * An array, Map, Set or dictionary with so many entries that it probably only grows, because nothing removes what is added.
 */
import { EdgeType } from '../../../formats/heapsnapshot/index.ts';
import { formatNumber } from '../../../model/quantities.ts';
import type { Heap } from '../heap.ts';
import { kindOf } from '../questions/heap-value.ts';
import { visibleEntries } from '../questions/tables.ts';
import {
  isLargeShare,
  isModuleData,
  largeNodes,
  placeText,
  type SuspectContext,
  type SuspectRule,
  shareText,
  suspectAt,
} from '../suspects/suspect-context.ts';

const leastShare = 0.05;
const shareOfSmallHeap = 0.2;
const leastEntries = 1000;

export interface LargeCollection {
  node: number;
  kind: string;
  entries: number;
}

export const collectionsRule: SuspectRule = {
  name: 'growing-collection',
  isGeneral: true,
  find(context) {
    return largeCollections(context)
      .slice(0, 8)
      .map(({ node, kind, entries }) => {
        const bytes = context.heap.retained[node]!;
        const path = placeText(context.heap, node);
        return suspectAt(context, 'growing-collection', node, bytes, {
          title: `${kind} with ${formatNumber(entries)} entries holds ${shareText(bytes, context)}`,
          sentence: `The ${kind} at ${path} has ${formatNumber(entries)} entries and keeps ${shareText(bytes, context)} alive. If it has more in a later snapshot, take entries out when they are done with.`,
          confidence: 'possible',
          evidence: [
            `${entries} entries that are objects`,
            `retained size ${bytes} bytes of ${context.totalBytes}`,
          ],
          refutedBy: 'Its number of entries stays the same between two snapshots (heap diff).',
        });
      });
  },
};

const known = new WeakMap<SuspectContext, LargeCollection[]>();

/** Cached, since two rules use it and counting entries is a walk over all of them. */
export function largeCollections(context: SuspectContext): readonly LargeCollection[] {
  const found = known.get(context) ?? findLarge(context);
  known.set(context, found);
  return found;
}

function findLarge(context: SuspectContext): LargeCollection[] {
  return largeNodes(context, leastShare)
    .map((node) => ({ node, ...entriesIn(context.heap, node) }))
    .filter(
      ({ node, entries }) =>
        entries >= leastEntries &&
        isWorthTelling(context, context.heap.retained[node]!) &&
        !isModuleData(context, node),
    );
}

/** In a small heap, Node and what the program defines have collections of a thousand entries too. */
const isWorthTelling = (context: SuspectContext, bytes: number): boolean =>
  isLargeShare(context, bytes, leastShare) || bytes >= context.growableBytes * shareOfSmallHeap;

/** Entries that are objects; small integers are not in a snapshot. */
function entriesIn(heap: Heap, node: number): { kind: string; entries: number } {
  const kind = kindOf(heap, node);
  if (kind === 'map' || kind === 'set') {
    const entries = visibleEntries(heap, node, kind === 'map' ? 3 : 2).count;
    return { kind: kind === 'map' ? 'Map' : 'Set', entries };
  }
  if (kind === 'array') return { kind: 'array', entries: countEdges(heap, node, EdgeType.element) };
  if (kind !== 'object') return { kind, entries: 0 };
  return { kind: 'dictionary', entries: countEdges(heap, node, EdgeType.property) };
}

function countEdges(heap: Heap, node: number, type: number): number {
  const { firstEdge } = heap.snapshot.nodes;
  let count = 0;
  for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++)
    if (heap.snapshot.edgeType(edge) === type) count++;
  return count;
}
