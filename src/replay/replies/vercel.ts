/**
 * Encodes a recorded reply for Vercel's AI Gateway: the AI SDK's own results and stream parts. Source: LanguageModelV3 of
 * `@ai-sdk/provider`, as of AI SDK 7.
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

export const vercelReply: ReplyFormat = {
  whole(reply) {
    const [reasoning, text] = [reasoningOf(reply), textOf(reply)];
    return {
      content: [
        ...(reasoning ? [{ type: 'reasoning', text: reasoning }] : []),
        ...(text ? [{ type: 'text', text }] : []),
        ...toolCallsOf(reply).map(toolCall),
      ],
      finishReason: finishOf(reply),
      usage: usageOf(reply),
      response: { id: reply.id, modelId: reply.model },
      warnings: [],
    };
  },
  events(reply) {
    const part = (data: object): ServerEvent => ({ data });
    const events = [
      part({ type: 'stream-start', warnings: [] }),
      part({ type: 'response-metadata', id: reply.id, modelId: reply.model }),
      ...block('reasoning', reasoningOf(reply)).map(part),
      ...block('text', textOf(reply)).map(part),
      ...toolCallsOf(reply).map((call) => part(toolCall(call))),
    ];
    const finish = { type: 'finish', finishReason: finishOf(reply), usage: usageOf(reply) };
    return { events, closing: [part(finish), { data: '[DONE]' }] };
  },
  error: ({ error }) => ({ error: { message: error?.message ?? '', type: error?.type ?? null } }),
};

function block(type: 'reasoning' | 'text', text: string): object[] {
  const id = `${type}-0`;
  if (!text) return [];
  return [
    { type: `${type}-start`, id },
    ...pieces(text).map((delta) => ({ type: `${type}-delta`, id, delta })),
    { type: `${type}-end`, id },
  ];
}

function toolCall(call: ReturnType<typeof toolCallsOf>[number]): object {
  return { type: 'tool-call', toolCallId: call.id, toolName: call.name, input: argumentsText(call) };
}

function finishOf(reply: RecordedReply): { unified: string; raw: string | undefined } {
  const unified = reply.finishReason ?? (toolCallsOf(reply).length > 0 ? 'tool-calls' : 'stop');
  return { unified, raw: reply.finishReason };
}

function usageOf({ usage: { input, output } }: RecordedReply) {
  return { inputTokens: { total: input }, outputTokens: { total: output } };
}
