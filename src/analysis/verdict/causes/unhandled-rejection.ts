/** A promise was rejected and nobody handled it. */

import { culpritFrame, frameText } from '../../../model/frame-text.ts';
import { formatDuration } from '../../../model/quantities.ts';
import type { Cause, VerdictFacts } from '../facts.ts';
import { inFlightSentence } from '../in-flight.ts';
import { rootSentence, thrownEvidence, thrownNextSteps } from '../thrown.ts';
import { cwdOf } from '../wording.ts';
import { titleOf } from './uncaught-exception.ts';

export const unhandledRejection: Cause = {
  kind: 'unhandled-rejection',
  layer: 'mechanism',
  consider(facts) {
    const { trigger } = facts;
    if (trigger?.kind !== 'unhandled-rejection') return undefined;
    const handled = trigger.handledByHost === true;
    const promiseFrame = culpritFrame(facts.promiseFrames);
    return {
      kind: 'unhandled-rejection',
      title: titleOf(facts),
      summary: summaryOf(facts),
      confidence: 'certain',
      evidence: [
        { fact: `Node raised ${trigger.origin ?? 'unhandledRejection'}.`, part: 'trigger.json' },
        ...(handled
          ? [{ fact: 'The program has its own unhandledRejection handler.', part: 'trigger.json' }]
          : []),
        ...thrownEvidence(facts),
        ...(promiseFrame
          ? [
              {
                fact: `The promise comes from ${frameText(promiseFrame, cwdOf(facts.account))}.`,
                part: 'error.json',
              },
            ]
          : []),
      ],
      refutedBy: handled
        ? "Nothing about the rejection; whether it was fatal is the handler's decision. A later bundle of the same pid would show that it went on."
        : 'A catch that was attached later: Node would then have raised rejectionHandled.',
      nextSteps: [
        'Find the call whose promise is neither awaited nor caught, and await it or give it a catch.',
        ...thrownNextSteps(facts),
      ].slice(0, 6),
    };
  },
};

function summaryOf(facts: VerdictFacts): string {
  const uptime = facts.account.process?.uptimeMs;
  const after = uptime === undefined ? '' : ` ${formatDuration(uptime)} after the start`;
  const rejected = `A promise was rejected${after}, and nothing awaited or caught it.`;
  return facts.trigger?.handledByHost
    ? `${rejected}${rootSentence(facts)}${inFlightSentence(facts)} The program's own handler took it, so the process may have gone on: this bundle records the rejection, not necessarily a death.`
    : `${rejected}${rootSentence(facts)}${inFlightSentence(facts)} Node treats that as an uncaught exception and ended the process with exit code 1.`;
}
