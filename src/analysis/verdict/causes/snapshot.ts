/** A bundle on request: nothing died. */

import type { Cause, VerdictFacts } from '../facts.ts';
import { inFlightEvidence } from '../in-flight.ts';
import { isSnapshot, titled } from '../wording.ts';

export const snapshot: Cause = {
  kind: 'snapshot',
  layer: 'mechanism',
  consider(facts) {
    if (!isSnapshot(facts)) return undefined;
    const { account } = facts;
    const asked = askedBy(facts);
    return {
      kind: 'snapshot',
      title: titled(`A snapshot of a live process: ${asked}`),
      summary:
        facts.trigger?.kind === 'snapshot-memory'
          ? 'Memory came near its limit for the first time, and the process went on. It shows who allocated what was alive then.'
          : 'This bundle was taken on request, and the process went on. It shows a moment, not a death.',
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
        ...inFlightEvidence(facts),
      ],
      refutedBy:
        'A later bundle of the same pid that records a death belongs to that death, not to this moment.',
      nextSteps: ['Compare it with a second snapshot some minutes later to see what grows or stands still.'],
    };
  },
};

function askedBy({ trigger }: VerdictFacts): string {
  const reason = trigger?.reason ? `: ${trigger.reason}` : '';
  if (trigger?.kind === 'capture')
    return trigger.reason ? `${trigger.reason} (captured from outside)` : 'somebody captured it from outside';
  if (trigger?.kind === 'snapshot-memory') return trigger.reason ?? 'memory came near its limit';
  if (trigger?.kind === 'snapshot-call') return `the program asked for it${reason}`;
  return `${trigger?.signal?.name ?? 'a signal'} asked for it`;
}
