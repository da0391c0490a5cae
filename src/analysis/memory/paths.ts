/**
 * The way from the roots to a node: at each step back the retainer that is nearest to the program's roots. One of the
 * shortest paths; there may be others, and the node is free only when all are cut.
 */
import { EdgeType, NodeType } from '../../formats/heapsnapshot/index.ts';
import type { HeapEdgeRow, HeapPath } from '../../model/heap.ts';
import { noDistance } from './distances.ts';
import type { Heap } from './heap.ts';
import { nodeRow } from './node-rows.ts';

const maxSteps = 100_000;

/** Rows of the edges from the root's side to the node; empty when no strong edge leads to it. */
export function pathEdges(heap: Heap, node: number): number[] {
  const edges: number[] = [];
  for (let at = node; at !== heap.root && edges.length < maxSteps; ) {
    const edge = nearestRetainer(heap, at);
    if (edge < 0) break;
    edges.push(edge);
    at = heap.retainers.sourceOf(edge);
  }
  return edges.reverse();
}

/** Only a retainer that is nearer than the node itself, so that the walk can't go round. */
function nearestRetainer(heap: Heap, node: number): number {
  const { snapshot, distances, retainers } = heap;
  let best = -1;
  let bestDistance = distances[node]!;
  if (bestDistance === noDistance) return -1;
  if (bestDistance === 1) bestDistance = Number.POSITIVE_INFINITY;
  for (const edge of retainers.to(node)) {
    if (snapshot.edgeType(edge) === EdgeType.weak) continue;
    const source = retainers.sourceOf(edge);
    if (source === node || distances[source] === noDistance) continue;
    // What the root holds directly has distance 1, and the root itself a very high one.
    const distance = source === heap.root ? 0 : distances[source]!;
    if (distance < bestDistance) {
      best = edge;
      bestDistance = distance;
    }
  }
  return best;
}

export function computePath(heap: Heap, node: number): HeapPath {
  const edges = pathEdges(heap, node);
  const { snapshot } = heap;
  const start = edges.length ? heap.retainers.sourceOf(edges[0]!) : node;
  const steps: HeapEdgeRow[] = [{ edge: '', edgeType: '', node: nodeRow(heap, start) }];
  for (const edge of edges)
    steps.push({
      edge: snapshot.edgeName(edge),
      edgeType: snapshot.edgeTypeName(edge),
      node: nodeRow(heap, snapshot.edgeTarget(edge)),
    });
  return { steps, text: pathText(heap, node, edges) };
}

/** `global.sessions[3].messages`; variables of closures as `(context).name`; V8's own slots as `{slot}`. */
export function pathText(heap: Heap, node: number, edges = pathEdges(heap, node)): string {
  if (!edges.length)
    return node === heap.root ? '(root)' : `(nothing strong leads to @${heap.snapshot.nodes.id[node]})`;
  let text = '';
  for (const edge of edges) text = appendStep(heap, text, edge);
  // A Map's or Set's table is V8's affair, and so is the slot in it.
  return text.replace(/\{table\}\{\d+\}/g, '.get(…)');
}

/** The path without the numbers of elements, so that what hangs in a thousand places of one kind has one path. */
export function generalPath(heap: Heap, node: number): string {
  return shortPath(
    pathText(heap, node)
      .replace(/\[\d+\]/g, '[*]')
      .replace(/\{\d+\}/g, '{*}'),
  );
}

/** A path down a list of a million links is not read by anybody. */
export function shortPath(path: string): string {
  return path.length <= 300 ? path : `${path.slice(0, 140)} … ${path.slice(-140)}`;
}

function appendStep(heap: Heap, text: string, edge: number): string {
  const { snapshot } = heap;
  const name = snapshot.edgeName(edge);
  const target = snapshot.edgeTarget(edge);
  const source = heap.retainers.sourceOf(edge);
  if (source === heap.root) return rootName(heap, target, name);
  switch (snapshot.edgeType(edge)) {
    case EdgeType.element:
      return snapshot.nodes.type[source] === NodeType.synthetic
        ? nodeTitle(heap, target)
        : `${text}[${name}]`;
    case EdgeType.property:
    case EdgeType.shortcut:
      return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)
        ? `${text}.${name}`
        : `${text}[${JSON.stringify(name)}]`;
    case EdgeType.context:
      return `${text}.${name}`;
    default:
      return `${text}{${weakMapKey(name) ?? name}}`;
  }
}

/** An entry's own name is three names and three ids; whose value it is is what a person asks. */
function weakMapKey(edgeName: string): string | undefined {
  const [, key] = / \/ part of key \((.*? @\d+)\) -> value /.exec(edgeName) ?? [];
  return key && `WeakMap value of ${key}`;
}

function rootName(heap: Heap, target: number, edgeName: string): string {
  const name = nodeTitle(heap, target);
  return /^\d+$/.test(edgeName) || name.startsWith('(')
    ? name
    : name.startsWith('global')
      ? 'global'
      : edgeName;
}

function nodeTitle(heap: Heap, node: number): string {
  return heap.snapshot.nodeName(node).slice(0, 60) || heap.className(node);
}
