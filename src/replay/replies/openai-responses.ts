/**
 * Encodes a recorded reply for OpenAI's Responses API, plain and streamed. Item ids are generated: the recording contains
 * those of replies and tool calls, which are the ones that a program may refer to later. Source: OpenAI API reference, "The
 * response object" and "Streaming events".
 */
import type { MessagePart } from '../../journal/layout/agent.ts';
import {
  argumentsText,
  isToolCall,
  pieces,
  type RecordedReply,
  type ReplyFormat,
  type ServerEvent,
} from './reply.ts';

interface Item {
  type: string;
  id: string;
  [field: string]: unknown;
}

export const openaiResponsesReply: ReplyFormat = {
  whole: (reply) => responseOf(reply, statusOf(reply), itemsOf(reply)),
  events(reply) {
    const events: ServerEvent[] = [];
    let sequence = 0;
    const make = (type: string, more: object): ServerEvent => ({
      name: type,
      data: { type, sequence_number: sequence++, ...more },
    });
    events.push(make('response.created', { response: responseOf(reply, 'in_progress', []) }));
    for (const [index, item] of itemsOf(reply).entries())
      for (const [type, more] of itemEvents(item)) events.push(make(type, { output_index: index, ...more }));
    const response = responseOf(reply, statusOf(reply), itemsOf(reply));
    return { events, closing: [make(`response.${response.status}`, { response })] };
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

function itemsOf({ id, messages }: RecordedReply): Item[] {
  return messages.flatMap((parts, at) => {
    const texts = parts.filter(({ type }) => type === 'text' || type === 'refusal').map(contentOf);
    const message = {
      type: 'message',
      id: `msg_${id}_${at}`,
      status: 'completed',
      role: 'assistant',
      content: texts,
    };
    const reasoning = parts.flatMap((part) =>
      part.type === 'reasoning' && part.content ? [{ type: 'summary_text', text: part.content }] : [],
    );
    const calls = parts.filter(isToolCall).map((call) => ({
      type: 'function_call',
      id: `fc_${call.id}`,
      status: 'completed',
      call_id: call.id,
      name: call.name,
      arguments: argumentsText(call),
    }));
    return [
      ...(reasoning.length > 0 ? [{ type: 'reasoning', id: `rs_${id}_${at}`, summary: reasoning }] : []),
      ...(texts.length > 0 ? [message] : []),
      ...calls,
    ];
  });
}

function contentOf(part: MessagePart): Record<string, unknown> {
  if (part.type === 'refusal') return { type: 'refusal', refusal: part.content };
  return {
    type: 'output_text',
    text: part.type === 'text' ? part.content : '',
    annotations: [],
    logprobs: [],
  };
}

function* itemEvents(item: Item): Generator<[type: string, more: object]> {
  if (item.type === 'message') {
    yield ['response.output_item.added', { item: { ...item, status: 'in_progress', content: [] } }];
    for (const [content_index, part] of (item['content'] as Record<string, unknown>[]).entries())
      yield* contentEvents(item.id, content_index, part);
  } else if (item.type === 'function_call') {
    yield ['response.output_item.added', { item: { ...item, status: 'in_progress', arguments: '' } }];
    const text = String(item['arguments']);
    for (const delta of pieces(text))
      yield ['response.function_call_arguments.delta', { item_id: item.id, delta }];
    yield [
      'response.function_call_arguments.done',
      { item_id: item.id, name: item['name'], arguments: text },
    ];
  } else yield ['response.output_item.added', { item }];
  yield ['response.output_item.done', { item }];
}

function* contentEvents(
  item_id: string,
  content_index: number,
  part: Record<string, unknown>,
): Generator<[type: string, more: object]> {
  const at = { item_id, content_index };
  const field = part['type'] === 'refusal' ? 'refusal' : 'text';
  const name = field === 'text' ? 'response.output_text' : 'response.refusal';
  yield ['response.content_part.added', { ...at, part: { ...part, [field]: '' } }];
  for (const delta of pieces(String(part[field]))) yield [`${name}.delta`, { ...at, delta }];
  yield [`${name}.done`, { ...at, [field]: part[field] }];
  yield ['response.content_part.done', { ...at, part }];
}

function statusOf({ finishReason, error }: RecordedReply): string {
  if (error) return 'failed';
  return finishReason === undefined || finishReason === 'completed' ? 'completed' : 'incomplete';
}

function responseOf(reply: RecordedReply, status: string, output: Item[]) {
  const { input, output: written } = reply.usage;
  return {
    id: reply.id,
    object: 'response',
    created_at: 0,
    status,
    error: reply.error
      ? { code: reply.error.code ?? 'server_error', message: reply.error.message ?? '' }
      : null,
    incomplete_details: status === 'incomplete' ? { reason: reply.finishReason } : null,
    instructions: null,
    max_output_tokens: null,
    metadata: {},
    model: reply.model,
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage:
      status === 'in_progress'
        ? null
        : {
            input_tokens: input,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: written,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: input + written,
          },
  };
}
