/** Finds the nodes related to those that match a condition: by an edge, or in the dominator tree. All walks are iterative. */
import { EdgeType } from '../../../formats/heapsnapshot/index.ts';
import { markEphemerons } from '../graph/ephemerons.ts';
import type { Heap } from '../heap.ts';
import { requireNode } from '../questions/node-rows.ts';
import type { Expression, RelationName, Target } from './syntax.ts';
import type { TestRow } from './values.ts';

/** One byte per node. */
type NodeSet = Uint8Array;

export function findRelated(
  heap: Heap,
  relation: RelationName,
  target: Target,
  compile: (condition: Expression) => TestRow,
): NodeSet {
  const wanted = targetSet(heap, target, compile);
  switch (relation) {
    case 'references':
      return byEdges(heap, (source, to) => (wanted[to] ? source : -1));
    case 'referenced by':
      return byEdges(heap, (source, to) => (wanted[source] ? to : -1));
    case 'dominates':
    case 'retains':
      return above(heap, wanted);
    case 'dominated by':
      return below(heap, wanted);
    case 'retained by':
      return freedWith(heap, wanted);
  }
}

function targetSet(heap: Heap, target: Target, compile: (condition: Expression) => TestRow): NodeSet {
  const set = new Uint8Array(heap.nodeCount);
  if (target.kind === 'node') {
    set[requireNode(heap, target.words)] = 1;
    return set;
  }
  const test = compile(target.condition);
  for (let node = 0; node < set.length; node++) if (test(node)) set[node] = 1;
  return set;
}

/** @param look returns the end of an edge to include, or -1 for neither. */
function byEdges(heap: Heap, look: (source: number, to: number) => number): NodeSet {
  const { snapshot, nodeCount } = heap;
  const { firstEdge } = snapshot.nodes;
  const found = new Uint8Array(nodeCount);
  for (let source = 0; source < nodeCount; source++)
    for (let edge = firstEdge[source]!; edge < firstEdge[source + 1]!; edge++) {
      if (snapshot.edgeType(edge) === EdgeType.weak) continue;
      const node = look(source, snapshot.edgeTarget(edge));
      if (node >= 0) found[node] = 1;
    }
  return found;
}

/** Dominators of the wanted nodes, at any distance. */
function above(heap: Heap, wanted: NodeSet): NodeSet {
  const { dominator } = heap.tree;
  const found = new Uint8Array(heap.nodeCount);
  for (let node = 0; node < wanted.length; node++) {
    if (!wanted[node]) continue;
    for (let at = node; at !== heap.root; ) {
      at = dominator[at]!;
      if (found[at]) break;
      found[at] = 1;
    }
  }
  return found;
}

/** Nodes with a wanted node among their dominators. */
export function below(heap: Heap, wanted: NodeSet): NodeSet {
  const { dominator } = heap.tree;
  const found = new Uint8Array(heap.nodeCount);
  const isKnown = new Uint8Array(heap.nodeCount);
  isKnown[heap.root] = 1;
  const way: number[] = [];
  for (let node = 0; node < wanted.length; node++) {
    for (let at = node; !isKnown[at]; at = dominator[at]!) way.push(at);
    for (let at = way.pop(); at !== undefined; at = way.pop()) {
      const parent = dominator[at]!;
      found[at] = wanted[parent] || found[parent] ? 1 : 0;
      isKnown[at] = 1;
    }
  }
  return found;
}

/** What would be freed together with all wanted nodes (MAT's retained set), without the wanted nodes themselves. */
function freedWith(heap: Heap, wanted: NodeSet): NodeSet {
  const alive = reached(heap);
  const left = reached(heap, wanted);
  for (let node = 0; node < alive.length; node++) if (left[node] || wanted[node]) alive[node] = 0;
  return alive;
}

/** Reachable nodes by edges that keep alive; WeakMap entries only through their keys. */
function reached(heap: Heap, closed?: NodeSet): NodeSet {
  const { snapshot } = heap;
  const { firstEdge, id } = snapshot.nodes;
  const { tableId } = markEphemerons(snapshot);
  const found = new Uint8Array(heap.nodeCount);
  const open = [heap.root];
  found[heap.root] = 1;
  for (let node = open.pop(); node !== undefined; node = open.pop())
    for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++) {
      const type = snapshot.edgeType(edge);
      const target = snapshot.edgeTarget(edge);
      if (type === EdgeType.weak || found[target] || closed?.[target]) continue;
      const isOfTable =
        type === EdgeType.ephemeron && tableId.get(snapshot.edges.nameOrIndex.get(edge)) === id.get(node);
      if (isOfTable) continue;
      found[target] = 1;
      open.push(target);
    }
  return found;
}
