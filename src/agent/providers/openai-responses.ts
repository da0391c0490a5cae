/**
 * OpenAI's Responses API, plain and streamed, with conversations stored by the server. Every input or output item becomes one
 * message here. Source: OpenAI API reference, "Create a model response" and "Streaming events".
 */
import type { Message, MessagePart } from '../../journal/layout/agent.ts';
import {
  arrayOf,
  compact,
  isObject,
  type JsonObject,
  numberOf,
  objectOf,
  parseArguments,
  stringOf,
} from '../calls/json.ts';
import { contentParts, linkPart, otherPart, textMessage } from '../calls/message-parts.ts';
import type { ModelRequest, ProviderFormat, RequestItem } from '../calls/model-call.ts';
import type { ReplyBuilder } from '../calls/reply.ts';
import { readSettings } from '../calls/request-attributes.ts';
import { readError, readErrorBody } from './error-body.ts';
import { providerAt } from './generic.ts';

export const openaiResponses: ProviderFormat = {
  providerName: ({ host }) => providerAt(host),
  matches: ({ path }) => path.endsWith('/responses'),
  readRequest,
  readReply(value, reply) {
    const body = objectOf(value);
    if (isObject(body['error']) || body['output'] === undefined) {
      if (readErrorBody(body, reply)) return;
    }
    readResponse(body, reply);
  },
  readEvent,
};

function readRequest(body: JsonObject): ModelRequest | undefined {
  if (body['model'] === undefined && body['prompt'] === undefined) return undefined;
  const { input, instructions, conversation } = body;
  if (input === undefined && body['previous_response_id'] === undefined && conversation === undefined)
    return undefined;
  return compact({
    operation: 'chat' as const,
    model: stringOf(body['model']),
    messages: readInput(input),
    system: typeof instructions === 'string' ? textMessage('system', instructions) : undefined,
    tools: body['tools'],
    stream: body['stream'] === true,
    previousReply: stringOf(body['previous_response_id']),
    serverConversation: stringOf(conversation) ?? stringOf(objectOf(conversation)['id']),
    attributes: readSettings(body),
  }) as ModelRequest;
}

function readInput(input: unknown): RequestItem[] {
  if (typeof input === 'string') return [textMessage('user', input)];
  return arrayOf(input)
    .filter(isObject)
    .map((item) => {
      const id = stringOf(item['id']);
      if (item['type'] === 'item_reference' && id !== undefined) return { reference: id };
      return readItem(item);
    });
}

/** An input or output item as one message. */
function readItem(item: JsonObject): Message {
  const type = stringOf(item['type']) ?? 'message';
  if (type === 'message')
    return { role: stringOf(item['role']) ?? 'assistant', parts: contentParts(item['content'], readPart) };
  if (type === 'reasoning') return { role: 'assistant', parts: readReasoning(item) };
  if (type.endsWith('_call_output')) return { role: 'tool', parts: [readCallOutput(item)] };
  if (type === 'function_call' || type === 'custom_tool_call')
    return { role: 'assistant', parts: [readCall(item)] };
  return { role: 'assistant', parts: [otherPart(item)] };
}

function readCall(item: JsonObject): MessagePart {
  return compact({
    type: 'tool_call' as const,
    id: stringOf(item['call_id']) ?? stringOf(item['id']),
    name: stringOf(item['name']) ?? '',
    arguments: parseArguments(item['arguments'] ?? item['input']),
  }) as MessagePart;
}

function readCallOutput(item: JsonObject): MessagePart {
  const output = item['output'];
  return compact({
    type: 'tool_call_response' as const,
    id: stringOf(item['call_id']),
    response: Array.isArray(output) ? contentParts(output, readPart) : output,
  }) as MessagePart;
}

function readReasoning(item: JsonObject): MessagePart[] {
  const texts = [...arrayOf(item['summary']), ...arrayOf(item['content'])].map((part) =>
    stringOf(objectOf(part)['text']),
  );
  const parts: MessagePart[] = texts
    .filter((text) => text !== undefined)
    .map((content) => ({ type: 'reasoning', content }));
  // Encrypted reasoning is unreadable, but that it occurred is part of the conversation.
  return parts.length ? parts : [{ type: 'reasoning', content: '' }];
}

function readPart(part: JsonObject): MessagePart {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', content: stringOf(part['text']) ?? '' };
    case 'refusal':
      return { type: 'refusal', content: stringOf(part['refusal']) ?? '' };
    case 'input_image': {
      const url = stringOf(part['image_url']);
      return url === undefined ? readFile(part, 'image') : linkPart('image', url);
    }
    case 'input_file':
      return readFile(part, 'document');
    default:
      return otherPart(part);
  }
}

function readFile(part: JsonObject, modality: string): MessagePart {
  const id = stringOf(part['file_id']);
  if (id !== undefined) return { type: 'file', modality, file_id: id };
  return linkPart(modality, stringOf(part['file_url']) ?? stringOf(part['file_data']) ?? '');
}

function readResponse(body: JsonObject, reply: ReplyBuilder): void {
  reply.id = stringOf(body['id']) ?? reply.id;
  reply.model = stringOf(body['model']) ?? reply.model;
  const output = arrayOf(body['output']).filter(isObject);
  if (output.length) reply.restart();
  for (const [at, item] of output.entries()) addItem(at, item, reply);
  const usage = objectOf(body['usage']);
  reply.count({
    input: numberOf(usage['input_tokens']),
    output: numberOf(usage['output_tokens']),
    cacheRead: numberOf(objectOf(usage['input_tokens_details'])['cached_tokens']),
    reasoning: numberOf(objectOf(usage['output_tokens_details'])['reasoning_tokens']),
  });
  if (isObject(body['error'])) reply.error = readError(body['error']);
  const status = stringOf(body['status']);
  reply.finish(stringOf(objectOf(body['incomplete_details'])['reason']) ?? status);
  if (status !== 'in_progress' && status !== 'queued') reply.done = true;
}

function addItem(at: number, item: JsonObject, reply: ReplyBuilder): void {
  const message = readItem(item);
  reply.message(at, message.role, stringOf(item['id']));
  message.parts.forEach((part, index) => {
    reply.whole(at, index, part);
  });
}

function readEvent(name: string | undefined, value: unknown, reply: ReplyBuilder): void {
  const event = objectOf(value);
  const item = numberOf(event['output_index']) ?? 0;
  const part = numberOf(event['content_index']) ?? numberOf(event['summary_index']) ?? 0;
  const delta = stringOf(event['delta']);
  switch (stringOf(event['type']) ?? name) {
    case 'response.created':
    case 'response.in_progress':
      reply.id = stringOf(objectOf(event['response'])['id']) ?? reply.id;
      reply.model = stringOf(objectOf(event['response'])['model']) ?? reply.model;
      return;
    case 'response.output_item.added':
      openItem(item, objectOf(event['item']), reply);
      break;
    case 'response.output_text.delta':
      reply.text(item, part, delta);
      break;
    case 'response.refusal.delta':
      reply.refusal(item, part, delta);
      break;
    case 'response.reasoning_text.delta':
    case 'response.reasoning_summary_text.delta':
      reply.reasoning(item, part, delta);
      break;
    case 'response.function_call_arguments.delta':
    case 'response.custom_tool_call_input.delta':
      reply.toolCall(item, 0, { addedArguments: delta });
      break;
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      readResponse(objectOf(event['response']), reply);
      break;
    case 'error':
      reply.error = readError(isObject(event['error']) ? event['error'] : event);
      return;
  }
}

function openItem(at: number, item: JsonObject, reply: ReplyBuilder): void {
  const type = stringOf(item['type']);
  reply.message(at, stringOf(item['role']) ?? 'assistant', stringOf(item['id']));
  if (type === 'function_call' || type === 'custom_tool_call')
    reply.toolCall(at, 0, { id: stringOf(item['call_id']), name: stringOf(item['name']) });
  else if (type !== 'message' && type !== 'reasoning') reply.whole(at, 0, otherPart(item));
}
