/**
 * Whether a container has a limit of its own: a `max` beside its entries, or a class named like a bounded collection. The
 * number is rarely in a snapshot, but the property names are, in the object's shape. A container at its limit is as large as
 * intended, so its size alone isn't suspicious.
 */
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { findChild, isStringType } from '../questions/node-rows.ts';
import { pathEdges } from '../questions/paths.ts';
import { tableSlotsOf, visibleEntries } from '../questions/tables.ts';
import { rootGroups } from './root-groups.ts';

/** Not `_capacity`, which is a queue's current allocation. */
const limitNames =
  /^(?:capacity$|[#_]{0,2}(?:max(?:imum)?|limit)(?:$|Size|Length|Entries|Items|Count|Keys|Elements|_))/i;
/** Not FixedCircularBuffer: Node's queues add one after the other. */
const boundedClasses = /LRU|LFU|Lru(?=[A-Z]|Cache|$)|Ring(?:Buffer)?$|(?<!^Fixed)CircularBuffer|Bounded/;
/**
 * Pools are as large as their users need. A pool that is seen to grow isn't excused, because what it lent isn't returned, nor
 * is a list of a thousand: no program has as many connections.
 */
const poolClasses = /Pool$/;
const mostInPool = 1000;
/** Steps from the container to the object that has both it and its limit. */
const mostSteps = 3;

/**
 * What indicates the limit, as a text; undefined if nothing does.
 * @param steps how far back to search for the object with the limit. For growth, only the container's own limit or its
 * owner's counts.
 */
export function limitOf(heap: Heap, node: number, steps = mostSteps): string | undefined {
  const edges = steps > 0 ? pathEdges(heap, node).slice(-steps) : [];
  const owners = [node, ...edges.map((edge) => heap.retainers.sourceOf(edge)).reverse()];
  const isPool = (name: string): boolean =>
    steps === mostSteps && poolClasses.test(name) && edgesOf(heap, node) < mostInPool;
  for (const owner of owners) {
    if (heap.snapshot.nodes.type[owner] !== NodeType.object) continue;
    const name = heap.className(owner);
    if (/^(?:global|Window)\b/.test(name)) break;
    if (isUnlimited(heap, owner)) return undefined;
    if (boundedClasses.test(name) || isPool(name)) return `class ${name}`;
    const limit = shapeNames(heap, owner).find((property) => limitNames.test(property));
    if (limit !== undefined) return `property ${limit}`;
  }
  return undefined;
}

/** Of a Map or Set, those of its table. */
function edgesOf(heap: Heap, node: number): number {
  const { firstEdge } = heap.snapshot.nodes;
  const table = findChild(heap, node, 'table', EdgeType.internal);
  const holder = table >= 0 ? table : node;
  return firstEdge[holder + 1]! - firstEdge[holder]!;
}

/**
 * Whether a limit among its properties is infinite: `new LRUCache()` without `max`. Other numbers are rarely in a snapshot, but
 * V8 has a single node for Infinity.
 */
function isUnlimited(heap: Heap, node: number): boolean {
  const { snapshot } = heap;
  const infinity = infinityOf(heap);
  if (infinity < 0) return false;
  const { firstEdge } = snapshot.nodes;
  for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++)
    if (snapshot.edgeTarget(edge) === infinity && snapshot.edgeType(edge) === EdgeType.property)
      if (limitNames.test(snapshot.edgeName(edge).replace(/^<symbol (.*)>$/, '$1'))) return true;
  return false;
}

/** Fewer may have been removed by chance. */
const fewestRemoved = 16;
const leastRemoved = 0.02;

/**
 * Whether a Map or Set lets go of what came first, by count or by age: the entries at the start of its table are gone, while
 * later ones are there. V8 keeps their room until it makes the table anew, so this is not always visible.
 */
export function removesOldest(heap: Heap, node: number): boolean {
  const slots = tableSlotsOf(heap, node);
  if (!slots) return false;
  const { count, first } = visibleEntries(heap, node, slots);
  return count > 0 && first >= Math.max(fewestRemoved, count * leastRemoved);
}

const infinities = new WeakMap<Heap, number>();

/** The node of Infinity, which V8 counts among its roots; -1 if there is none. */
function infinityOf(heap: Heap): number {
  const known = infinities.get(heap);
  if (known !== undefined) return known;
  const found = Math.max(-1, ...rootGroups(heap).map((group) => findChild(heap, group, 'infinity_value')));
  infinities.set(heap, found);
  return found;
}

/** Names of own properties, including those with numbers; possibly a few more, if other shapes extend this one. */
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
