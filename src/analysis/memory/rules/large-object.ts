/**
 * One object that holds a tenth of the heap. Reported where the bytes accumulate: from the root down as long as one
 * child holds most of it (the "accumulation point" of Eclipse Memory Analyzer's leak suspects); of a list its head.
 */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import {
  describeNode,
  isLargeShare,
  isModuleData,
  placeText,
  type SuspectContext,
  type SuspectRule,
  shareText,
  suspectAt,
} from '../suspects/suspect-context.ts';

const leastShare = 0.1;
/** A child with so much of its parent's bytes carries on the search. */
const carriesOn = 0.7;
const longChain = 16;

export const largeObjectRule: SuspectRule = {
  name: 'large-object',
  isGeneral: true,
  find(context) {
    return accumulationPoints(context)
      .filter(({ node }) => !isModuleData(context, node))
      .slice(0, 8)
      .map(({ node, links }) => {
        const bytes = context.heap.retained[node]!;
        const what = describeNode(context.heap, node);
        const below = context.heap.dominated.of(node).length;
        const isList = links >= longChain;
        const how = isList
          ? `the head of a chain of at least ${links} objects of its class`
          : `with ${below} objects directly below it`;
        return suspectAt(context, 'large-object', node, bytes, {
          title: isList
            ? `A linked list holds ${shareText(bytes, context)}`
            : `One ${context.heap.className(node)} holds ${shareText(bytes, context)}`,
          sentence: `${what} at ${placeText(context.heap, node)} keeps ${shareText(bytes, context)} alive, ${how}; free it, or cut it down, and that memory goes.`,
          confidence: 'likely',
          evidence: [
            `retained size ${bytes} bytes of ${context.totalBytes}`,
            isList
              ? `${links} links of one class dominate each other`
              : `no single child holds more than ${Math.round(carriesOn * 100)} % of it`,
          ],
          refutedBy:
            'The object is meant to be that large, and does not grow between two snapshots (heap diff).',
        });
      });
  },
};

function accumulationPoints(context: SuspectContext): { node: number; links: number }[] {
  const { heap } = context;
  const { retained, dominated } = heap;
  const isLarge = (bytes: number): boolean => isLargeShare(context, bytes, leastShare);
  const found: { node: number; links: number }[] = [];
  const open = [heap.root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const chain = descend(heap, node);
    const large = [...dominated.of(chain.end)].filter((child) => isLarge(retained[child]!));
    // Of a list's head the rest of the list is no reason to look further.
    const largeBytes = chain.links >= longChain ? 0 : large.reduce((sum, child) => sum + retained[child]!, 0);
    if (isProgramObject(heap, chain.end) && isLarge(retained[chain.end]! - largeBytes))
      found.push({ node: chain.end, links: chain.links });
    if (chain.links < longChain) open.push(...large);
  }
  return found.sort((a, b) => retained[b.node]! - retained[a.node]!);
}

/** Down to where no single child carries on, or to the head of a chain of one class. */
function descend(heap: Heap, from: number): { end: number; links: number } {
  const { retained, dominated, classes } = heap;
  let end = from;
  let head = from;
  let links = 0;
  while (links < longChain) {
    let largest = -1;
    for (const child of dominated.of(end))
      if (largest < 0 || retained[child]! > retained[largest]!) largest = child;
    if (largest < 0 || retained[largest]! < retained[end]! * carriesOn) return { end, links: 0 };
    if (classes.of[largest] === classes.of[head]) links++;
    else {
      head = largest;
      links = 0;
    }
    end = largest;
  }
  return { end: head, links };
}

/** Not V8's own, and not the global object, which holds everything by its nature. */
function isProgramObject(heap: Heap, node: number): boolean {
  const type = heap.snapshot.nodes.type[node]!;
  if (/^(global|Window|system \/ NativeContext)\b/.test(heap.snapshot.nodeName(node))) return false;
  return (
    node !== heap.root && type !== NodeType.synthetic && type !== NodeType.hidden && type !== NodeType.code
  );
}
