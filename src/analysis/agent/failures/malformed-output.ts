/**
 * A reply that is not JSON although JSON was expected. The recorded replies are parsed again. That a reply is not valid JSON
 * is certain; that it is the one the program failed to parse is at most likely, even with an identical error message, since
 * many texts fail alike. Engines word the error differently and redaction moves positions, so a reply that looks like JSON
 * but fails differently is possible. Prose is not a failure.
 */

import type { ErrorFacts } from '../../../model/account.ts';
import type { AgentFailure, AgentMessage, AgentRun, ModelCall } from '../../../model/agent-state.ts';
import { modelName } from '../../../model/model-call-text.ts';
import { clip, formatDuration } from '../../../model/quantities.ts';
import { everyError } from '../../verdict/wording.ts';
import { evidenceOf, type FailureRule, notTheCause } from './failure-input.ts';

const mostCalls = 20;
const longestText = 1 << 20;
const jsonFault =
  /\bJSON\b|Unexpected (?:token|end of|non-whitespace|string|number)|Unterminated string|Bad control character/;

interface BadText {
  text: string;
  /** The error message of JSON.parse. */
  fault: string;
  /** Set if the text is the arguments for this tool. */
  tool?: string;
}

export const malformedOutput: FailureRule = ({ agent, error }) => {
  const thrown = everyError(error).find(
    ({ name, message = '' }) => name === 'SyntaxError' && jsonFault.test(message),
  );
  const found = agent.runs.flatMap((run) =>
    run.modelCalls.slice(-mostCalls).flatMap((call) => badTextsOf(call).map((bad) => ({ run, call, bad }))),
  );
  const said = thrown?.message === undefined ? undefined : withoutLine(thrown.message);
  const same = found.findLast(({ bad }) => said !== undefined && withoutLine(bad.fault) === said);
  const last =
    same ??
    (thrown
      ? found.findLast(({ bad }) => looksLikeJson(bad))
      : found.findLast(({ bad, run }) => bad.tool && isLast(run, bad)));
  return last ? [describe(last.run, last.call, last.bad, thrown, same !== undefined)] : [];
};

/** V8 adds line and column to the position since Node 22, and the analysis may run on another Node than the program. */
const withoutLine = (message: string): string => message.replace(/ \(line \d+ column \d+\)$/, '');

const looksLikeJson = ({ text, tool }: BadText): boolean =>
  tool !== undefined || /^\s*(?:```(?:json)?\s*)?[[{]/.test(text);

/** Malformed arguments only matter if no tool call came after them. */
function isLast(run: AgentRun, { tool }: BadText): boolean {
  return run.toolCalls.at(-1)?.name === tool;
}

function describe(
  run: AgentRun,
  call: ModelCall,
  { text, fault, tool }: BadText,
  thrown: ErrorFacts | undefined,
  isSame: boolean,
): AgentFailure {
  const what = tool ? `the arguments for ${tool}` : 'the reply';
  const early = earlyEndOf(call);
  return {
    kind: 'malformed-output',
    title: `${what} of ${modelName(call)} in model call ${call.id} ${early ? 'ended early and ' : ''}${tool ? 'are' : 'is'} not valid JSON${early?.title ?? ''}`,
    confidence: 'certain',
    evidence: [
      evidenceOf(`Parsing ${what} of ${call.id} again says: ${clip(fault, 160)}`),
      evidenceOf(`It begins: ${clip(text.replace(/\s+/g, ' '), 120)}`),
      ...(early ? [evidenceOf(early.fact)] : []),
    ],
    ...(thrown ? { isCauseOfDeath: true, causeConfidence: isSame ? 'likely' : 'possible' } : notTheCause),
    runId: run.id,
    ...(call.id === undefined ? {} : { callId: call.id }),
    nextStep:
      early?.nextStep ??
      'Parse replies where a failure can be caught, and send the error back to the model; or ask for structured output.',
  };
}

interface EarlyEnd {
  /** After the title. */
  title: string;
  fact: string;
  nextStep: string;
}

/** Why the reply of this call was not whole. A client's stream may end without an error when the call is aborted. */
function earlyEndOf(call: ModelCall): EarlyEnd | undefined {
  const limits = call.finishReasons?.filter((reason) => /length|max_tokens/.test(reason)) ?? [];
  if (limits.length > 0)
    return {
      title: '',
      fact: `Model call ${call.id} stopped for ${limits.join(', ')}.`,
      nextStep:
        'Raise the limit of output tokens, or ask for less at once: the reply was cut off before its JSON ended.',
    };
  const after = call.durationMs === undefined ? '' : ` after ${formatDuration(call.durationMs)}`;
  const error = [call.error?.type, call.error?.message].filter(Boolean).join(': ');
  const because = error ? `: ${clip(error, 160)}` : '';
  if (call.status === 'aborted')
    return {
      title: ': the call was aborted before its end',
      fact: `Model call ${call.id} was aborted${after}${because}`,
      nextStep:
        'Check that the call was not aborted before its reply is parsed: the text ends where the abort cut it.',
    };
  if (call.status === 'cut')
    return {
      title: ': its connection was closed before its end',
      fact: `Model call ${call.id} was cut off${after}${because}`,
      nextStep: 'Ask again: a reply that was cut off is not resumed, and its text is not whole.',
    };
  return undefined;
}

function badTextsOf({ response, error }: ModelCall): BadText[] {
  const bad: BadText[] = [];
  // The stream broke before the reply was complete, which is reported as another failure.
  if (error?.type === 'malformed_event') return bad;
  for (const { content } of (Array.isArray(response) ? response : []) as AgentMessage[]) {
    if (typeof content === 'string') bad.push(...tryText(content));
    else if (Array.isArray(content)) for (const part of content) bad.push(...tryPart(part));
  }
  return bad;
}

function tryPart(part: unknown): BadText[] {
  const { type, content, name, arguments: given } = (part ?? {}) as Record<string, unknown>;
  if (type === 'text' && typeof content === 'string') return tryText(content);
  // Parsed arguments are not strings any more.
  if (type !== 'tool_call' || typeof given !== 'string') return [];
  const fault = faultOf(given);
  return fault === undefined ? [] : [{ text: given, fault, tool: String(name) }];
}

function tryText(text: string): BadText[] {
  const fault = faultOf(text);
  return fault === undefined ? [] : [{ text, fault }];
}

function faultOf(text: string): string | undefined {
  if (text === '' || text.length > longestText) return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
