/**
 * Encodes a recorded reply for OpenAI's chat completions, plain and streamed, also for the many hosts that implement this
 * format. Source: OpenAI API reference, "The chat completion object" and "The chat completion chunk object".
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

export const openaiChatReply: ReplyFormat = {
  whole(reply) {
    const calls = toolCallsOf(reply).map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: argumentsText(call) },
    }));
    const reasoning = reasoningOf(reply);
    const message = {
      role: 'assistant',
      content: textOf(reply) || null,
      refusal: refusalOf(reply),
      ...(reasoning && { reasoning_content: reasoning }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    const choice = { index: 0, message, logprobs: null, finish_reason: finishOf(reply) };
    return { ...head(reply, 'chat.completion'), choices: [choice], usage: usageOf(reply) };
  },
  events(reply) {
    const chunk = (delta: object, finish: string | null = null): ServerEvent => ({
      data: {
        ...head(reply, 'chat.completion.chunk'),
        choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      },
    });
    const events = [
      chunk({ role: 'assistant', content: '' }),
      ...pieces(reasoningOf(reply)).map((text) => chunk({ reasoning_content: text })),
      ...pieces(textOf(reply)).map((content) => chunk({ content })),
      ...toolCallsOf(reply).flatMap((call, index) => [
        chunk({
          tool_calls: [
            { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } },
          ],
        }),
        ...pieces(argumentsText(call)).map((text) =>
          chunk({ tool_calls: [{ index, function: { arguments: text } }] }),
        ),
      ]),
    ];
    const usage = { data: { ...head(reply, 'chat.completion.chunk'), choices: [], usage: usageOf(reply) } };
    return { events, closing: [chunk({}, finishOf(reply)), usage, { data: '[DONE]' }] };
  },
  error: ({ error }) => ({
    error: {
      message: error?.message ?? '',
      type: error?.type ?? null,
      param: null,
      code: error?.code ?? null,
    },
  }),
};

function head({ id, model }: RecordedReply, object: string) {
  return { id, object, created: 0, model };
}

function finishOf(reply: RecordedReply): string {
  return reply.finishReason ?? (toolCallsOf(reply).length > 0 ? 'tool_calls' : 'stop');
}

function refusalOf({ messages }: RecordedReply): string | null {
  const part = messages.flat().find(({ type }) => type === 'refusal');
  return part?.type === 'refusal' ? part.content : null;
}

function usageOf({ usage: { input, output } }: RecordedReply) {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}
