/**
 * Encodes a recorded reply for version 2 of Cohere's chat API, whole and streamed. Version 1, which Cohere no longer
 * develops, is not supported. Source: Cohere API reference, "Chat V2" and "Chat with Streaming (V2)".
 */
import {
  argumentsText,
  pieces,
  type RecordedReply,
  type ReplyFormat,
  reasoningOf,
  type ServerEvent,
  textOf,
  toolCallsOf,
} from './reply.ts';

export const cohereReply: ReplyFormat = {
  whole(reply) {
    const [plan, text, calls] = [reasoningOf(reply), textOf(reply), toolCallsOf(reply)];
    return {
      id: reply.id,
      finish_reason: finishOf(reply),
      message: {
        role: 'assistant',
        ...(plan && { tool_plan: plan }),
        ...(text && { content: [{ type: 'text', text }] }),
        ...(calls.length > 0 && {
          tool_calls: calls.map((call) => ({
            id: call.id,
            type: 'function',
            function: { name: call.name, arguments: argumentsText(call) },
          })),
        }),
      },
      usage: usageOf(reply),
    };
  },
  events(reply) {
    const text = textOf(reply);
    const events = [
      event(
        'message-start',
        { role: 'assistant', content: [], tool_plan: '', tool_calls: [] },
        { id: reply.id },
      ),
      ...pieces(reasoningOf(reply)).map((plan) => event('tool-plan-delta', { tool_plan: plan })),
      ...(text ? [event('content-start', { content: { type: 'text', text: '' } }, { index: 0 })] : []),
      ...pieces(text).map((piece) => event('content-delta', { content: { text: piece } }, { index: 0 })),
      ...(text ? [{ data: { type: 'content-end', index: 0 } }] : []),
      ...toolCallsOf(reply).flatMap((call, index) => [
        event(
          'tool-call-start',
          { tool_calls: { id: call.id, type: 'function', function: { name: call.name, arguments: '' } } },
          { index },
        ),
        ...pieces(argumentsText(call)).map((piece) =>
          event('tool-call-delta', { tool_calls: { function: { arguments: piece } } }, { index }),
        ),
        { data: { type: 'tool-call-end', index } },
      ]),
    ];
    const delta = { finish_reason: finishOf(reply), usage: usageOf(reply) };
    return { events, closing: [{ data: { type: 'message-end', delta } }] };
  },
  error: ({ error }) => ({ message: error?.message ?? '' }),
};

function event(type: string, message: object, more: object = {}): ServerEvent {
  return { data: { type, ...more, delta: { message } } };
}

function finishOf(reply: RecordedReply): string {
  return reply.finishReason ?? (toolCallsOf(reply).length > 0 ? 'TOOL_CALL' : 'COMPLETE');
}

function usageOf({ usage: { input, output } }: RecordedReply) {
  const tokens = { input_tokens: input, output_tokens: output };
  return { billed_units: tokens, tokens };
}
