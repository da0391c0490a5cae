/**
 * The path from the roots to a node, following at each step back the retainer nearest to the program's roots. It is one of
 * the shortest paths; there may be others, and the node is only freed when all are cut.
 */
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { HeapEdgeRow, HeapPath } from '../../../model/heap.ts';
import { noDistance } from '../graph/distances.ts';
import type { Heap } from '../heap.ts';
import { afterCallback, timerOnWay } from '../suspects/timer-path.ts';
import { nodeRow } from './node-rows.ts';

const maxSteps = 100_000;

/** Rows of the edges from the root to the node; empty if no strong edge leads to it. */
export function pathEdges(heap: Heap, node: number): number[] {
  const named = weakEntryRetainer(heap, node);
  if (named < 0) return nearestEdges(heap, node);
  return [...nearestEdges(heap, heap.retainers.sourceOf(named)), named];
}

function nearestEdges(heap: Heap, node: number): number[] {
  const edges: number[] = [];
  for (let at = node; at !== heap.root && edges.length < maxSteps; ) {
    const edge = retainerOf(heap, at);
    if (edge < 0) break;
    edges.push(edge);
    at = heap.retainers.sourceOf(edge);
  }
  return edges.reverse();
}

/** How many steps longer a path through a property or variable may be than the one through a WeakMap. */
const mostStepsMore = 6;

/** For the value of a WeakMap entry, which has no name there, the nearest retainer with a name for it; otherwise -1. */
export function weakEntryRetainer(heap: Heap, node: number): number {
  const { snapshot, distances, retainers } = heap;
  const first = retainerOf(heap, node);
  if (first < 0 || snapshot.edgeType(first) !== EdgeType.ephemeron) return -1;
  let best = -1;
  for (const edge of retainers.to(node).subarray(0, manyRetainers)) {
    const type = snapshot.edgeType(edge);
    if (type !== EdgeType.property && type !== EdgeType.context && type !== EdgeType.element) continue;
    const distance = distances[retainers.sourceOf(edge)]!;
    const least = best < 0 ? distances[node]! + mostStepsMore : distances[retainers.sourceOf(best)]!;
    if (distance < least && !isOnWay(heap, node, retainers.sourceOf(edge))) best = edge;
  }
  return best;
}

function isOnWay(heap: Heap, node: number, to: number): boolean {
  return to === node || nearestEdges(heap, to).some((edge) => heap.retainers.sourceOf(edge) === node);
}

/**
 * Nodes with at least this many retainers (what all objects refer to) get a cached answer, since many paths lead through
 * them.
 */
const manyRetainers = 64;
const nearest = new WeakMap<Heap, Map<number, number>>();

/** The edge by which a shortest path from the roots reaches the node, or -1. */
export function retainerOf(heap: Heap, node: number): number {
  const { first } = heap.retainers;
  if (first[node + 1]! - first[node]! < manyRetainers) return findNearest(heap, node);
  const known = nearest.get(heap) ?? new Map<number, number>();
  nearest.set(heap, known);
  const edge = known.get(node) ?? findNearest(heap, node);
  known.set(node, edge);
  return edge;
}

/** Only retainers nearer to the root than the node itself, so that the walk can't cycle. */
function findNearest(heap: Heap, node: number): number {
  const { snapshot, distances, retainers } = heap;
  const { first, edges } = retainers;
  let best = -1;
  let bestDistance = distances[node]!;
  if (bestDistance === noDistance) return -1;
  // The distances are those of a walk over the same edges, so that none is nearer.
  const nearestPossible = bestDistance - 1;
  if (bestDistance === 1) bestDistance = Number.POSITIVE_INFINITY;
  const end = first[node + 1]!;
  for (let row = first[node]!; row < end && bestDistance > nearestPossible; row++) {
    const edge = edges[row]!;
    if (snapshot.edgeType(edge) === EdgeType.weak) continue;
    const source = retainers.sourceOf(edge);
    if (source === node || distances[source] === noDistance) continue;
    // The root's direct targets have distance 1, but the root itself a very high one.
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

/** `global.sessions[3].messages`; V8's own slots as `{slot}`; for Node's timers a description instead of the path to them. */
export function pathText(
  heap: Heap,
  node: number,
  edges = pathEdges(heap, node),
  isKey: (edge: number) => boolean = () => false,
): string {
  if (!edges.length)
    return node === heap.root ? '(root)' : `(nothing strong leads to @${heap.snapshot.nodes.id.get(node)})`;
  const timer = timerOnWay(heap, edges);
  if (!timer) return stepsText(heap, edges, isKey);
  return timer.text + afterCallback(stepsText(heap, edges.slice(timer.edges), isKey));
}

function stepsText(heap: Heap, edges: readonly number[], isKey: (edge: number) => boolean): string {
  let text = '';
  for (const edge of edges) text = isKey(edge) ? `${text}[*]` : appendStep(heap, text, edge);
  // The table of a Map or Set, and its slots, are internal to V8.
  return text.replace(/\{table\}\{\d+\}/g, '.get(…)');
}

/** The path without element indexes and dictionary keys, so that a thousand places of one kind have the same path. */
export function generalPath(heap: Heap, node: number): string {
  return shortPath(
    pathText(heap, node, pathEdges(heap, node), (edge) => isOneOfMany(heap, edge))
      .replace(/\[\d+\]/g, '[*]')
      .replace(/\{\d+\}/g, '{*}')
      // An entry of a WeakMap is named after its key.
      .replace(/ @\d+(?=\})/g, ''),
  );
}

/**
 * If at least this many properties of an object, and at least half of them, lead to one class, they are entries and their
 * names are keys.
 */
const fewestEntries = 16;
const entries = new WeakMap<Heap, Map<number, TargetCounts>>();

interface TargetCounts {
  properties: number;
  byClass: Map<number, number>;
}

/** Whether a property's name is a key: `histories.s17`, with one property per session. */
export function isOneOfMany(heap: Heap, edge: number): boolean {
  const { snapshot, classes } = heap;
  if (snapshot.edgeType(edge) !== EdgeType.property) return false;
  // Node's module cache: the file name shows whose code holds the object.
  if (heap.className(snapshot.edgeTarget(edge)) === 'Module') return false;
  // Any object may have many methods with distinct names.
  if (snapshot.nodes.type[snapshot.edgeTarget(edge)] === NodeType.closure) return false;
  const bySource = entries.get(heap) ?? new Map<number, TargetCounts>();
  entries.set(heap, bySource);
  const source = heap.retainers.sourceOf(edge);
  const counts = bySource.get(source) ?? countTargets(heap, source);
  bySource.set(source, counts);
  const alike = counts.byClass.get(classes.of[snapshot.edgeTarget(edge)]!)!;
  return alike >= fewestEntries && alike * 2 >= counts.properties;
}

/** The number of properties by class of their target. */
function countTargets({ snapshot, classes }: Heap, source: number): TargetCounts {
  const { firstEdge } = snapshot.nodes;
  const byClass = new Map<number, number>();
  let properties = 0;
  for (let edge = firstEdge[source]!; edge < firstEdge[source + 1]!; edge++) {
    if (snapshot.edgeType(edge) !== EdgeType.property) continue;
    const kind = classes.of[snapshot.edgeTarget(edge)]!;
    byClass.set(kind, (byClass.get(kind) ?? 0) + 1);
    properties++;
  }
  return { properties, byClass };
}

/** Abbreviates repeated steps, such as those of a linked list, to one step and its count. */
export function shortPath(path: string): string {
  const short = path.replace(
    /(\.[\p{ID_Continue}$]+|\{[^{}]*\}|\[[^[\]]*\])\1{3,}/gu,
    (run, step: string) => `${step}×${run.length / step.length}`,
  );
  return clipMiddle(short);
}

/** The end of a path identifies the container. */
export function pathTail(path: string): string {
  // In a tree, the repeated steps down are less informative than what the tree belongs to.
  const steps = path
    .replace(
      /((?:\.[\p{ID_Continue}$]+|\[\*\]|\{[^{}]*\})(?:\.[\p{ID_Continue}$]+|\[\*\]|\{[^{}]*\}))\1+/gu,
      (run, pair: string) => `${pair}×${run.length / pair.length}`,
    )
    .split(/(?=[.[{])/);
  return steps.length <= 6 ? steps.join('') : `…${steps.slice(-5).join('')}`;
}

function clipMiddle(path: string): string {
  return path.length <= 300 ? path : `${path.slice(0, 140)} … ${path.slice(-140)}`;
}

export function appendStep(heap: Heap, text: string, edge: number): string {
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
      // The shortest path to a global: through the native context in Node 26, from the roots before.
      return name === 'global_object' ? 'global' : `${text}{${weakMapKey(name) ?? name}}`;
  }
}

/** The name of an entry's edge consists of three names and three ids; only the key is useful to people. */
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
