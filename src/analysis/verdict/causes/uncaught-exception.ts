/** An exception that no code caught. */

import { culpritFrame, isOfNode, placeOf } from '../../../model/frame-text.ts';
import { formatDuration } from '../../../model/quantities.ts';
import { abortFrame, abortPlace } from '../errors/aborted.ts';
import { beganPlace, beganSentence, isMadeOfTimeLimit, likelyCall } from '../errors/begun.ts';
import {
  afterHandler,
  endInHandler,
  handledEndEvidence,
  handlerEvidence,
  refutedOfHandled,
  throwerText,
} from '../errors/handled.ts';
import { handlerSubject } from '../errors/handler-owner.ts';
import { onDemandFailure } from '../errors/load-failure.ts';
import { rootSentence, stdioName, thrownEvidence, thrownNextSteps } from '../errors/thrown.ts';
import { likelyPlace } from '../errors/thrown-at.ts';
import { threadName, workerText } from '../errors/worker.ts';
import type { Cause, VerdictFacts } from '../facts.ts';
import { inFlightSentence } from '../in-flight.ts';
import { cwdOf, deathFrames, headlineOf, raisedText, titled, titleWithPlace } from '../wording.ts';

export const uncaughtException: Cause = {
  kind: 'uncaught-exception',
  layer: 'mechanism',
  consider(facts) {
    const { account, trigger } = facts;
    if (trigger ? trigger.kind !== 'uncaught-exception' : !account.error) return undefined;
    const handled = trigger?.handledByHost === true;
    const isCutShort = endInHandler(facts) !== undefined;
    return {
      kind: 'uncaught-exception',
      title: titleOf(facts),
      summary: summaryOf(facts),
      // Without a trigger there is only the error; that it ended the process is inferred.
      confidence: trigger ? 'certain' : 'likely',
      evidence: [
        ...(trigger ? [{ fact: raisedText(facts), part: 'trigger.json' }] : []),
        ...handlerEvidence(facts),
        ...(handled || isCutShort ? handledEndEvidence(facts) : []),
        ...thrownEvidence(facts),
      ],
      refutedBy:
        handled || isCutShort
          ? refutedOfHandled('exception', facts)
          : `An exit code other than ${exitCodeOf(facts)}, in the log of the service manager or shell that started the process.`,
      nextSteps: thrownNextSteps(facts),
    };
  },
};

/** Node sets 1, and keeps what a process has that is ending already. */
const exitCodeOf = ({ trigger }: VerdictFacts): number => trigger?.exitCode ?? 1;

/** The error and its place, or the module that could not be loaded, a title that includes both. */
export function titleOf(facts: VerdictFacts): string {
  const { account } = facts;
  const unloaded = account.error && !account.error.cause ? onDemandFailure(facts) : undefined;
  if (unloaded) return titled(unloaded.title);
  const stream = stdioName(facts.emitter?.stdio);
  const likelyStream = stdioName(facts.emitter ? undefined : facts.failedStdio);
  const headline = account.error
    ? `${isMadeOfTimeLimit(facts) ? `${headlineOf(account.error, facts).replace(/\.$/, '')}, by a time limit` : headlineOf(account.error, facts)}${stream === undefined ? '' : ` on ${stream}`}`
    : 'an error of which no part was kept';
  const culprit = culpritFrame(deathFrames(account));
  const began = beganPlace(facts);
  if (began !== undefined) return titleWithPlace(headline, 'from', began);
  const likely = likelyPlace(facts);
  const hasOwnPlace = culprit && !isOfNode(culprit) && !abortFrame(facts);
  const place = hasOwnPlace ? placeOf(culprit, cwdOf(account)) : abortPlace(facts);
  const call = likelyCall(facts);
  const callPlace = call && placeOf(call, cwdOf(account));
  if (likelyStream !== undefined)
    return titleWithPlace(`${headline}, likely on ${likelyStream}`, 'at', likely ?? place);
  // The time limit says more than the await that its error came through.
  if (likely !== undefined && !(callPlace !== undefined && facts.timeLimits?.length))
    return titleWithPlace(`${headline},`, 'likely at', likely);
  if (callPlace !== undefined) return titleWithPlace(`${headline},`, 'likely at', callPlace);
  return titleWithPlace(headline, 'at', place);
}

/**
 * The error of a worker thread is emitted by Node's own code; the class name isn't enough, since a queue's class may also be
 * called Worker.
 */
const isFromWorker = ({ emitter }: VerdictFacts): boolean =>
  emitter?.frames.find((frame) => frame.file !== 'node:events')?.file === 'node:internal/worker';

function summaryOf(facts: VerdictFacts): string {
  const { trigger, account } = facts;
  const thread = isFromWorker(facts) ? (workerText(facts) ?? 'a worker thread') : threadName(facts);
  const uptime = account.process?.uptimeMs;
  const after = uptime === undefined ? '' : `, ${formatDuration(uptime)} after the start`;
  const thrown = `${beganSentence(facts)}Uncaught exception in ${thread}${after}${throwerText(facts)}.`;
  if (trigger?.handledByHost)
    return `${thrown}${rootSentence(facts)} ${handlerSubject(facts)} received it${afterHandler('error', facts)}`;
  const inMonitor = endInHandler(facts);
  const end = isFromWorker(facts)
    ? 'Its Worker has no error listener, so Node threw the error once more in the main thread, printed it, and ended the process with exit code 1.'
    : trigger?.isMainThread === false
      ? 'The worker ended with it; its parent was told by an error event.'
      : inMonitor !== undefined
        ? `A listener of uncaughtExceptionMonitor ${inMonitor}`
        : `Node printed it and ended the process with exit code ${exitCodeOf(facts)}.`;
  return `${thrown}${rootSentence(facts)}${inFlightSentence(facts)} ${end}`;
}
