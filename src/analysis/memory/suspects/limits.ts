/**
 * Whether a container says itself how large it may get: a `max` beside its entries, or a class whose name is that of a bounded
 * thing. The number is seldom in a snapshot; the names of an object's properties are, in its shape. One that is at its limit
 * is as large as it was meant to be, so that size alone accuses it of nothing.
 */
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { findChild, isStringType } from '../questions/node-rows.ts';
import { pathEdges } from '../questions/paths.ts';

/** A `_capacity` is the room that a queue has at the moment. */
const limitNames =
  /^(?:capacity$|[#_]{0,2}(?:max(?:imum)?|limit)(?:$|Size|Length|Entries|Items|Count|Keys|Elements|_))/i;
const boundedClasses = /LRU|LFU|Lru(?=[A-Z]|Cache|$)|Ring(?:Buffer)?$|CircularBuffer|Bounded/;
/** By their name as large as their users want. One that is seen to grow is not given back what it lent. */
const poolClasses = /Pool$/;
/** From the container to the object that has both it and its limit. */
const mostSteps = 3;

/**
 * What tells of the limit, for people; undefined if nothing does.
 * @param steps back to the object that has the limit. What is seen to grow is excused by its own or its owner's only.
 */
export function limitOf(heap: Heap, node: number, steps = mostSteps): string | undefined {
  const edges = steps > 0 ? pathEdges(heap, node).slice(-steps) : [];
  const owners = [node, ...edges.map((edge) => heap.retainers.sourceOf(edge)).reverse()];
  for (const owner of owners) {
    if (heap.snapshot.nodes.type[owner] !== NodeType.object) continue;
    const name = heap.className(owner);
    if (/^(?:global|Window)\b/.test(name)) break;
    if (boundedClasses.test(name) || (steps === mostSteps && poolClasses.test(name))) return `class ${name}`;
    const limit = shapeNames(heap, owner).find((property) => limitNames.test(property));
    if (limit !== undefined) return `property ${limit}`;
  }
  return undefined;
}

/** Names of own properties, those of numbers among them; of a shape that others extend perhaps a few more. */
function shapeNames(heap: Heap, node: number): string[] {
  const { snapshot } = heap;
  const shape = findChild(heap, node, 'map', EdgeType.internal);
  const descriptors = shape < 0 ? -1 : findChild(heap, shape, 'descriptors', EdgeType.internal);
  if (descriptors < 0) return [];
  const names: string[] = [];
  const { firstEdge } = snapshot.nodes;
  for (let edge = firstEdge[descriptors]!; edge < firstEdge[descriptors + 1]!; edge++) {
    const target = snapshot.edgeTarget(edge);
    if (isStringType(snapshot.nodes.type[target]!)) names.push(snapshot.nodeName(target));
  }
  return names;
}
