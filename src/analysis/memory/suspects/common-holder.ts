/**
 * The container that many objects have in common: the one they are put into and never taken out of. An object with two
 * owners (a job in a list and in a timer) is below neither in the dominator tree, so that no size points at them: here
 * the references tell. Looks at a sample, and back over few edges, so that the cost does not grow with the heap.
 */
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import { isGlobal } from '../graph/global-node.ts';
import type { Heap } from '../heap.ts';
import { isScope } from './scope-variable.ts';

const mostSamples = 200;
/** Of the objects asked about, how many a container has to reach: nearly all, else a good part (every second one of a pair). */
const commonShares = [0.8, 0.4];
/** Steps back from an object, and the nodes looked at on the way. */
const mostSteps = 8;
const mostVisited = 96;
const mostRetainers = 24;
/** An object in an object is no list yet. */
const fewestLinks = 5;
/** A head of a list has nearly all of it below. */
const headShare = 0.9;
const longestClimb = 20_000;

/** Types that a person knows as a thing that holds others; V8's tables belong to one of those. */
const containerTypes: ReadonlySet<number> = new Set([NodeType.object, NodeType.closure, NodeType.native]);

/** -1 where they have nothing in common but the roots. */
export function commonHolder(heap: Heap, nodes: ArrayLike<number>): number {
  // Odd, so that of pairs not always the same half is looked at.
  const step = Math.floor(nodes.length / mostSamples) | 1;
  const samples: number[] = [];
  for (let at = 0; at < nodes.length && samples.length < mostSamples; at += step) samples.push(nodes[at]!);
  if (!samples.length) return -1;
  const nearest = nearestReferrer(heap, samples);
  return nearest >= 0 ? nearest : commonDominator(heap, samples);
}

/** Of the containers from which most of them are reached over few edges the nearest. */
function nearestReferrer(heap: Heap, samples: readonly number[]): number {
  const votes = new Map<number, { count: number; steps: number }>();
  const lists = new Lists(heap);
  for (const sample of samples)
    for (const [node, steps] of referrers(heap, sample, lists)) {
      const vote = votes.get(node) ?? { count: 0, steps: 0 };
      vote.count++;
      vote.steps += steps;
      votes.set(node, vote);
    }
  const isSample = new Set(samples);
  const candidates = [...votes].filter(
    ([node, { count }]) =>
      // Node's own lists of all that it has made.
      !heap.snapshot.nodeName(node).startsWith('Node / ') &&
      containerTypes.has(heap.snapshot.nodes.type[node]!) &&
      // A link of a list holds no more than the next one.
      !lists.has(node) &&
      // But what nearly all the others lead to may be of their class: the promise that they all wait for.
      (samples.length === 1 || !isSample.has(node) || count >= samples.length * commonShares[0]!),
  );
  for (const share of commonShares) {
    const common = candidates.filter(([, { count }]) => count >= samples.length * share);
    // A variable says more than the scope that it is in.
    common.sort(
      ([one, a], [other, b]) =>
        Number(isScope(heap, one)) - Number(isScope(heap, other)) ||
        a.steps / a.count - b.steps / b.count ||
        b.count - a.count,
    );
    if (common[0]) return common[0][0];
  }
  return -1;
}

/** By node that leads to it: over how many edges; a chain of one class (a linked list) is one step. */
function referrers(heap: Heap, from: number, lists: Lists): Map<number, number> {
  const { snapshot, retainers } = heap;
  const found = new Map<number, number>();
  let level = [from];
  for (let steps = 1; steps <= mostSteps && level.length; steps++) {
    const next: number[] = [];
    for (const node of level) {
      const edges = retainers.to(node);
      // What everything refers to (a prototype, a shared string) says nothing.
      if (edges.length > mostRetainers && node !== from) continue;
      for (const edge of edges.subarray(0, mostRetainers)) {
        const type = snapshot.edgeType(edge);
        if (type === EdgeType.weak || type === EdgeType.ephemeron) continue;
        const source = retainers.sourceOf(edge);
        if (source === from || found.has(source) || isGlobal(heap, source)) continue;
        found.set(source, steps);
        const head = lists.headOf(source);
        if (head !== source && !found.has(head)) found.set(head, steps);
        next.push(head);
      }
      if (found.size >= mostVisited) return found;
    }
    level = next;
  }
  return found;
}

/** Chains of one class, and where each begins. A list may have a million links: they are climbed once. */
class Lists {
  readonly #heap: Heap;
  /** By ordinal of a link: its head's, and one. */
  #headOf: Uint32Array | undefined;
  readonly #heads = new Set<number>();

  constructor(heap: Heap) {
    this.#heap = heap;
  }

  /** Whether it is a link of a chain that was climbed. */
  has(node: number): boolean {
    return this.#heads.has(node) || (this.#headOf?.[node] ?? 0) > 0;
  }

  /** The first link of the chain that a node is in, or the node itself. */
  headOf(from: number): number {
    const way: number[] = [];
    let at = from;
    while (!this.#headOf?.[at] && way.length < longestClimb) {
      way.push(at);
      const before = this.#linkBefore(at);
      if (before < 0) break;
      at = before;
    }
    const known = this.#headOf?.[at] ?? 0;
    if (known === 0 && way.length < fewestLinks) return from;
    const head = known > 0 ? known - 1 : at;
    this.#headOf ??= new Uint32Array(this.#heap.nodeCount);
    for (const node of way) this.#headOf[node] = head + 1;
    if (way.length) this.#heads.add(head);
    return head;
  }

  /** Of a list linked both ways, on the way that the roots are on; or -1. */
  #linkBefore(node: number): number {
    const { snapshot, retainers, classes, distances } = this.#heap;
    const { first, edges } = retainers;
    const end = Math.min(first[node + 1]!, first[node]! + mostRetainers);
    for (let row = first[node]!; row < end; row++) {
      if (snapshot.edgeType(edges[row]!) === EdgeType.weak) continue;
      const source = retainers.sourceOf(edges[row]!);
      if (classes.of[source] === classes.of[node] && distances[source]! < distances[node]!) return source;
    }
    return -1;
  }
}

/** The lowest node that dominates nearly all of them; of a chain of one class the first. */
function commonDominator(heap: Heap, samples: readonly number[]): number {
  const { tree, classes, root } = heap;
  const votes = new Map<number, number>();
  const needed = samples.length * headShare;
  let lowest = -1;
  for (const sample of samples) {
    let at = tree.dominator[sample]!;
    for (let steps = 0; at !== root && steps < longestClimb; steps++, at = tree.dominator[at]!) {
      const count = (votes.get(at) ?? 0) + 1;
      votes.set(at, count);
      // The first to have enough votes is the lowest one: those above it get theirs after it.
      if (count < needed) continue;
      lowest = at;
      break;
    }
    if (lowest >= 0) break;
  }
  while (lowest >= 0 && lowest !== root && classes.of[tree.dominator[lowest]!] === classes.of[lowest])
    lowest = tree.dominator[lowest]!;
  while (lowest >= 0 && lowest !== root && !containerTypes.has(heap.snapshot.nodes.type[lowest]!))
    lowest = tree.dominator[lowest]!;
  return lowest < 0 || lowest === root || isGlobal(heap, lowest) ? -1 : lowest;
}

/** V8's own parts of a container (elements, tables): what is in them is what counts. */
const innerTypes: ReadonlySet<number> = new Set([NodeType.array, NodeType.hidden]);

/** What containers keep alive directly, by class. */
export function contentsByClass(
  heap: Heap,
  containers: readonly number[],
  isWanted: (node: number) => boolean = () => true,
): Map<string, number[]> {
  const { snapshot, dominated } = heap;
  const byClass = new Map<string, number[]>();
  const open = [...containers];
  for (let at = open.pop(); at !== undefined; at = open.pop())
    for (const child of dominated.of(at)) {
      const type = snapshot.nodes.type[child]!;
      if (innerTypes.has(type)) open.push(child);
      else if (type !== NodeType.code && isWanted(child)) {
        const name = heap.className(child);
        const nodes = byClass.get(name) ?? [];
        byClass.set(name, nodes);
        nodes.push(child);
      }
    }
  return byClass;
}

/** Few objects may be in anything. */
const fewestContents = 8;

/** Below a container, what holds these contents of it: one of its two lists. Or -1. */
export function holderBelow(heap: Heap, container: number, nodes: readonly number[]): number {
  if (nodes.length < fewestContents) return -1;
  const holder = commonHolder(heap, nodes);
  if (holder < 0 || holder === container) return -1;
  let at = holder;
  for (let steps = 0; at !== heap.root && steps < 64; steps++) {
    at = heap.tree.dominator[at]!;
    if (at === container) return holder;
  }
  return -1;
}

/** The same of what most of a container's bytes are in; itself where nothing below it holds them. */
export function deepestHolder(heap: Heap, container: number): number {
  const bytesOf = (nodes: readonly number[]): number =>
    nodes.reduce((sum, node) => sum + heap.retained[node]!, 0);
  let most: readonly number[] = [];
  for (const nodes of contentsByClass(heap, [container]).values())
    if (bytesOf(nodes) > bytesOf(most)) most = nodes;
  if (bytesOf(most) < heap.retained[container]! / 2) return container;
  const holder = holderBelow(heap, container, most);
  return holder < 0 ? container : holder;
}
