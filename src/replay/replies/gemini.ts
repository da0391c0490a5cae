/**
 * Encodes a recorded reply for Google's generateContent, whole and streamed with `alt=sse`, which its clients request.
 * Source: Gemini API reference, "GenerateContentResponse".
 */
import type { MessagePart } from '../../journal/layout/agent.ts';
import { pieces, type RecordedReply, type ReplyFormat, type ServerEvent } from './reply.ts';

export const geminiReply: ReplyFormat = {
  whole: (reply) => chunkOf(reply, reply.messages.flat().map(partOf), true),
  events(reply) {
    const events = reply.messages
      .flat()
      .flatMap((part) =>
        piecesOf(part).map((piece): ServerEvent => ({ data: chunkOf(reply, [piece], false) })),
      );
    return { events, closing: [{ data: chunkOf(reply, [], true) }] };
  },
  error: ({ error, status }) => ({
    error: { code: error?.code ?? status, message: error?.message ?? '', status: error?.type ?? 'UNKNOWN' },
  }),
};

function partOf(part: MessagePart): object {
  if (part.type === 'tool_call')
    return { functionCall: { ...(part.id && { id: part.id }), name: part.name, args: part.arguments ?? {} } };
  if (part.type === 'reasoning') return { text: part.content, thought: true };
  return { text: part.type === 'text' ? part.content : '' };
}

/** Text is streamed in pieces, a function call as a whole. */
function piecesOf(part: MessagePart): object[] {
  if (part.type !== 'text' && part.type !== 'reasoning') return [partOf(part)];
  return pieces(part.content).map((content) => partOf({ ...part, content }));
}

function chunkOf({ id, model, usage, finishReason }: RecordedReply, parts: object[], isLast: boolean) {
  return {
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts },
        ...(isLast && { finishReason: finishReason ?? 'STOP' }),
      },
    ],
    usageMetadata: {
      promptTokenCount: usage.input,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output,
    },
    modelVersion: model,
    responseId: id,
  };
}
