/**
 * The container that many objects have in common: the one they are put into and never taken out of. An object with two
 * owners (a job in a list and in a timer) is below neither in the dominator tree, so that no size points at them: here
 * the references tell. Looks at a sample, and back over few edges, so that the cost does not grow with the heap.
 */
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import { isGlobal } from '../graph/global-node.ts';
import type { Heap } from '../heap.ts';

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
export function commonHolder(heap: Heap, nodes: readonly number[]): number {
  // Odd, so that of pairs not always the same half is looked at.
  const step = Math.floor(nodes.length / mostSamples) | 1;
  const samples = nodes.filter((_, at) => at % step === 0).slice(0, mostSamples);
  if (!samples.length) return -1;
  const nearest = nearestReferrer(heap, samples);
  return nearest >= 0 ? nearest : commonDominator(heap, samples);
}

/** Of the containers from which most of them are reached over few edges the nearest. */
function nearestReferrer(heap: Heap, samples: readonly number[]): number {
  const votes = new Map<number, { count: number; steps: number }>();
  const heads = new Map<number, number>();
  for (const sample of samples)
    for (const [node, steps] of referrers(heap, sample, heads)) {
      const vote = votes.get(node) ?? { count: 0, steps: 0 };
      vote.count++;
      vote.steps += steps;
      votes.set(node, vote);
    }
  const isSample = new Set(samples);
  // A link of a list holds no more than the next one.
  const links = new Set([...heads].flat());
  const candidates = [...votes].filter(
    ([node]) =>
      // Node's own lists of all that it has made.
      !heap.snapshot.nodeName(node).startsWith('Node / ') &&
      containerTypes.has(heap.snapshot.nodes.type[node]!) &&
      !links.has(node) &&
      (samples.length === 1 || !isSample.has(node)),
  );
  for (const share of commonShares) {
    const common = candidates.filter(([, { count }]) => count >= samples.length * share);
    common.sort(([, a], [, b]) => a.steps / a.count - b.steps / b.count || b.count - a.count);
    if (common[0]) return common[0][0];
  }
  return -1;
}

/** By node that leads to it: over how many edges; a chain of one class (a linked list) is one step. */
function referrers(heap: Heap, from: number, heads: Map<number, number>): Map<number, number> {
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
        const head = headOf(heap, source, heads);
        if (head !== source && !found.has(head)) found.set(head, steps);
        next.push(head);
      }
      if (found.size >= mostVisited) return found;
    }
    level = next;
  }
  return found;
}

/**
 * The first link of the chain that a node is in, or the node itself.
 * @param heads of the links that are known, which are added to.
 */
function headOf(
  { snapshot, retainers, classes, distances }: Heap,
  from: number,
  heads: Map<number, number>,
): number {
  const way: number[] = [];
  let at = from;
  while (!heads.has(at) && way.length < longestClimb) {
    way.push(at);
    // Of a list linked both ways, the way that the roots are on.
    const isLink = (edge: number): boolean => {
      const source = retainers.sourceOf(edge);
      return classes.of[source] === classes.of[at] && distances[source]! < distances[at]!;
    };
    const edges = retainers.to(at).subarray(0, mostRetainers);
    const link = edges.find((edge) => snapshot.edgeType(edge) !== EdgeType.weak && isLink(edge));
    if (link === undefined) break;
    at = retainers.sourceOf(link);
  }
  const known = heads.get(at);
  if (known === undefined && way.length < fewestLinks) return from;
  const head = known ?? at;
  for (const node of way) heads.set(node, head);
  return head;
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
