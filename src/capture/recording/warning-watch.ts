/**
 * Observes the warnings of the process. If the host has exactly one listener, adding ours to the call would change the line
 * of node:events from which it is called, so then there is a gap; the listener that Node itself adds does not count as the
 * host's.
 */
import type { EventTap } from '../triggers/event-tap.ts';
import { describeWarning, type ProcessEvents } from './process-events.ts';

export function watchWarnings(events: EventTap, processEvents: ProcessEvents): void {
  events.tap('warning', {
    joins: () => {
      const [first, ...others] = events.listenersOfHost('warning');
      return first === undefined || others.length > 0 || first.name === 'onWarning';
    },
    before: (warning: unknown) => {
      processEvents.add({ kind: 'warning', payload: describeWarning(warning) });
    },
  });
}
