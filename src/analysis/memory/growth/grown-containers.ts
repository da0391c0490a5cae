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

/** Below a node that grew, the deepest new container that has what it grew by; of a list that is new its first link. Or -1. */
export function replacedBelow(heap: Heap, grown: number, growthBytes: number, isNew: Uint8Array): number {
  const { retained, dominated, classes, snapshot } = heap;
  let found = -1;
  let isPart = true;
  for (let at = grown; isPart || at === found || at === grown; ) {
    let child = -1;
    for (const each of dominated.of(at)) if (child < 0 || retained[each]! > retained[child]!) child = each;
    if (child < 0 || !isNew[child] || retained[child]! < growthBytes * explainingShare) break;
    if (classes.of[child] === classes.of[found >= 0 ? found : grown]) break;
    const type = snapshot.nodes.type[child]!;
    isPart =
      partTypes.has(type) || (type === NodeType.object && snapshot.nodeName(child).startsWith('system / '));
    if (!isPart && !containerTypes.has(type)) break;
    if (!isPart) found = child;
    at = child;
  }
  return found;
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
