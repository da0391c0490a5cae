/**
 * Where a person would look for what grew, when the node that did is not the place: a container that is replaced by a larger
 * one at each change (`list = [...list, item]`) is new each time, and its owner is the one that grew; of a chain the last
 * link grew, and its first is where the chain is held.
 */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import { isGlobal } from '../graph/global-node.ts';
import type { Heap } from '../heap.ts';

/** A new child explains its owner's growth when it keeps so much of it alive. */
const explainingShare = 0.8;
const longChain = 16;
/** Between two links of one class: a reaction and its promise, a closure and its scope. */
const mostBetween = 4;
const longestClimb = 200_000;

const containerTypes: ReadonlySet<number> = new Set([NodeType.object, NodeType.closure]);
/** V8's parts of an object, on the way to what is in it. */
const partTypes: ReadonlySet<number> = new Set([NodeType.array, NodeType.hidden]);

/** Plain objects are of one class, so that one in another is no list yet. */
const fewestLinks = 3;

/** Below a node that grew, the deepest new container that has what it grew by; of a list that is new its first link. Or -1. */
export function replacedBelow(heap: Heap, grown: number, growthBytes: number, isNew: Uint8Array): number {
  const { classes } = heap;
  let found = grown;
  let first = grown;
  let links = 0;
  for (let at = grown; ; ) {
    at = explainingChild(heap, at, growthBytes, isNew);
    if (at < 0) break;
    if (isPart(heap, at)) continue;
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

/** The largest of what a node dominates, if it is new and keeps most of the growth alive; or -1. */
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

/** Of a node at the end of a chain of its class, one below the other, the first; or -1. */
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
