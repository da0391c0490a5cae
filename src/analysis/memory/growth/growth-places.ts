/**
 * What grew between two processes, in which no objects share ids, or between two copies of a process's memory, which have none. Objects are matched by class and path from the roots,
 * ignoring element indexes. Only the nodes that retain most are compared.
 */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { HeapGrownNode } from '../../../model/heap.ts';
import { isGlobal } from '../graph/global-node.ts';
import type { Heap } from '../heap.ts';
import { largestRows } from '../questions/largest.ts';
import { nodeRow } from '../questions/node-rows.ts';
import { generalPath } from '../questions/paths.ts';
import { contentsByClass } from '../suspects/common-holder.ts';
import { addedRow } from './added-objects.ts';

const mostNodes = 2000;
export const leastGrowth = 1024;
/** If a node below accounts for this share of a growth, it explains it. */
const explainingShare = 0.8;
/** Number of path steps that must be equal, from the end. */
const comparedSteps = 4;
/** Maximum number of steps up the dominator tree, searching for growth that is explained by a node below. */
const maxSteps = 1000;

interface Place {
  path: string;
  count: number;
  retainedBytes: number;
  /** Ordinal of the node that retains most. */
  node: number;
}

/** By class and the end of the path: if there are several shortest paths, two processes may differ in the beginning. */
export type Places = Map<string, Place>;

export function computePlaces(heap: Heap): Places {
  const places: Places = new Map();
  const isLarge = (node: number): boolean => heap.retained[node]! >= leastGrowth && !isGlobal(heap, node);
  for (const node of largestRows(heap.retained, mostNodes, isLarge)) {
    const path = generalPath(heap, node);
    const key = `${heap.className(node)} ${path
      .split(/(?=[.[{])/)
      .slice(-comparedSteps)
      .join('')}`;
    const place = places.get(key) ?? { path, count: 0, retainedBytes: 0, node };
    place.count++;
    place.retainedBytes += heap.retained[node]!;
    places.set(key, place);
  }
  return places;
}

/**
 * Places that retain more than before; of nested ones only the lowest, which contains the new objects.
 * @param earlier in the order of the snapshots; without the last one.
 * @param countGrowth how many more objects of a class there are than in the first one.
 */
export function grownPlaces(
  earlier: readonly Places[],
  heap: Heap,
  countGrowth: (className: string) => number,
  limit: number,
): HeapGrownNode[] {
  if (!earlier.length) return [];
  const growthOf = new Map<number, number>();
  const grown: GrownPlace[] = [];
  for (const [key, place] of computePlaces(heap)) {
    const held = earlier.map((places) => places.get(key)?.retainedBytes ?? 0);
    const beforeBytes = held[0] ?? 0;
    if (place.retainedBytes - beforeBytes < leastGrowth) continue;
    grown.push({ ...place, beforeBytes, heldBytes: [...held, place.retainedBytes] });
    growthOf.set(place.node, place.retainedBytes - beforeBytes);
  }
  for (const place of grown) dropExplained(heap, place.node, growthOf);
  const left = grown.filter(({ node }) => growthOf.has(node));
  return left
    .filter((place) => !left.some((below) => isExplainedBy(place, below)))
    .sort((a, b) => growthBytes(b) - growthBytes(a))
    .slice(0, limit)
    .map((place) => {
      const owner = ownerOfPart(heap, place.node);
      const added = place.count === 1 ? addedSince(heap, owner, countGrowth) : undefined;
      return {
        node: nodeRow(heap, owner),
        count: place.count,
        beforeBytes: place.beforeBytes,
        growthBytes: growthBytes(place),
        path: owner === place.node ? place.path : generalPath(heap, owner),
        ...(place.heldBytes.length > 2 ? { heldBytes: place.heldBytes } : {}),
        ...(added ? { added } : {}),
      };
    });
}

const growthBytes = ({ retainedBytes, beforeBytes }: GrownPlace): number => retainedBytes - beforeBytes;

/** The class of which a container holds most, as far as there are more of it than before: which ones are new can't be told. */
function addedSince(
  heap: Heap,
  container: number,
  countGrowth: (className: string) => number,
): HeapGrownNode['added'] {
  const rows = [...contentsByClass(heap, [container])].map(([name, nodes]) => addedRow(heap, name, nodes));
  const [most] = rows.sort((a, b) => b.retainedSizeBytes - a.retainedSizeBytes);
  if (!most) return undefined;
  const count = Math.min(most.count, countGrowth(most.class));
  if (count <= 0) return undefined;
  return { ...most, count, retainedSizeBytes: Math.round((most.retainedSizeBytes * count) / most.count) };
}

/** For a Map's table or an array's elements, the Map or array that they belong to. */
function ownerOfPart({ snapshot, tree }: Heap, node: number): number {
  const { type } = snapshot.nodes;
  const owner = tree.dominator[node]!;
  return type[node] === NodeType.array && type[owner] === NodeType.object ? owner : node;
}

type GrownPlace = Place & { beforeBytes: number; heldBytes: number[] };

/** Needed because the largest node of a place may not dominate the largest of a nested place; compares the paths instead. */
function isExplainedBy(place: GrownPlace, below: GrownPlace): boolean {
  return (
    below.path.length > place.path.length &&
    below.path.startsWith(place.path) &&
    growthBytes(below) >= growthBytes(place) * explainingShare
  );
}

/** Removes dominators that grew by little more than this node. */
function dropExplained(heap: Heap, node: number, growthOf: Map<number, number>): void {
  const own = growthOf.get(node);
  if (own === undefined) return;
  let at = heap.tree.dominator[node]!;
  for (let steps = 0; at !== heap.root && steps < maxSteps; steps++, at = heap.tree.dominator[at]!)
    if ((growthOf.get(at) ?? Number.POSITIVE_INFINITY) * explainingShare <= own) growthOf.delete(at);
}
