/** JavaScript contexts besides the main one (vm contexts, iframes), and DOM nodes that left their document. */
import { Detachedness, forEachRowWith, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { HeapSuspect } from '../../../model/heap.ts';
import { formatNumber } from '../../../model/quantities.ts';
import { computeDetachedness } from '../graph/detached-nodes.ts';
import { forEachNamed, largestOf } from '../questions/node-rows.ts';
import {
  placeText,
  type SuspectContext,
  type SuspectRule,
  shareText,
  suspectAt,
} from '../suspects/suspect-context.ts';

const leastShare = 0.02;
const mostContexts = 5;

export const contextsRule: SuspectRule = {
  name: 'detached-contexts',
  find: (context) => [...extraContexts(context), ...detachedNodes(context)],
};

function extraContexts(context: SuspectContext): HeapSuspect[] {
  const { heap, totalBytes } = context;
  const contexts: number[] = [];
  forEachNamed(heap, 'system / NativeContext', (node) => contexts.push(node));
  contexts.sort((a, b) => heap.retained[b]! - heap.retained[a]!);
  // The largest is the program's own.
  const extra = contexts.slice(1);
  const bytes = extra.reduce((sum, node) => sum + heap.retained[node]!, 0);
  if (extra.length < mostContexts || bytes < totalBytes * leastShare) return [];
  return [
    suspectAt(context, 'detached-contexts', extra[0]!, bytes, {
      title: `${formatNumber(extra.length)} JavaScript contexts besides the program's`,
      sentence: `${formatNumber(extra.length)} contexts besides the program's own keep ${shareText(bytes, context)} alive, one of them at ${placeText(heap, extra[0]!)}: vm contexts that are made each time and kept.`,
      confidence: 'likely',
      evidence: [`${extra.length + 1} native contexts`],
      refutedBy: 'Each context is in use.',
    }),
  ];
}

function detachedNodes(context: SuspectContext): HeapSuspect[] {
  const { heap, totalBytes } = context;
  const state = computeDetachedness(heap.snapshot);
  const nodes: number[] = [];
  const { type, count } = heap.snapshot.nodes;
  if (state)
    forEachRowWith(state, count, Detachedness.detached, (node) => {
      if (type[node] === NodeType.native && heap.snapshot.nodeName(node).startsWith('<')) nodes.push(node);
    });
  const bytes = nodes.reduce((sum, node) => sum + heap.selfSize.get(node), 0);
  if (bytes < totalBytes * leastShare) return [];
  const largest = largestOf(heap, nodes);
  return [
    suspectAt(context, 'detached-contexts', largest, bytes, {
      title: `${formatNumber(nodes.length)} detached DOM nodes`,
      sentence: `${formatNumber(nodes.length)} DOM nodes left their document and are still held, one of them at ${placeText(heap, largest)}.`,
      confidence: 'likely',
      evidence: [`${nodes.length} nodes that V8's embedder calls detached, ${bytes} bytes`],
      refutedBy: 'They are put back into the document later.',
    }),
  ];
}
