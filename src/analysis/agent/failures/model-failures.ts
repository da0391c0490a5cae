/**
 * A provider that did not answer as requested. Only the last model call of a run counts, since earlier failures were retried.
 * The patterns match the error bodies of OpenAI, Anthropic, Gemini, Bedrock and Mistral.
 */

import type { ErrorFacts } from '../../../model/account.ts';
import type { AgentFailure, AgentFailureKind, AgentRun, ModelCall } from '../../../model/agent-state.ts';
import { modelName } from '../../../model/model-call-text.ts';
import { formatBytes, formatCount, formatNumber } from '../../../model/quantities.ts';
import { everyError } from '../../verdict/wording.ts';
import { findDanglingCalls } from './dangling-calls.ts';
import {
  causeBy,
  errorText,
  evidenceOf,
  type FailureInput,
  type FailureRule,
  isInError,
  lastCallOf,
} from './failure-input.ts';

type Said = (status: number | undefined, text: string) => boolean;

interface ProviderClass {
  kind: AgentFailureKind;
  is: Said;
  title: string;
  nextStep: string;
}

/** Checked in order; the first match applies. */
const classes: readonly ProviderClass[] = [
  {
    kind: 'malformed-output',
    is: (_, text) => text.startsWith('malformed_event'),
    title: 'a frame of the reply stream is not valid JSON',
    nextStep: 'Catch the error where the stream is read, and ask again; look whether a proxy stands between.',
  },
  {
    kind: 'context-overflow',
    is: (_, text) =>
      /context[_ ](length|window)|maximum context|prompt is too long|input is too long|too many (input )?tokens|exceeds? the (maximum|model|limit).{0,40}token/.test(
        text,
      ),
    title: 'the conversation no longer fits into the model',
    nextStep:
      'Shorten or summarise the conversation before it is sent: the timeline shows which results made it long.',
  },
  {
    kind: 'quota',
    is: (_, text) => /insufficient_quota|exceeded your current quota|credit balance|billing/.test(text),
    title: 'the account has no credit left',
    nextStep: 'Raise the limit of the account or its credit; trying again will not help.',
  },
  {
    kind: 'rate-limit',
    is: (status, text) => status === 429 || /rate[_ ]limit|resource_exhausted|throttling/.test(text),
    title: 'the provider limits the rate',
    nextStep:
      'Wait as long as the retry-after header says and try again, and keep the work done so far across it.',
  },
  {
    kind: 'overload',
    is: (status, text) => status === 529 || status === 503 || /overloaded/.test(text),
    title: 'the provider is overloaded',
    nextStep: 'Try again with a growing pause, and fall back to another model if it lasts.',
  },
  {
    kind: 'dangling-tool-call',
    is: (status, text) => status === 400 && /tool_use|tool_result|tool_calls?\b|function call/.test(text),
    title: 'the request holds a tool call without its result',
    nextStep: 'Add an error result for each tool call that has none before the conversation is sent again.',
  },
  {
    kind: 'authentication',
    is: (status) => status === 401 || status === 403,
    title: 'the provider refused the credentials',
    nextStep: 'Check that the key is set in this environment and still valid.',
  },
  {
    kind: 'provider-error',
    is: (status) => status !== undefined && status >= 500,
    title: 'the provider failed',
    nextStep: 'Try again with a growing pause; it failed on its side.',
  },
  {
    kind: 'bad-request',
    is: (status) => status !== undefined && status >= 400,
    title: 'the provider refused the request',
    nextStep: 'Read what the provider said against the request that the timeline shows.',
  },
];

export const modelFailures: FailureRule = (input) =>
  input.agent.runs.flatMap((run) => {
    const call = lastCallOf(run);
    if (!call) return [];
    if (call.status === 'cut') return [cutOff(run, call, input)];
    if (call.status !== 'failed') return [];
    const said =
      `${call.error?.type ?? ''} ${call.error?.code ?? ''} ${call.error?.message ?? ''}`.toLowerCase();
    const found = classes.find(({ is }) => is(call.httpStatus, said));
    return [found ? refused(run, call, found, input) : unreachable(run, call, input)];
  });

function refused(run: AgentRun, call: ModelCall, found: ProviderClass, input: FailureInput): AgentFailure {
  const { kind, title, nextStep } = found;
  const attempts = failedInARow(run);
  const times =
    attempts > 1 ? `, the last of ${formatNumber(attempts)} consecutive calls that failed this way` : '';
  const isForLater = kind === 'rate-limit' || kind === 'overload';
  // A wrong base URL shows in the path.
  const where =
    call.httpStatus === 404 && call.path !== undefined ? ` for ${call.server ?? ''}${call.path}` : '';
  const after = call.retryAfter === undefined || !isForLater ? '' : ` with Retry-After ${call.retryAfter}`;
  const dangling = kind === 'dangling-tool-call' || kind === 'bad-request' ? findDanglingCalls(run) : [];
  // Some providers only say that the request is invalid; tool calls without results explain why.
  const isDangling = dangling.length > 0 && call.httpStatus === 400;
  return {
    kind: isDangling ? 'dangling-tool-call' : kind,
    title: `model call ${call.id} to ${modelName(call)} was answered ${call.httpStatus ?? 'with an error'}${after}${where}${times}: ${isDangling ? 'the request holds a tool call without its result' : title}`,
    confidence: kind === 'bad-request' && isDangling ? 'likely' : 'certain',
    evidence: [
      evidenceOf(`Model call ${call.id} failed: ${errorText(call.error, call.httpStatus)}`),
      ...dangling
        .slice(0, 3)
        .map((tool) => evidenceOf(`Tool call ${tool.id} (${tool.name}) has no result in the conversation.`)),
    ],
    ...causeOf(call, input, isSameFailure(call, input.error)),
    runId: run.id,
    ...(call.id === undefined ? {} : { callId: call.id }),
    nextStep: isDangling ? dangle.nextStep : nextStep,
  };
}

const dangle = classes.find(({ kind }) => kind === 'dangling-tool-call') as ProviderClass;

function cutOff(run: AgentRun, call: ModelCall, input: FailureInput): AgentFailure {
  const came = formatBytes(call.bytes ?? 0);
  return {
    kind: 'connection',
    title: `the connection to ${modelName(call)} was closed in the middle of its reply, after ${came} of model call ${call.id}`,
    confidence: 'certain',
    evidence: [
      evidenceOf(
        `Model call ${call.id} was cut off after ${formatCount(call.frames ?? 0, 'frame')}, ${came}.`,
      ),
    ],
    ...causeOf(call, input, isTransport(input.error) || isSameFailure(call, input.error)),
    runId: run.id,
    ...(call.id === undefined ? {} : { callId: call.id }),
    nextStep:
      'Catch the error where the stream is read, and ask again: a reply that was cut off is not resumed.',
  };
}

function unreachable(run: AgentRun, call: ModelCall, input: FailureInput): AgentFailure {
  return {
    kind: 'connection',
    title: `model call ${call.id} to ${modelName(call)} ${call.notSent ? 'failed before a request was sent' : 'got no answer'}: ${errorText(call.error)}`,
    confidence: 'certain',
    evidence: [evidenceOf(`Model call ${call.id} failed: ${errorText(call.error)}`)],
    ...causeOf(call, input, isTransport(input.error) || isSameFailure(call, input.error)),
    runId: run.id,
    ...(call.id === undefined ? {} : { callId: call.id }),
    nextStep: call.notSent
      ? 'Check the address, the port and the settings of the model: the request did not leave the process.'
      : 'Check that the address of the model can be reached from where the agent runs.',
  };
}

/** The provider's request id, which clients attach to their errors, is as conclusive as the error object. */
function causeOf(call: ModelCall, input: FailureInput, saysSame: boolean): ReturnType<typeof causeBy> {
  return call.requestId !== undefined && requestIdsOf(input.error).includes(call.requestId)
    ? { isCauseOfDeath: true, causeConfidence: 'certain' }
    : causeBy(input, call.id, saysSame);
}

const idNames = ['requestID', 'requestId', 'request_id', '_request_id'];

function requestIdsOf(error: ErrorFacts | undefined): unknown[] {
  return everyError(error).flatMap(({ properties = {} }) => {
    const headers = (properties['responseHeaders'] ?? properties['headers'] ?? {}) as Record<string, unknown>;
    return [...idNames.map((name) => properties[name]), headers['x-request-id'], headers['request-id']];
  });
}

/**
 * Clients word transport errors in many ways. If the last model call broke and the process died of one of these, it is one
 * event.
 */
const transport =
  /fetch failed|connection error|socket hang up|terminated|premature close|econn|other side closed|network/i;

function isTransport(error: ErrorFacts | undefined): boolean {
  return everyError(error).some(({ message = '', code = '' }) => transport.test(`${message} ${code}`));
}

function isSameFailure({ httpStatus, error: said }: ModelCall, error: ErrorFacts | undefined): boolean {
  if (isInError(error, said?.message)) return true;
  if (said?.type === 'malformed_event')
    return everyError(error).some(
      ({ name, message = '' }) => name === 'SyntaxError' || /\bJSON\b|\bstream\b/.test(message),
    );
  return everyError(error).some(({ properties, message = '' }) => {
    const status = properties?.['status'] ?? properties?.['statusCode'] ?? properties?.['lc_error_code'];
    return (
      httpStatus !== undefined && (status === httpStatus || new RegExp(`\\b${httpStatus}\\b`).test(message))
    );
  });
}

function failedInARow({ modelCalls }: AgentRun): number {
  const last = modelCalls.at(-1);
  const other = modelCalls.findLastIndex(
    ({ status, httpStatus }) => status !== last?.status || httpStatus !== last?.httpStatus,
  );
  return modelCalls.length - 1 - other;
}
