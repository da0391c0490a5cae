/**
 * Sees the warnings of the process. A lone listener of the host's would be called from another line of node:events if ours
 * joined it, so then there is a gap; the listener that Node itself adds is no host's.
 */
import type { EventTap } from '../triggers/event-tap.ts';
import { describeWarning, type Happenings } from './happenings.ts';

export function watchWarnings(events: EventTap, happenings: Happenings): void {
  events.tap('warning', {
    joins: () => {
      const [first, ...others] = events.listenersOfHost('warning');
      return first === undefined || others.length > 0 || first.name === 'onWarning';
    },
    before: (warning: unknown) => {
      happenings.add({ kind: 'warning', payload: describeWarning(warning) });
    },
  });
}
