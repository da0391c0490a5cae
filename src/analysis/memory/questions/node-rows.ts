/** Nodes as rows for people and programs, and lookups of a node's edges. */

import { AgentdumpError } from '../../../errors.ts';
import { EdgeType, forEachRowWith, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { HeapNodeRow } from '../../../model/heap.ts';
import { noDistance } from '../graph/distances.ts';
import type { Heap } from '../heap.ts';

/** Names of which V8 writes each once, and which have no escapes. */
const plainName = /^[A-Za-z_$<#][\w $<>#:]*$/;

export function nodeRow(heap: Heap, node: number): HeapNodeRow {
  const { snapshot } = heap;
  return {
    id: snapshot.nodes.id.get(node),
    name: snapshot.nodeName(node),
    type: snapshot.nodeTypeName(node),
    class: heap.className(node),
    selfSizeBytes: heap.selfSize.get(node),
    retainedSizeBytes: heap.retained[node]!,
    distance: distanceOf(heap, node),
    dominatorId: node === heap.root ? null : snapshot.nodes.id.get(heap.tree.dominator[node]!),
  };
}

export function distanceOf(heap: Heap, node: number): number | null {
  const distance = heap.distances[node]!;
  return distance === noDistance ? null : distance;
}

/** Calls back with each node of this name, which has no letters but those of ASCII. */
export function forEachNamed({ snapshot }: Heap, name: string, callback: (node: number) => void): void {
  const index = snapshot.strings.findAscii(name);
  if (index >= 0) forEachRowWith(snapshot.nodes.name, snapshot.nodes.count, index, callback);
}

/** The one that retains most, the first of several; -1 if there are none. */
export function largestOf({ retained }: Heap, nodes: ArrayLike<number>): number {
  let largest = nodes[0] ?? -1;
  for (let at = 1; at < nodes.length; at++)
    if (retained[nodes[at]!]! > retained[largest]!) largest = nodes[at]!;
  return largest;
}

/** Finds the node by `words`: an id, with or without `@`, or `root`. Throws `usage` or `not-found`. */
export function requireNode(heap: Heap, words: string): number {
  if (words === 'root') return heap.root;
  const digits = /^@?(\d{1,10})$/.exec(words)?.[1];
  if (digits === undefined)
    throw new AgentdumpError('usage', `${words} is no node id: give a number, as the tables show it`, {
      argument: words,
    });
  const node = heap.snapshot.findById(Number(digits));
  if (node >= 0) return node;
  throw new AgentdumpError('not-found', `no node has the id ${digits} in this snapshot`, { name: words });
}

/** Row of the first edge with this name (and type), or -1. */
function findEdge({ snapshot }: Heap, node: number, name: string, type?: number): number {
  const { nodes, edges, strings } = snapshot;
  const end = nodes.firstEdge[node + 1]!;
  // Texts are read only if their number isn't known: of numbers, which element and hidden edges have too, and of unusual names.
  const wanted = plainName.test(name) ? strings.findAscii(name) : undefined;
  if (wanted === -1) return -1;
  for (let edge = nodes.firstEdge[node]!; edge < end; edge++) {
    const kind = snapshot.edgeType(edge);
    if (type !== undefined && kind !== type) continue;
    if (wanted === undefined) {
      if (snapshot.edgeName(edge) === name) return edge;
    } else if (
      edges.nameOrIndex.get(edge) === wanted &&
      kind !== EdgeType.element &&
      kind !== EdgeType.hidden
    )
      return edge;
  }
  return -1;
}

/** The target of that edge, or -1. */
export function findChild(heap: Heap, node: number, name: string, type?: number): number {
  const edge = findEdge(heap, node, name, type);
  return edge < 0 ? -1 : heap.snapshot.edgeTarget(edge);
}

export function isStringType(type: number): boolean {
  return type === NodeType.string || type === NodeType.concatenatedString || type === NodeType.slicedString;
}

/**
 * A string's text, as far as the snapshot contains it: V8 truncates at 1,024 characters. Concatenated strings are assembled
 * from their parts, without recursion; slices have the text of the string that they were cut from.
 */
export function stringText(heap: Heap, node: number, limit = 1024): string {
  const { snapshot } = heap;
  const open = [node];
  let text = '';
  for (let steps = 0; open.length && text.length < limit && steps < 10_000; steps++) {
    const at = open.pop()!;
    if (snapshot.nodes.type[at] !== NodeType.concatenatedString) {
      text += snapshot.nodeName(at);
      continue;
    }
    const second = findChild(heap, at, 'second', EdgeType.internal);
    const first = findChild(heap, at, 'first', EdgeType.internal);
    if (second >= 0) open.push(second);
    if (first >= 0) open.push(first);
  }
  return text.slice(0, limit);
}
