/** For an error that a request failed with because the program aborted it: names the request and the caller of abort(). */
import { partNames } from '../../../bundle/layout/bundle.ts';
import { type AbortCaller, abortCaller } from '../../../model/errors/abort-text.ts';
import type { Evidence } from '../../../model/verdict.ts';
import type { VerdictFacts } from '../facts.ts';
import { cwdOf, everyError } from '../wording.ts';

type Facts = Pick<VerdictFacts, 'account'>;

/** Empty for a model call: its abort is reported with the call itself. */
export function abortEvidence(facts: Facts): Evidence[] {
  const { request, caller } = findAbort(facts) ?? {};
  if (request === undefined || !caller) return [];
  return [{ fact: `${request} was aborted: ${caller.sentence}`, part: partNames.agentEvents }];
}

/** `src/stop.ts:3:5`, where abort() was called. */
export function abortPlace(facts: Facts): string | undefined {
  return findAbort(facts)?.caller.place;
}

/** The newest request that failed with this error. */
function findAbort({ account }: Facts): { request?: string; caller: AbortCaller } | undefined {
  const errors = everyError(account.error);
  const abort = account.agent?.aborts?.findLast(({ error }) =>
    errors.some(({ name, message }) => error?.type === name && error?.message === message),
  );
  const caller = abort && abortCaller(abort, cwdOf(account));
  return caller && { caller, ...(abort.request !== undefined && { request: abort.request }) };
}
