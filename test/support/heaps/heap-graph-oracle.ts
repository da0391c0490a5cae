/**
 * How much of V8's own snapshot of a heap another graph of the same heap contains: nodes by class and size, edges by name.
 */
import type { Heap } from '../../../src/analysis/memory/heap.ts';
import { EdgeType } from '../../../src/formats/heapsnapshot/index.ts';

/** Nodes that only Node's C++ code can describe, and V8's own roots. */
const isForeign = (heap: Heap, node: number): boolean => {
  const type = heap.snapshot.nodeTypeName(node);
  const name = heap.snapshot.nodeName(node);
  return type === 'synthetic' || (type === 'native' && name.startsWith('Node / '));
};

/** Type and class, without the parts that identify a single object. */
function kindOf(heap: Heap, node: number): string {
  const type = heap.snapshot.nodeTypeName(node);
  const name = heap.snapshot.nodeName(node).replace(/ @\d+/g, '');
  return `${type}|${name}`;
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

export function shareOf(truth: Map<string, number>, found: Map<string, number>): number {
  let all = 0;
  let same = 0;
  for (const [key, count] of truth) {
    all += count;
    same += Math.min(count, found.get(key) ?? 0);
  }
  return same / all;
}

/** The share of the truth's nodes that were found with the same type, class and own size. */
export function nodeShare(truth: Heap, found: Heap): number {
  return shareOf(countNodes(truth), countNodes(found));
}

export function countNodes(heap: Heap): Map<string, number> {
  const counts = new Map<string, number>();
  for (let node = 0; node < heap.nodeCount; node++)
    if (!isForeign(heap, node))
      add(counts, `${kindOf(heap, node)}|${heap.snapshot.nodes.selfSize.get(node)}`);
  return counts;
}

/**
 * The share of the truth's strong edges that were found with the same name, and with source and target of the same classes.
 */
export function edgeShare(truth: Heap, found: Heap): number {
  return shareOf(countEdges(truth), countEdges(found));
}

export function countEdges(heap: Heap): Map<string, number> {
  const { snapshot } = heap;
  const { firstEdge } = snapshot.nodes;
  const counts = new Map<string, number>();
  for (let node = 0; node < heap.nodeCount; node++) {
    if (isForeign(heap, node)) continue;
    for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++) {
      const target = snapshot.edgeTarget(edge);
      if (snapshot.edgeType(edge) === EdgeType.weak || isForeign(heap, target)) continue;
      const type = snapshot.edgeType(edge);
      const isNumbered = type === EdgeType.hidden;
      const name = isNumbered ? '' : snapshot.edgeName(edge).replace(/^\d+ \/ part of key.*/, 'part of key');
      add(counts, `${kindOf(heap, node)} ${type} ${name} ${kindOf(heap, target)}`);
    }
  }
  return counts;
}

/**
 * The share of the truth's `count` largest objects, by retained size, that have a counterpart of the same class and a size
 * within 1 %.
 */
export function retainedShare(truth: Heap, found: Heap, count: number): number {
  const others = largest(found, count * 2);
  const wanted = largest(truth, count);
  let same = 0;
  for (const { kind, size } of wanted) {
    const at = others.findIndex((other) => other.kind === kind && Math.abs(other.size / size - 1) <= 0.01);
    if (at < 0) continue;
    others.splice(at, 1);
    same++;
  }
  return same / wanted.length;
}

function largest(heap: Heap, count: number): { kind: string; size: number }[] {
  const nodes = Array.from({ length: heap.nodeCount }, (_, node) => node).filter(
    (node) => !isForeign(heap, node) && heap.snapshot.nodeTypeName(node) !== 'hidden',
  );
  return nodes
    .map((node) => ({ kind: kindOf(heap, node), size: heap.retained[node]! }))
    .sort((a, b) => b.size - a.size)
    .slice(0, count);
}

/** The share of the truth's locations that were found: nodes of the same type and class at the same place of the same script. */
export function locationShare(truth: Heap, found: Heap): number {
  return shareOf(countLocations(truth), countLocations(found));
}

export function countLocations(heap: Heap): Map<string, number> {
  const counts = new Map<string, number>();
  for (let node = 0; node < heap.nodeCount; node++) {
    const place = heap.snapshot.location(node);
    if (place) add(counts, `${kindOf(heap, node)} ${place.scriptId}:${place.line}:${place.column}`);
  }
  return counts;
}
