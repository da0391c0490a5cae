/** Timers that are never cleared, each with its callback and everything that it closes over. */
import { EdgeType } from '../../../formats/heapsnapshot/index.ts';
import { formatNumber } from '../../../model/quantities.ts';
import type { Heap } from '../heap.ts';
import { findChild, largestOf } from '../questions/node-rows.ts';
import { type SuspectRule, shareText, suspectAt } from '../suspects/suspect-context.ts';
import { countClass } from './counted-class.ts';

const leastCount = 500;

export const timersRule: SuspectRule = {
  name: 'timers',
  find(context) {
    const found = countClass(context.heap, /^(Timeout|Immediate)$/);
    if (!found || found.count < leastCount) return [];
    const { heap } = context;
    const nodes = found.members();
    const waiting = nodes.filter((node) => isWaiting(heap, node));
    const count = waiting.length;
    if (count < leastCount) return [];
    const retained = waiting.reduce((sum, node) => sum + heap.retained[node]!, 0);
    // They retain each other, so that their class as a whole has the right sum.
    const bytes = count === nodes.length ? found.bytes : Math.min(found.bytes, retained);
    const largest = largestOf(heap, waiting);
    return [
      suspectAt(context, 'timers', largest, bytes, {
        title: `${formatNumber(count)} timers are waiting`,
        sentence: `${formatNumber(count)} timers are waiting and keep ${shareText(bytes, context)} alive with their callbacks: intervals that nobody clears, or timeouts set faster than they run.`,
        confidence: 'likely',
        evidence: [`${count} Timeout and Immediate objects`],
        refutedBy: 'Each is a deadline of a request that is still in flight.',
      }),
    ];
  },
};

/** Node unlinks a timer that has run or was cleared; whoever set it may still refer to it. */
const isWaiting = (heap: Heap, timer: number): boolean =>
  findChild(heap, timer, '_idleNext', EdgeType.property) >= 0;
