/**
 * What grew between two processes, in which no objects share ids. Objects are matched by class and path from the roots,
 * ignoring element indexes. Only the nodes that retain most are compared.
 */
import type { HeapGrownNode } from '../../../model/heap.ts';
import { isGlobal } from '../graph/global-node.ts';
import type { Heap } from '../heap.ts';
import { largestRows } from '../questions/largest.ts';
import { nodeRow } from '../questions/node-rows.ts';
import { generalPath } from '../questions/paths.ts';

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

/** Places that retain more than before; of nested ones only the lowest, which contains the new objects. */
export function grownPlaces(before: Places, heap: Heap, limit: number): HeapGrownNode[] {
  const growthOf = new Map<number, number>();
  const grown: GrownPlace[] = [];
  for (const [key, place] of computePlaces(heap)) {
    const beforeBytes = before.get(key)?.retainedBytes ?? 0;
    if (place.retainedBytes - beforeBytes < leastGrowth) continue;
    grown.push({ ...place, beforeBytes });
    growthOf.set(place.node, place.retainedBytes - beforeBytes);
  }
  for (const place of grown) dropExplained(heap, place.node, growthOf);
  const left = grown.filter(({ node }) => growthOf.has(node));
  return left
    .filter((place) => !left.some((below) => isExplainedBy(place, below)))
    .map(({ node, path, count, beforeBytes, retainedBytes }) => ({
      node: nodeRow(heap, node),
      count,
      beforeBytes,
      growthBytes: retainedBytes - beforeBytes,
      path,
    }))
    .sort((a, b) => b.growthBytes - a.growthBytes)
    .slice(0, limit);
}

type GrownPlace = Place & { beforeBytes: number };

/** Needed because the largest node of a place may not dominate the largest of a nested place; compares the paths instead. */
function isExplainedBy(place: GrownPlace, below: GrownPlace): boolean {
  const growth = ({ retainedBytes, beforeBytes }: GrownPlace): number => retainedBytes - beforeBytes;
  return (
    below.path.length > place.path.length &&
    below.path.startsWith(place.path) &&
    growth(below) >= growth(place) * explainingShare
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
