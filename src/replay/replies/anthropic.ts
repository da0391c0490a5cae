/**
 * Encodes a recorded reply for Anthropic's Messages API, plain and streamed. Signatures of thinking blocks are not recorded.
 * Source: Anthropic API reference, "Create a Message" and "Streaming messages".
 */
import type { MessagePart } from '../../journal/layout/agent.ts';
import {
  argumentsText,
  pieces,
  type RecordedReply,
  type ReplyFormat,
  type ServerEvent,
  toolCallsOf,
} from './reply.ts';

export const anthropicReply: ReplyFormat = {
  whole: (reply) => ({
    ...head(reply),
    content: reply.messages.flat().map(blockOf),
    stop_reason: stopOf(reply),
    usage: { input_tokens: reply.usage.input, output_tokens: reply.usage.output },
  }),
  events(reply) {
    const make = (type: string, more: object): ServerEvent => ({ name: type, data: { type, ...more } });
    const events = [make('message_start', { message: head(reply) })];
    for (const [index, part] of reply.messages.flat().entries()) {
      events.push(make('content_block_start', { index, content_block: emptyBlockOf(part) }));
      for (const delta of deltasOf(part)) events.push(make('content_block_delta', { index, delta }));
      events.push(make('content_block_stop', { index }));
    }
    const delta = { stop_reason: stopOf(reply), stop_sequence: null };
    const last = make('message_delta', { delta, usage: { output_tokens: reply.usage.output } });
    return { events, closing: [last, make('message_stop', {})] };
  },
  error: ({ error }) => ({
    type: 'error',
    error: { type: error?.type ?? 'api_error', message: error?.message ?? '' },
  }),
};

function head({ id, model, usage }: RecordedReply) {
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: usage.input, output_tokens: 1 },
  };
}

function stopOf(reply: RecordedReply): string {
  return reply.finishReason ?? (toolCallsOf(reply).length > 0 ? 'tool_use' : 'end_turn');
}

function blockOf(part: MessagePart): object {
  if (part.type === 'tool_call')
    return { type: 'tool_use', id: part.id, name: part.name, input: part.arguments ?? {} };
  if (part.type === 'reasoning') return { type: 'thinking', thinking: part.content, signature: '' };
  return { type: 'text', text: part.type === 'text' ? part.content : '' };
}

function emptyBlockOf(part: MessagePart): object {
  if (part.type === 'tool_call') return { ...blockOf(part), input: {} };
  return { ...blockOf(part), ...(part.type === 'reasoning' ? { thinking: '' } : { text: '' }) };
}

function deltasOf(part: MessagePart): object[] {
  if (part.type === 'tool_call')
    return pieces(argumentsText(part)).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
  if (part.type === 'reasoning')
    return pieces(part.content).map((thinking) => ({ type: 'thinking_delta', thinking }));
  return part.type === 'text' ? pieces(part.content).map((text) => ({ type: 'text_delta', text })) : [];
}
