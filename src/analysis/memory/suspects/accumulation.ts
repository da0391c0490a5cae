/**
 * Where bytes accumulate: from a node down as long as one child retains most of them (the "accumulation point" of Eclipse
 * Memory Analyzer's leak suspects); for a list, its head.
 */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';

/** The search continues with a child that retains at least this share of its parent's bytes. */
export const carriesOn = 0.7;
export const longChain = 16;

/** @param isLarge whether this many bytes are worth reporting. */
export function accumulationPoints(
  heap: Heap,
  isLarge: (bytes: number) => boolean,
): { node: number; links: number }[] {
  const { retained, dominated } = heap;
  const found: { node: number; links: number }[] = [];
  const open = [heap.root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const chain = descend(heap, node);
    const large: number[] = [];
    for (let row = dominated.first[chain.end]!; row < dominated.first[chain.end + 1]!; row++)
      if (isLarge(retained[dominated.nodes[row]!]!)) large.push(dominated.nodes[row]!);
    // The rest of a list is not searched separately from its head.
    const largeBytes = chain.links >= longChain ? 0 : large.reduce((sum, child) => sum + retained[child]!, 0);
    if (isProgramObject(heap, chain.end) && isLarge(retained[chain.end]! - largeBytes))
      found.push({ node: ownerOf(heap, chain.end), links: chain.links });
    if (chain.links < longChain) open.push(...large);
  }
  return found.sort((a, b) => retained[b.node]! - retained[a.node]!);
}

/** For a Map's table or an object's properties, the Map or object itself. */
function ownerOf(heap: Heap, node: number): number {
  let at = node;
  while (heap.snapshot.nodes.type[at] === NodeType.array && heap.tree.dominator[at] !== heap.root)
    at = heap.tree.dominator[at]!;
  return isProgramObject(heap, at) ? at : node;
}

/** The accumulation point below a node, or the node itself; V8's internal tables count as their owner. */
export function accumulationBelow(heap: Heap, node: number): number {
  let { end } = descend(heap, node);
  while (end !== node && heap.snapshot.nodes.type[end] !== NodeType.object) end = heap.tree.dominator[end]!;
  return end;
}

/** Whether it is the first of a chain of objects of its class. */
export function isHeadOfChain(heap: Heap, node: number): boolean {
  const { end, links } = descend(heap, node);
  return links >= longChain && end === node;
}

/**
 * Descends until no single child dominates, or to the head of a chain: links of one class below each other, including what is
 * between them (a closure and its scope).
 */
function descend(heap: Heap, from: number): { end: number; links: number } {
  const { retained, dominated, classes } = heap;
  const ofClass = new Map<number, { head: number; links: number }>();
  for (let end = from; ; ) {
    const kind = classes.of[end]!;
    const chain = ofClass.get(kind) ?? { head: end, links: -1 };
    ofClass.set(kind, chain);
    if (++chain.links >= longChain) return { end: chain.head, links: chain.links };
    let largest = -1;
    for (let row = dominated.first[end]!; row < dominated.first[end + 1]!; row++) {
      const child = dominated.nodes[row]!;
      if (largest < 0 || retained[child]! > retained[largest]!) largest = child;
    }
    if (largest < 0 || retained[largest]! < retained[end]! * carriesOn) return { end, links: 0 };
    end = largest;
  }
}

/** Not V8's own, and not the global object, which always retains everything. */
function isProgramObject(heap: Heap, node: number): boolean {
  const type = heap.snapshot.nodes.type[node]!;
  if (/^(global|Window|system \/ NativeContext)\b/.test(heap.snapshot.nodeName(node))) return false;
  return (
    node !== heap.root && type !== NodeType.synthetic && type !== NodeType.hidden && type !== NodeType.code
  );
}
