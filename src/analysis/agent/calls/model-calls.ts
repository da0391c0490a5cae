/**
 * Builds model calls from their events: the request, the reply (or what had arrived of it when the process died), and the
 * times.
 */
import { type AgentEvent, type Attributes, noRequestGap } from '../../../journal/layout/agent.ts';
import type { AgentMessage, ModelCall } from '../../../model/agent-state.ts';
import { dropUndefined } from '../drop-undefined.ts';
import type { Conversations } from './conversations.ts';
import { messagesAsRead } from './message-text.ts';
import { computeCost } from './prices.ts';

interface Gathered {
  start: Extract<AgentEvent, { kind: 'model.start' }>;
  end?: Extract<AgentEvent, { kind: 'model.end' }>;
  httpStatus: number | undefined;
  retryAfter?: string | undefined;
  requestId?: string | undefined;
  text: string;
  bytes: number;
  frames: number;
  lastByteAt: number | undefined;
}

export interface CallInRun {
  run: string | undefined;
  call: ModelCall & { id: string };
  startedAt: number;
  isOpen: boolean;
  /** The ids in the request that say whose work it is. */
  ids?: Record<string, string>;
}

/** The calls in the order of their starts; `at` is the time of death. */
export function computeModelCalls(
  events: readonly AgentEvent[],
  conversations: Conversations,
  at: number,
): CallInRun[] {
  const calls = new Map<string, Gathered>();
  for (const event of events) gather(event, calls);
  return [...calls.values()].map((gathered) => ({
    run: gathered.start.run,
    call: readCall(gathered, conversations, at),
    startedAt: gathered.start.at,
    isOpen: !gathered.end,
    ...dropUndefined({ ids: idsOf(gathered.start.ids) }),
  }));
}

const mostIds = 10;

/** Only the ids that are strings; undefined if there are none. */
export function idsOf(ids: unknown): Record<string, string> | undefined {
  if (typeof ids !== 'object' || ids === null) return undefined;
  const texts = Object.entries(ids).filter((one): one is [string, string] => typeof one[1] === 'string');
  return texts.length ? Object.fromEntries(texts.slice(0, mostIds)) : undefined;
}

function gather(event: AgentEvent, calls: Map<string, Gathered>): void {
  if (event.kind === 'model.start') {
    if (calls.has(event.call)) return;
    calls.set(event.call, {
      start: event,
      httpStatus: undefined,
      text: '',
      bytes: 0,
      frames: 0,
      lastByteAt: undefined,
    });
    return;
  }
  if (event.kind !== 'model.headers' && event.kind !== 'model.delta' && event.kind !== 'model.end') return;
  const call = calls.get(event.call);
  if (!call) return;
  if (event.kind === 'model.end') call.end = event;
  else if (event.kind === 'model.headers') {
    call.httpStatus = numberOf(event.attributes['http.response.status_code']);
    call.retryAfter = textOf(event.attributes['http.response.header.retry-after']);
    call.requestId =
      textOf(event.attributes['http.response.header.x-request-id']) ??
      textOf(event.attributes['http.response.header.request-id']);
  } else {
    call.text += event.text ?? '';
    call.lastByteAt = lastByteOf(event, call) ?? call.lastByteAt;
    Object.assign(call, { bytes: event.bytes, frames: event.frames });
  }
}

/**
 * When data last arrived. Buffered text is flushed at the death, so only an increased byte count shows that the provider sent
 * something.
 */
export function lastByteOf(
  { at, lastByteAt, bytes }: Extract<AgentEvent, { kind: 'model.delta' }>,
  before: { bytes: number } | undefined,
): number | undefined {
  if (typeof lastByteAt === 'number') return lastByteAt;
  return bytes > (before?.bytes ?? 0) ? at : undefined;
}

function readCall(gathered: Gathered, conversations: Conversations, at: number): ModelCall & { id: string } {
  const { start, end } = gathered;
  const status = end?.status ?? (gathered.bytes ? 'streaming' : gathered.httpStatus ? 'answered' : 'sent');
  const attributes: Attributes = { ...start.attributes, ...end?.attributes };
  return dropUndefined({
    id: start.call,
    provider: textOf(attributes['gen_ai.provider.name']),
    model: textOf(attributes['gen_ai.response.model']) ?? textOf(attributes['gen_ai.request.model']),
    status,
    inputTokens: numberOf(attributes['gen_ai.usage.input_tokens']),
    outputTokens: numberOf(attributes['gen_ai.usage.output_tokens']),
    cost: computeCost(attributes),
    stepId: start.step,
    startedAt: new Date(start.at).toISOString(),
    finishReasons: attributes['gen_ai.response.finish_reasons'] as string[] | undefined,
    httpStatus: numberOf(attributes['http.response.status_code']) ?? gathered.httpStatus,
    retryAfter: gathered.retryAfter,
    requestId: gathered.requestId,
    server: serverOf(attributes),
    path: textOf(attributes['url.path']),
    recognizedBy: recognitionOf(attributes),
    notSent: start.gap === noRequestGap || undefined,
    resendCount: numberOf(attributes['http.request.resend_count']),
    serverRequest: textOf(start.request),
    test: textOf(start.test),
    bytes: end?.bytes ?? gathered.bytes,
    frames: end?.frames ?? gathered.frames,
    ...(end ? ended(end) : open(gathered, at)),
    ...contents(start.call, conversations),
  });
}

function recognitionOf(attributes: Attributes): ModelCall['recognizedBy'] {
  const basis = attributes['agentdump.recognized_by'];
  return basis === 'path and body' || basis === 'body' ? basis : undefined;
}

function ended(end: NonNullable<Gathered['end']>) {
  return { durationMs: end.tookMs, firstByteMs: end.firstByteMs, error: end.error };
}

function open(gathered: Gathered, at: number) {
  return {
    ageMs: at - gathered.start.at,
    lastByteAgeMs: gathered.lastByteAt === undefined ? undefined : at - gathered.lastByteAt,
    partialText: gathered.text || undefined,
  };
}

function contents(
  id: string,
  conversations: Conversations,
): { request?: unknown; response?: AgentMessage[] } {
  const call = conversations.calls.get(id);
  if (!call) return {};
  const request = {
    ...(call.base === undefined ? {} : { continues: call.base, keptMessages: call.keep }),
    messages: messagesAsRead(conversations, call.added),
  };
  const response = messagesAsRead(conversations, call.output);
  return response.length ? { request, response } : { request };
}

/** The host, with the port if the address had one. */
export function serverOf(attributes: Attributes): string | undefined {
  const [host, port] = [textOf(attributes['server.address']), numberOf(attributes['server.port'])];
  return host === undefined || port === undefined ? host : `${host}:${port}`;
}

export const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);
const numberOf = (value: unknown) => (typeof value === 'number' ? value : undefined);
