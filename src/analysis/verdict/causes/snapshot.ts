/** A bundle on request: nothing died. */

import type { Cause } from '../facts.ts';
import { titled } from '../wording.ts';

export const snapshot: Cause = {
  kind: 'snapshot',
  layer: 'mechanism',
  consider({ trigger, account }) {
    if (trigger?.kind !== 'snapshot-signal' && trigger?.kind !== 'snapshot-call') return undefined;
    const asked =
      trigger.kind === 'snapshot-signal'
        ? `${trigger.signal?.name ?? 'a signal'} asked for it`
        : `the program asked for it${trigger.reason ? `: ${trigger.reason}` : ''}`;
    return {
      kind: 'snapshot',
      title: titled(`A snapshot of a live process: ${asked}`),
      summary: 'This bundle was taken on request, and the process went on. It shows a moment, not a death.',
      confidence: 'certain',
      evidence: [
        { fact: `${asked[0]?.toUpperCase()}${asked.slice(1)}.`, part: 'trigger.json' },
        ...(account.error
          ? [
              {
                fact: 'The caller handed over an error, shown below; it did not end the process.',
                part: 'error.json',
              },
            ]
          : []),
      ],
      refutedBy:
        'A later bundle of the same pid that records a death belongs to that death, not to this moment.',
      nextSteps: ['Compare it with a second snapshot some minutes later to see what grows or stands still.'],
    };
  },
};
