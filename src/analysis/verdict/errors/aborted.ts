/** For an error that a request failed with because the program aborted it: names the request and the caller of abort(). */
import { partNames } from '../../../bundle/layout/bundle.ts';
import type { ErrorFacts } from '../../../model/account.ts';
import type { AgentAbort } from '../../../model/agent-state.ts';
import { type AbortCaller, abortCaller } from '../../../model/errors/abort-text.ts';
import { shorten } from '../../../model/errors/message-text.ts';
import { culpritFrame, placeOf } from '../../../model/frame-text.ts';
import type { Frame } from '../../../model/thread.ts';
import type { Evidence } from '../../../model/verdict.ts';
import type { VerdictFacts } from '../facts.ts';
import { cwdOf, deathFrames, everyError, headlineOf } from '../wording.ts';

type Facts = Pick<VerdictFacts, 'account'>;

/** Empty for a model call: its abort is reported with the call itself. */
export function abortEvidence(facts: Facts): Evidence[] {
  const { request, caller } = findAbort(facts) ?? {};
  if (request === undefined || !caller) return [];
  return [{ fact: `${request} was aborted: ${caller.sentence}`, part: partNames.agentEvents }];
}

/** What clients leave out of the errors that they make of an abort. With several, which of them it was is not known. */
export function abortReasonEvidence({ abortReasons = [], account }: VerdictFacts): Evidence[] {
  const [only, ...others] = abortReasons.map((reason) => reasonText(reason, cwdOf(account)));
  if (only === undefined) return [];
  const fact =
    others.length === 0
      ? `A signal of the process was aborted with the reason ${only}, the only one that was found.`
      : `Signals of the process were aborted with the reasons ${[only, ...others].join('; ')}: which of them this abort had is not known.`;
  return [{ fact, part: partNames.error }];
}

function reasonText(reason: ErrorFacts, cwd: string | undefined): string {
  const culprit = culpritFrame(reason.frames);
  const place = culprit?.inApp ? placeOf(culprit, cwd) : undefined;
  const text = reason.name === undefined ? (reason.message ?? '') : headlineOf(reason);
  return `${shorten(text, 300)}${place === undefined ? '' : ` (made at ${place})`}`;
}

/** `src/stop.ts:3:5`, where abort() was called. */
export function abortPlace(facts: Facts): string | undefined {
  return findAbort(facts)?.caller.place;
}

/**
 * The program's own call of abort(), if no frame of the program is on the error's stack: clients throw an error of their own for it,
 * whose stack ends in their package.
 */
export function abortFrame(facts: Facts): Frame | undefined {
  if (deathFrames(facts.account).some(({ inApp }) => inApp)) return undefined;
  const culprit = culpritFrame(newestAbort(facts)?.frames);
  return culprit?.inApp ? culprit : undefined;
}

function findAbort(facts: Facts): { request?: string; caller: AbortCaller } | undefined {
  const abort = newestAbort(facts);
  const caller = abort && abortCaller(abort, cwdOf(facts.account));
  return caller && { caller, ...(abort.request !== undefined && { request: abort.request }) };
}

/** The newest request that failed with this error, or the model call whose abort is known to be the cause. */
function newestAbort({ account: { error, agent } }: Facts): AgentAbort | undefined {
  const errors = everyError(error);
  const [failure] = agent?.failures ?? [];
  const callId = failure?.kind === 'aborted' && failure.isCauseOfDeath ? failure.callId : undefined;
  return (
    agent?.aborts?.findLast(({ error: own }) =>
      errors.some(({ name, message }) => own?.type === name && own?.message === message),
    ) ?? agent?.aborts?.findLast((one) => callId !== undefined && one.callId === callId)
  );
}
