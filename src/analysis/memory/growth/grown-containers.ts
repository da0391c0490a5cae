/**
 * Finds the node to report if it isn't the one that grew. A container that is replaced by a larger one at each change (`list
 * = [...list, item]`) is always new, and only its owner grew. In a chain the last link grew, but the chain is held at its
 * first link.
 */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import { isGlobal } from '../graph/global-node.ts';
import type { Heap } from '../heap.ts';
import { isStringType } from '../questions/node-rows.ts';

/** A new child explains its owner's growth if it retains at least this share of it. */
const explainingShare = 0.8;
const longChain = 16;
/** Nodes between two links of one class: a reaction and its promise, a closure and its scope. */
const mostBetween = 4;
const longestClimb = 200_000;

const containerTypes: ReadonlySet<number> = new Set([NodeType.object, NodeType.closure]);
/** V8's internal parts of an object, between it and its contents. */
const partTypes: ReadonlySet<number> = new Set([NodeType.array, NodeType.hidden]);

/** All plain objects may have the same class, so that one inside another isn't a list yet. */
const fewestLinks = 3;

/**
 * The deepest new container below a node that retains what the node grew by; for a new list, its first link. Otherwise -1.
 */
export function replacedBelow(heap: Heap, grown: number, growthBytes: number, isNew: Uint8Array): number {
  const { classes } = heap;
  let found = grown;
  let first = grown;
  let links = 0;
  for (let at = grown; ; ) {
    at = explainingChild(heap, at, growthBytes, isNew);
    if (at < 0) break;
    if (isPart(heap, at)) continue;
    // A text is made anew with each piece that is added to it.
    if (isStringType(heap.snapshot.nodes.type[at]!)) return at;
    if (!containerTypes.has(heap.snapshot.nodes.type[at]!)) break;
    const isLink = classes.of[at] === classes.of[found];
    if (!isLink) first = at;
    links = isLink ? links + 1 : 0;
    found = at;
    if (links >= fewestLinks) break;
  }
  const shown = links >= fewestLinks ? first : found;
  return shown === grown ? -1 : shown;
}

/** Fewer that grow together are perhaps not of one kind by intention. */
const fewestTogether = 4;
const deepestTogether = 32;

/**
 * Where a container has as many entries as before, but something in each of them grew (a list of each user), those that
 * received what is new: the lowest objects of one class whose growth is nearly all of the containers'. Otherwise none.
 */
export function grownTogether(
  heap: Heap,
  containers: readonly number[],
  growth: Float64Array,
  isNew: Uint8Array,
): number[] {
  const all = sumOf(containers, growth);
  let found: readonly number[] = containers;
  let at: readonly number[] = containers;
  for (let depth = 0; depth < deepestTogether; depth++) {
    const { added, ofKind } = childrenOf(heap, at, growth, isNew);
    if (added >= all * (1 - explainingShare)) break;
    const most = [...ofKind.values()].sort((a, b) => sumOf(b, growth) - sumOf(a, growth))[0];
    if (!most || sumOf(most, growth) < all * explainingShare) return [];
    at = most;
    if (!isPart(heap, most[0]!)) found = most;
  }
  return found.length >= fewestTogether && found !== containers ? [...found] : [];
}

/** What these retain directly: the bytes of what is new, and what grew, by class. */
function childrenOf(
  { dominated, retained, classes }: Heap,
  nodes: readonly number[],
  growth: Float64Array,
  isNew: Uint8Array,
): { added: number; ofKind: Map<number, number[]> } {
  let added = 0;
  const ofKind = new Map<number, number[]>();
  for (const node of nodes)
    for (const child of dominated.of(node)) {
      if (isNew[child]) added += retained[child]!;
      else if (growth[child]! > 0) {
        const alike = ofKind.get(classes.of[child]!) ?? [];
        ofKind.set(classes.of[child]!, alike);
        alike.push(child);
      }
    }
  return { added, ofKind };
}

const sumOf = (nodes: readonly number[], values: Float64Array): number => {
  let sum = 0;
  for (const node of nodes) sum += values[node]!;
  return sum;
};

/** The largest node that `node` immediately dominates, if it is new and retains most of the growth; otherwise -1. */
function explainingChild(
  { dominated, retained }: Heap,
  node: number,
  growthBytes: number,
  isNew: Uint8Array,
): number {
  let child = -1;
  for (const each of dominated.of(node)) if (child < 0 || retained[each]! > retained[child]!) child = each;
  return child >= 0 && isNew[child] && retained[child]! >= growthBytes * explainingShare ? child : -1;
}

function isPart({ snapshot }: Heap, node: number): boolean {
  const type = snapshot.nodes.type[node]!;
  return partTypes.has(type) || (type === NodeType.object && snapshot.nodeName(node).startsWith('system / '));
}

/** For the last node of a chain of its class, the first; otherwise -1. */
export function headOfChain(heap: Heap, node: number): number {
  const { tree, classes, root } = heap;
  let [head, links, between] = [node, 0, 0];
  for (let at = tree.dominator[node]!, steps = 0; at !== root && steps < longestClimb; steps++) {
    if (classes.of[at] === classes.of[node]) [head, links, between] = [at, links + 1, 0];
    else if (++between > mostBetween) break;
    at = tree.dominator[at]!;
  }
  return links >= longChain && !isGlobal(heap, head) ? head : -1;
}
