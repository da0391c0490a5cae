/** A promise was rejected, and no handler was attached to it. */

import { culpritFrame, frameText } from '../../../model/frame-text.ts';
import { formatDuration } from '../../../model/quantities.ts';
import type { TriggerFacts } from '../../parts/trigger.ts';
import { beganSentence } from '../errors/begun.ts';
import {
  afterHandler,
  endInHandler,
  handledEndEvidence,
  handlerEvidence,
  refutedOfHandled,
} from '../errors/handled.ts';
import { handlerSubject } from '../errors/handler-owner.ts';
import { rootSentence, thrownEvidence, thrownNextSteps } from '../errors/thrown.ts';
import { threadName } from '../errors/worker.ts';
import type { Cause, VerdictFacts } from '../facts.ts';
import { inFlightSentence } from '../in-flight.ts';
import { cwdOf } from '../wording.ts';
import { titleOf } from './uncaught-exception.ts';

export const unhandledRejection: Cause = {
  kind: 'unhandled-rejection',
  layer: 'mechanism',
  consider(facts) {
    const { trigger } = facts;
    if (trigger?.kind !== 'unhandled-rejection') return undefined;
    const handled = trigger.handledByHost === true;
    const isCutShort = endInHandler(facts) !== undefined;
    const promiseFrame = culpritFrame(facts.promiseFrames);
    return {
      kind: 'unhandled-rejection',
      title: titleOf(facts),
      summary: summaryOf(facts),
      confidence: 'certain',
      evidence: [
        { fact: raisedText(trigger), part: 'trigger.json' },
        ...handlerEvidence(facts),
        ...(handled || isCutShort ? handledEndEvidence(facts) : []),
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
      refutedBy:
        handled || isCutShort
          ? refutedOfHandled('rejection', facts)
          : 'A catch that was attached later: Node would then have raised rejectionHandled.',
      nextSteps: [
        'Find the promise that has no handler (the stack shows where its error was made): await it in a try block, or add a catch.',
        ...thrownNextSteps(facts),
      ].slice(0, 6),
    };
  },
};

/** Without a listener of unhandledRejection, or with --unhandled-rejections=strict, Node raises the other event. */
const raisedText = ({ handledBy, origin = 'unhandledRejection' }: TriggerFacts): string =>
  handledBy === undefined || handledBy === 'unhandledRejection'
    ? `Node raised ${origin}.`
    : `Node raised uncaughtException for it, with ${origin} as its origin.`;

function summaryOf(facts: VerdictFacts): string {
  const uptime = facts.account.process?.uptimeMs;
  const after = uptime === undefined ? '' : ` ${formatDuration(uptime)} after the start`;
  const inWorker = facts.trigger?.isMainThread === false ? ` in ${threadName(facts)}` : '';
  const rejected = `${beganSentence(facts)}Unhandled rejection${inWorker}${after}: a promise was rejected, and no handler was attached to it.`;
  const told = `${rejected}${rootSentence(facts)}${inFlightSentence(facts)}`;
  if (facts.trigger?.handledByHost)
    return `${told} ${handlerSubject(facts)} received it${afterHandler('rejection', facts)}`;
  const inMonitor = endInHandler(facts);
  return inMonitor === undefined
    ? `${told} Node treats it as an uncaught exception and ends the process with exit code 1.`
    : `${told} Node treats it as an uncaught exception. A listener of uncaughtExceptionMonitor ${inMonitor}`;
}
