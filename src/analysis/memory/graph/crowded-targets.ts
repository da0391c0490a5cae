/**
 * Finds EventTargets (mostly AbortSignals) with many listeners for one event. Node stores them in a doubly linked list below
 * a symbol: target[kEvents] is a Map from event name to {size, next}, and `next` links the Listeners
 * (lib/internal/event_target.js, the same in Node 20 to 26).
 */
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { findChild, stringText } from '../questions/node-rows.ts';
import { tablePairs } from '../questions/tables.ts';
import { objectsWith } from '../suspects/marked-objects.ts';

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
  const found: CrowdedEvent[] = [];
  for (const { target, events } of targetsOf(heap))
    for (const { key, value } of tablePairs(heap, events)) {
      if (key === undefined || value === undefined) continue;
      const listeners = functionsOf(heap, value);
      if (listeners.length > moreThan)
        found.push({ emitter: target, event: stringText(heap, key, 100), list: events, listeners });
    }
  return found;
}

function* targetsOf(heap: Heap): Generator<{ target: number; events: number }> {
  for (const target of objectsWith(heap, eventsSymbol)) {
    const events = findChild(heap, target, eventsSymbol, EdgeType.property);
    if (heap.snapshot.nodeName(events) === 'Map') yield { target, events };
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
