/**
 * An emitter, or a target such as an AbortSignal, with more listeners for one event than is ever intended (Node warns at 11).
 */
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import { formatNumber } from '../../../model/quantities.ts';
import { type CrowdedEvent, crowdedTargets } from '../graph/crowded-targets.ts';
import type { Heap } from '../heap.ts';
import { elementNodes } from '../questions/heap-value.ts';
import { findChild } from '../questions/node-rows.ts';
import { sourceOf, sourceText } from '../questions/scripts.ts';
import { objectsWith } from '../suspects/marked-objects.ts';
import {
  describeNode,
  placeText,
  type SuspectRule,
  shareText,
  suspectAt,
} from '../suspects/suspect-context.ts';

const mostListeners = 50;

export const listenersRule: SuspectRule = {
  name: 'listeners',
  find(context) {
    const { heap } = context;
    return [...crowdedEvents(heap), ...crowdedTargets(heap, mostListeners)]
      .sort((a, b) => heap.retained[b.list]! - heap.retained[a.list]!)
      .slice(0, 3)
      .map(({ emitter, event, list, listeners }) => {
        const bytes = heap.retained[list]!;
        const sample = sourceText(sourceOf(heap, heap.snapshot.location(listeners[0]!)));
        return suspectAt(context, 'listeners', list, bytes, {
          title: `${formatNumber(listeners.length)} listeners for "${event}"`,
          sentence: `${describeNode(heap, emitter)} at ${placeText(heap, emitter)} has ${formatNumber(listeners.length)} listeners for "${event}"${sample ? `, such as the function at ${sample}` : ''}; they keep ${shareText(bytes, context)} alive. Something adds a listener each time and never removes it.`,
          confidence: 'likely',
          evidence: [
            `${listeners.length} functions in its list for "${event}"`,
            `retained size ${bytes} bytes`,
          ],
          refutedBy: 'Each listener belongs to something that is still in use.',
        });
      });
  },
};

/** EventEmitter stores `_events`: by event name, a function or an array of functions. */
function crowdedEvents(heap: Heap): CrowdedEvent[] {
  const { snapshot } = heap;
  const found: CrowdedEvent[] = [];
  for (const emitter of objectsWith(heap, '_events')) {
    const events = findChild(heap, emitter, '_events', EdgeType.property);
    for (let edge = snapshot.nodes.firstEdge[events]!; edge < snapshot.nodes.firstEdge[events + 1]!; edge++) {
      const array = snapshot.edgeTarget(edge);
      if (snapshot.edgeType(edge) !== EdgeType.property || snapshot.nodeName(array) !== 'Array') continue;
      const listeners = elementNodes(heap, array).filter(
        (node) => snapshot.nodes.type[node] === NodeType.closure,
      );
      if (listeners.length > mostListeners)
        found.push({ emitter, event: snapshot.edgeName(edge), list: array, listeners });
    }
  }
  return found;
}
