/** Timers that are never cleared, each with its callback and everything that it closes over. */
import { formatNumber } from '../../../model/quantities.ts';
import { type SuspectRule, shareText, suspectAt } from '../suspects/suspect-context.ts';
import { countClass } from './counted-class.ts';

const leastCount = 500;

export const timersRule: SuspectRule = {
  name: 'timers',
  find(context) {
    const found = countClass(context.heap, /^(Timeout|Immediate)$/);
    if (!found || found.count < leastCount) return [];
    const { count, bytes } = found;
    const { largest } = found.members();
    if (largest < 0) return [];
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
