/**
 * Who aborted a call: a time limit, or the program. If the recorder saw the call of `abort()`, its stack shows the caller.
 * Otherwise the stack of the AbortError may (Node creates the DOMException in that call).
 */

import type { ErrorFacts } from '../../../model/account.ts';
import type { AgentAbort, AgentFailure, AgentRun, ModelCall } from '../../../model/agent-state.ts';
import { abortCaller } from '../../../model/errors/abort-text.ts';
import { culpritFrame, frameText } from '../../../model/frame-text.ts';
import { modelName } from '../../../model/model-call-text.ts';
import { formatDuration } from '../../../model/quantities.ts';
import type { Frame } from '../../../model/thread.ts';
import { everyError } from '../../verdict/wording.ts';
import { causeBy, evidenceOf, type FailureInput, type FailureRule, lastCallOf } from './failure-input.ts';

export const aborts: FailureRule = (input) => {
  const { agent, error } = input;
  const thrown = everyError(error).find(
    ({ name, message = '' }) => isAbort(name) || /was aborted|aborted a request/i.test(message),
  );
  return agent.runs.flatMap((run) => {
    const call = lastCallOf(run);
    if (call?.status !== 'aborted') return [];
    const seen = agent.aborts?.find(({ callId }) => callId !== undefined && callId === call.id);
    return [describe(run, call, thrown, seen, input)];
  });
};

const isAbort = (name: string | undefined) =>
  name === 'AbortError' || name === 'TimeoutError' || name === 'APIUserAbortError';

/** The caller of `abort()`, if the error was created inside that call. Any other stack only shows who received the abort. */
function abortFrame(thrown: ErrorFacts | undefined): Frame | undefined {
  const frames = thrown?.frames ?? [];
  const at = frames.findLastIndex(
    ({ file, function: name = '' }) => file === 'node:internal/abort_controller' && /\babort$/.test(name),
  );
  return at === -1 ? undefined : culpritFrame(frames.slice(at + 1));
}

function describe(
  run: AgentRun,
  call: ModelCall,
  thrown: ErrorFacts | undefined,
  seen: AgentAbort | undefined,
  input: FailureInput,
): AgentFailure {
  const { cwd } = input;
  const cause = causeBy(input, call.id, thrown !== undefined);
  const isTimeout = thrown?.name === 'TimeoutError' || call.error?.type === 'TimeoutError';
  const frame = seen ? undefined : abortFrame(thrown);
  const caller = seen && abortCaller(seen, cwd);
  const after = call.durationMs === undefined ? '' : ` after ${formatDuration(call.durationMs)}`;
  const whom =
    caller?.who ?? (isTimeout ? 'a time limit' : frame?.inApp ? frameText(frame, cwd) : 'the program');
  return {
    kind: 'aborted',
    title: `model call ${call.id} to ${modelName(call)} was aborted by ${whom}${after}`,
    // The stack of an AbortError may be that of another call, and a TimeoutError may belong to another call.
    confidence:
      seen || call.error?.type === 'TimeoutError' || cause.causeConfidence === 'certain'
        ? 'certain'
        : 'likely',
    evidence: [
      evidenceOf(`Model call ${call.id} was aborted${after}, with ${call.bytes ?? 0} bytes of its reply.`),
      ...(caller ? [evidenceOf(caller.sentence)] : []),
      ...(frame?.inApp
        ? [{ fact: `The abort comes from ${frameText(frame, cwd)}.`, part: 'error.json' }]
        : []),
    ],
    ...cause,
    runId: run.id,
    ...(call.id === undefined ? {} : { callId: call.id }),
    nextStep:
      isTimeout && !seen
        ? 'Compare the time limit with how long such calls take in the timeline, and catch its error.'
        : 'Catch the abort where the call is awaited: each promise of it rejects, also one that nobody reads.',
  };
}
