/**
 * Encodes a recorded reply for Ollama's chat and generate APIs, whole and streamed as lines of JSON. Ollama's replies have no
 * id. Source: Ollama's docs/api.md.
 */
import {
  pieces,
  type RecordedReply,
  type ReplyFormat,
  reasoningOf,
  type ServerEvent,
  textOf,
  toolCallsOf,
} from './reply.ts';

interface Piece {
  content?: string;
  thinking?: string;
  tool_calls?: object[];
}

const encodeLine = ({ data }: ServerEvent) => `${JSON.stringify(data)}\n`;

function formatOf(place: (piece: Piece) => object): ReplyFormat {
  const lineOf = ({ model }: RecordedReply, piece: Piece) => ({
    model,
    created_at: new Date(0).toISOString(),
    ...place(piece),
    done: false,
  });
  const closingOf = (reply: RecordedReply, piece: Piece) => ({
    ...lineOf(reply, piece),
    done: true,
    done_reason: reply.finishReason ?? 'stop',
    prompt_eval_count: reply.usage.input,
    eval_count: reply.usage.output,
  });
  return {
    stream: { type: 'application/x-ndjson', encode: encodeLine },
    whole: (reply) => closingOf(reply, wholePiece(reply)),
    events: (reply) => ({
      events: streamedPieces(reply).map((piece) => ({ data: lineOf(reply, piece) })),
      closing: [{ data: closingOf(reply, {}) }],
    }),
    error: ({ error }) => ({ error: error?.message ?? '' }),
  };
}

export const ollamaChatReply = formatOf((piece) => ({
  message: { role: 'assistant', content: '', ...piece },
}));
export const ollamaGenerateReply = formatOf(({ content = '', ...more }) => ({ response: content, ...more }));

function wholePiece(reply: RecordedReply): Piece {
  const [thinking, calls] = [reasoningOf(reply), toolCalls(reply)];
  return {
    content: textOf(reply),
    ...(thinking && { thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** Text is streamed in pieces, tool calls as a whole. */
function streamedPieces(reply: RecordedReply): Piece[] {
  const calls = toolCalls(reply);
  return [
    ...pieces(reasoningOf(reply)).map((thinking) => ({ thinking })),
    ...pieces(textOf(reply)).map((content) => ({ content })),
    ...(calls.length > 0 ? [{ tool_calls: calls }] : []),
  ];
}

function toolCalls(reply: RecordedReply): object[] {
  return toolCallsOf(reply).map(({ id, name, arguments: given }) => ({
    ...(id !== undefined && { id }),
    function: { name, arguments: given ?? {} },
  }));
}
