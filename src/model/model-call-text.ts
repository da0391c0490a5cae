/** A model call on one line: destination, outcome, duration, tokens, stop reason. Pure. */
import type { ModelCall } from './agent-state.ts';
import { clip, firstLine, formatDuration, formatNumber } from './quantities.ts';

const states: Record<string, string> = {
  sent: 'no answer yet',
  answered: 'answered, no byte of the reply yet',
  streaming: 'reply not complete',
};

/**
 * `anthropic claude-x`; for a host that is only known to use OpenAI's format, with its address: `llama-3 at 127.0.0.1:8000
 * (OpenAI-compatible)`.
 */
export function modelName({
  provider,
  model,
  server,
}: Pick<ModelCall, 'provider' | 'model' | 'server'>): string {
  if (provider !== 'openai_compatible') return [provider, model].filter(Boolean).join(' ') || 'the model';
  return `${model ?? 'a model'}${server ? ` at ${server}` : ''} (OpenAI-compatible)`;
}

/** `anthropic claude-x  failed 529 after 1.2 s, attempt 3, overloaded_error: Overloaded (api.anthropic.com/v1/messages)`. */
export function modelCallText(call: ModelCall): string {
  return [`${modelName(call)}  ${stateText(call)}`, ...detailsOf(call)].join(', ') + placeText(call);
}

function stateText({ status, httpStatus, notSent, durationMs, ageMs }: ModelCall): string {
  const state = [
    states[status] ?? status,
    httpStatus !== undefined && httpStatus !== 200 && httpStatus,
    notSent && 'before a request was sent',
  ];
  const lasted = durationMs ?? ageMs;
  const time = lasted === undefined ? '' : ` after ${formatDuration(lasted)}`;
  return `${state.filter(Boolean).join(' ')}${time}`;
}

function detailsOf(call: ModelCall): string[] {
  const { inputTokens, outputTokens, finishReasons, resendCount, error, recognizedBy } = call;
  const hasTokens = inputTokens !== undefined || outputTokens !== undefined;
  const said = [error?.type ?? error?.code, clip(firstLine(error?.message ?? ''), 160)].filter(Boolean);
  return [
    hasTokens && `${formatNumber(inputTokens ?? 0)} → ${formatNumber(outputTokens ?? 0)} tokens`,
    finishReasons?.length && `finish reason ${finishReasons.join(', ')}`,
    resendCount && `attempt ${resendCount + 1}`,
    said.length && said.join(': '),
    recognizedBy === 'body' && 'recognized as a model call by its body',
  ].filter((text): text is string => typeof text === 'string' && text !== '');
}

/** The destination is only relevant if the call failed. */
function placeText({ status, httpStatus = 200, provider, server, path = '' }: ModelCall): string {
  const isTrouble = status === 'failed' || httpStatus >= 400;
  const place = provider === 'openai_compatible' ? path : `${server ?? ''}${path}`;
  return isTrouble && server !== undefined && place ? ` (${place})` : '';
}
