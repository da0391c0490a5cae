/**
 * Finds EventTargets (mostly AbortSignals) with many listeners for one event. Node stores them in a doubly linked list below
 * a symbol: target[kEvents] is a Map from event name to {size, next}, and `next` links the Listeners
 * (lib/internal/event_target.js, the same in Node 20 to 26).
 */
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { findChild, stringText } from '../questions/node-rows.ts';
import { tablePairs } from '../questions/tables.ts';

export interface CrowdedEvent {
  /** The emitter or target. */
  emitter: number;
  event: string;
  /** The node that contains the list. */
  list: number;
  /** The listener functions. */
  listeners: number[];
}

const eventsSymbol = '<symbol kEvents>';
/** Guarantees termination; no snapshot has longer lists. */
const mostListeners = 1_000_000;

export function crowdedTargets(heap: Heap, moreThan: number): CrowdedEvent[] {
  const name = heap.snapshot.strings.findAscii(eventsSymbol);
  const found: CrowdedEvent[] = [];
  if (name < 0) return found;
  for (const { target, events } of targetsOf(heap, name))
    for (const { key, value } of tablePairs(heap, events)) {
      if (key === undefined || value === undefined) continue;
      const listeners = functionsOf(heap, value);
      if (listeners.length > moreThan)
        found.push({ emitter: target, event: stringText(heap, key, 100), list: events, listeners });
    }
  return found;
}

function* targetsOf(heap: Heap, name: number): Generator<{ target: number; events: number }> {
  const { nodes, edges } = heap.snapshot;
  for (let target = 0; target < nodes.count; target++) {
    if (nodes.type[target] !== NodeType.object) continue;
    for (let edge = nodes.firstEdge[target]!; edge < nodes.firstEdge[target + 1]!; edge++) {
      if (edges.nameOrIndex.get(edge) !== name || heap.snapshot.edgeType(edge) !== EdgeType.property)
        continue;
      const events = heap.snapshot.edgeTarget(edge);
      if (heap.snapshot.nodeName(events) === 'Map') yield { target, events };
    }
  }
}

function functionsOf(heap: Heap, root: number): number[] {
  const found: number[] = [];
  let at = findChild(heap, root, 'next', EdgeType.property);
  const seen = new Set<number>();
  while (at >= 0 && !seen.has(at) && seen.size < mostListeners) {
    seen.add(at);
    const listener = findChild(heap, at, 'listener', EdgeType.property);
    if (listener >= 0 && heap.snapshot.nodes.type[listener] === NodeType.closure) found.push(listener);
    at = findChild(heap, at, 'next', EdgeType.property);
  }
  return found;
}
