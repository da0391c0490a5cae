/**
 * Finds the container that many objects have in common: the one they are added to and never removed from. An object with two
 * owners (a job in a list and in a timer) is below neither in the dominator tree, so sizes don't show its container, but
 * references do. Uses a sample and follows few edges back, so that the cost doesn't grow with the heap.
 */
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import { isGlobal } from '../graph/global-node.ts';
import type { Heap } from '../heap.ts';
import { isScope } from './scope-variable.ts';

const mostSamples = 100;
/** The share of the objects that a container must reach: nearly all, or else a good part (one of each pair). */
const commonShares = [0.8, 0.4];
/** Limits of the search from one object: steps back, and nodes visited. */
const mostSteps = 8;
const mostVisited = 96;
const mostRetainers = 24;
/** Fewer nested objects of one class don't make a list. */
const fewestLinks = 5;
/** The head of a list dominates nearly all of it. */
const headShare = 0.9;
const longestClimb = 20_000;

/** Types that people know as containers; V8's tables belong to one of those. */
const containerTypes: ReadonlySet<number> = new Set([NodeType.object, NodeType.closure, NodeType.native]);

/** -1 if they have only the roots in common. */
export function commonHolder(heap: Heap, nodes: ArrayLike<number>): number {
  // Odd, so that if objects alternate in pairs, both kinds are sampled.
  const step = Math.floor(nodes.length / mostSamples) | 1;
  const samples: number[] = [];
  for (let at = 0; at < nodes.length && samples.length < mostSamples; at += step) samples.push(nodes[at]!);
  if (!samples.length) return -1;
  const nearest = nearestReferrer(heap, samples);
  return nearest >= 0 ? nearest : commonDominator(heap, samples);
}

/** The nearest container from which most samples can be reached over few edges; otherwise -1. */
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
      // Excludes Node's own lists of everything that it has created.
      !heap.snapshot.nodeName(node).startsWith('Node / ') &&
      containerTypes.has(heap.snapshot.nodes.type[node]!) &&
      // Excludes links of a list, which hold no more than the next link.
      !lists.has(node) &&
      // Samples count only if nearly all others lead to them: the promise that they all wait for.
      (samples.length === 1 || !isSample.has(node) || count >= samples.length * commonShares[0]!),
  );
  for (const share of commonShares) {
    const common = candidates.filter(([, { count }]) => count >= samples.length * share);
    // A variable is more informative than the scope that contains it.
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

/** By referring node: over how many edges; a chain of one class (a linked list) is one step. */
function referrers(heap: Heap, from: number, lists: Lists): Map<number, number> {
  const { snapshot, retainers } = heap;
  const found = new Map<number, number>();
  let level = [from];
  for (let steps = 1; steps <= mostSteps && level.length; steps++) {
    const next: number[] = [];
    for (const node of level) {
      const edges = retainers.to(node);
      // Nodes that everything refers to (a prototype, a shared string) are not informative.
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

/** Chains of one class and their heads. A list may have a million links, so each is climbed only once. */
class Lists {
  readonly #heap: Heap;
  /** By ordinal of a link: the ordinal of its head plus one. */
  #headOf: Uint32Array | undefined;
  readonly #heads = new Set<number>();

  constructor(heap: Heap) {
    this.#heap = heap;
  }

  /** Whether it is a link of a chain that was climbed. */
  has(node: number): boolean {
    return this.#heads.has(node) || (this.#headOf?.[node] ?? 0) > 0;
  }

  /** The first link of the node's chain, or the node itself. */
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

  /** The previous link, nearer to the roots, also in a doubly linked list; otherwise -1. */
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

/** A node that a sample has passed; more, by the samples that joined its way there. */
const passed = 1;
/** By ordinal; all zero between two searches. */
const countsOf = new WeakMap<Heap, Uint32Array>();

/**
 * The lowest node that dominates so many of them (more than half), or -1. Samples in one list have nearly all the nodes above
 * them in common, so each climbs only to the first one that another has passed.
 */
function lowestAbove(heap: Heap, samples: readonly number[], needed: number): number {
  const { tree, root } = heap;
  const counts = countsOf.get(heap) ?? new Uint32Array(heap.nodeCount);
  countsOf.set(heap, counts);
  const ways: { nodes: number[]; joined: number }[] = [];
  for (const sample of samples) {
    const nodes: number[] = [];
    let at = tree.dominator[sample]!;
    for (; at !== root && counts[at] === 0 && nodes.length < longestClimb; at = tree.dominator[at]!) {
      counts[at] = passed;
      nodes.push(at);
    }
    ways.push({ nodes, joined: at !== root && counts[at] ? at : -1 });
  }
  let lowest = -1;
  // Backwards, since a way joins only earlier ones; so what is below a node is known when its turn comes.
  for (const { nodes, joined } of ways.reverse()) {
    let count = 1;
    for (const node of nodes) {
      count += counts[node]! - passed;
      counts[node] = 0;
      if (lowest < 0 && count >= needed) lowest = node;
    }
    if (joined >= 0) counts[joined]! += count;
  }
  return lowest;
}

/** The lowest node that dominates nearly all of them; for a chain of one class, its first. Otherwise -1. */
function commonDominator(heap: Heap, samples: readonly number[]): number {
  const { tree, classes, root } = heap;
  const needed = Math.ceil(samples.length * headShare);
  // The lowest above nearly all of a chain is within the chain; above the first ones, which are the oldest, is its head.
  let lowest = lowestAbove(heap, samples.slice(0, needed), needed);
  if (lowest < 0) lowest = lowestAbove(heap, samples, needed);
  while (lowest >= 0 && lowest !== root && classes.of[tree.dominator[lowest]!] === classes.of[lowest])
    lowest = tree.dominator[lowest]!;
  while (lowest >= 0 && lowest !== root && !containerTypes.has(heap.snapshot.nodes.type[lowest]!))
    lowest = tree.dominator[lowest]!;
  return lowest < 0 || lowest === root || isGlobal(heap, lowest) ? -1 : lowest;
}

/** The nodes that containers directly retain, by class. */
export function contentsByClass(
  heap: Heap,
  containers: readonly number[],
  isWanted: (node: number) => boolean = () => true,
): Map<string, number[]> {
  const byClass = new Map<string, number[]>();
  // Several kinds may have one name.
  const ofKind = new Map<number, number[]>();
  forEachContent(heap, containers, (child, kind) => {
    if (!isWanted(child)) return;
    let nodes = ofKind.get(kind);
    if (!nodes) {
      const name = heap.classes.kinds[kind]!.name;
      nodes = byClass.get(name) ?? [];
      byClass.set(name, nodes);
      ofKind.set(kind, nodes);
    }
    nodes.push(child);
  });
  return byClass;
}

/**
 * Called with each node that the containers directly retain, and the kind of its class. V8's internal parts (elements, tables)
 * count by what is in them.
 */
function forEachContent(
  { snapshot, dominated, classes }: Heap,
  containers: readonly number[],
  callback: (child: number, kind: number) => void,
): void {
  const { type } = snapshot.nodes;
  const open = [...containers];
  const { first, nodes } = dominated;
  const { of } = classes;
  for (let at = open.pop(); at !== undefined; at = open.pop())
    for (let row = first[at]!; row < first[at + 1]!; row++) {
      const child = nodes[row]!;
      const kind = type[child]!;
      if (kind === NodeType.array || kind === NodeType.hidden) open.push(child);
      else if (kind !== NodeType.code) callback(child, of[child]!);
    }
}

/** Fewer objects may be in any container by chance. */
const fewestContents = 8;

/** What holds these contents within a container, such as one of its two lists; otherwise -1. */
export function holderBelow(heap: Heap, container: number, nodes: ArrayLike<number>): number {
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

/** Fewer are parts of one thing, and more for fewer members each than this no lists. */
const fewestLists = 4;
const fewestInEach = 8;

/**
 * The arrays, Maps or Sets between a holder and most of these objects, of which each has some (a list of each user): how
 * many, and the one that retains most. Undefined if the holder has the objects itself.
 */
export function listsBelow(
  heap: Heap,
  holder: number,
  nodes: ArrayLike<number>,
): { count: number; fullest: number } | undefined {
  const { tree, snapshot, retained } = heap;
  const { type, name } = snapshot.nodes;
  const isListName = new Set(['Array', 'Map', 'Set'].map((text) => snapshot.strings.findAscii(text)));
  const counts = new Map<number, number>();
  // Once so many are in no list, the answer is known: the links of a long chain would have a count each.
  let othersLeft = nodes.length * (1 - headShare);
  for (let at = 0; at < nodes.length; at++) {
    let list = tree.dominator[nodes[at]!]!;
    while (list !== heap.root && (type[list] === NodeType.array || type[list] === NodeType.hidden))
      list = tree.dominator[list]!;
    if (list !== holder && isListName.has(name[list]!)) counts.set(list, (counts.get(list) ?? 0) + 1);
    else if (--othersLeft < -1) return undefined;
  }
  let [count, members, fullest] = [0, 0, -1];
  for (const [list, its] of counts) {
    if (its < fewestInEach) continue;
    count++;
    members += its;
    if (fullest < 0 || retained[list]! > retained[fullest]!) fullest = list;
  }
  return count >= fewestLists && members >= nodes.length * headShare ? { count, fullest } : undefined;
}

const deepest = new WeakMap<Heap, Map<number, number>>();

/** The same for the contents with most of a container's bytes; the container itself if nothing below holds them. */
export function deepestHolder(heap: Heap, container: number): number {
  const known = deepest.get(heap) ?? new Map<number, number>();
  deepest.set(heap, known);
  const holder = known.get(container) ?? findDeepest(heap, container);
  known.set(container, holder);
  return holder;
}

function findDeepest(heap: Heap, container: number): number {
  const { retained, classes } = heap;
  const least = retained[container]! / 2;
  const byName = new Map<string, { bytes: number; count: number }>();
  const ofKind: { bytes: number; count: number }[] = [];
  forEachContent(heap, [container], (child, kind) => {
    let sums = ofKind[kind];
    if (!sums) {
      const { name } = classes.kinds[kind]!;
      sums = byName.get(name) ?? { bytes: 0, count: 0 };
      byName.set(name, sums);
      ofKind[kind] = sums;
    }
    sums.bytes += retained[child]!;
    sums.count++;
  });
  const [most] = [...byName.values()].sort((a, b) => b.bytes - a.bytes);
  if (!most || most.bytes < least || most.count < fewestContents) return container;
  const nodes = new Uint32Array(most.count);
  let found = 0;
  forEachContent(heap, [container], (child, kind) => {
    if (ofKind[kind] === most) nodes[found++] = child;
  });
  const holder = holderBelow(heap, container, nodes);
  return holder < 0 ? container : holder;
}
