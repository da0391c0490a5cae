/**
 * OpenAI's chat completions, plain and streamed, which many other hosts implement as well (`generic.ts`, `mistral.ts`).
 * Source: OpenAI API reference, "Create chat completion" and "The chat completion chunk object".
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
import { blobPart, contentParts, linkPart, otherPart } from '../calls/message-parts.ts';
import type { ModelRequest, ProviderFormat, TextPath } from '../calls/model-call.ts';
import type { ReplyBuilder } from '../calls/reply.ts';
import { readSettings } from '../calls/request-attributes.ts';
import { readErrorBody } from './error-body.ts';

export const chatTextAt: TextPath = ['choices', 0, 'delta', 'content'];

export const openaiChat: ProviderFormat = {
  providerName: ({ host }) => (isAzureHost(host) ? 'azure.ai.openai' : 'openai'),
  matches: ({ host, path }) => isOpenaiHost(host) && path.endsWith('/chat/completions'),
  readRequest: (body, { path }) => readChatRequest(withDeployment(body, path)),
  readReply: readChatReply,
  readEvent: readChatEvent,
  textAt: chatTextAt,
};

export function isOpenaiHost(host: string): boolean {
  return host === 'api.openai.com' || host.endsWith('.api.openai.com') || isAzureHost(host);
}

/** Azure, including its clouds for the US government and China. */
export const isAzureHost = (host: string): boolean => /\.azure\.(?:com|us|cn)$/.test(host);

const deployment = /\/openai\/deployments\/([^/]+)\//;

/** Azure has the deployment in the path, and the model in the body is optional. */
export function withDeployment(body: JsonObject, path: string): JsonObject {
  if (typeof body['model'] === 'string' && body['model'] !== '') return body;
  const name = deployment.exec(path)?.[1];
  return name === undefined ? body : { ...body, model: name };
}

export function readChatRequest(body: JsonObject): ModelRequest | undefined {
  const list = body['messages'];
  if (!Array.isArray(list)) return undefined;
  return compact({
    operation: 'chat' as const,
    model: stringOf(body['model']),
    messages: list.filter(isObject).map(readChatMessage),
    tools: body['tools'] ?? body['functions'],
    stream: body['stream'] === true,
    attributes: readSettings(body),
  }) as ModelRequest;
}

export function readChatMessage(message: JsonObject): Message {
  const role = stringOf(message['role']) ?? 'unknown';
  const content = contentParts(message['content'], readChatPart);
  const name = stringOf(message['name']);
  if (role === 'tool' || role === 'function') return toolResult(message, role, content, name);
  const parts = [...reasoningParts(message), ...content];
  if (typeof message['refusal'] === 'string') parts.push({ type: 'refusal', content: message['refusal'] });
  for (const call of arrayOf(message['tool_calls'])) parts.push(readChatToolCall(objectOf(call)));
  if (isObject(message['function_call']))
    parts.push(readChatToolCall({ function: message['function_call'] }));
  return name === undefined ? { role, parts } : { role, parts, name };
}

function toolResult(message: JsonObject, role: string, content: MessagePart[], name?: string): Message {
  const [only] = content;
  const response = content.length === 1 && only?.type === 'text' ? only.content : content;
  const part = { type: 'tool_call_response', id: stringOf(message['tool_call_id']), name, response };
  return { role, parts: [compact(part) as MessagePart] };
}

function reasoningParts(message: JsonObject): MessagePart[] {
  const content = stringOf(message['reasoning_content']) ?? stringOf(message['reasoning']);
  return content ? [{ type: 'reasoning', content }] : [];
}

function readChatToolCall(call: JsonObject): MessagePart {
  const target = objectOf(call['function'] ?? call['custom']);
  return compact({
    type: 'tool_call' as const,
    id: stringOf(call['id']),
    name: stringOf(target['name']) ?? '',
    arguments: parseArguments(target['arguments'] ?? target['input']),
  }) as MessagePart;
}

function readChatPart(part: JsonObject): MessagePart {
  switch (part['type']) {
    case 'text':
      return { type: 'text', content: stringOf(part['text']) ?? '' };
    case 'refusal':
      return { type: 'refusal', content: stringOf(part['refusal']) ?? '' };
    case 'image_url': {
      const url = stringOf(part['image_url']) ?? stringOf(objectOf(part['image_url'])['url']);
      return url === undefined ? otherPart(part) : linkPart('image', url);
    }
    case 'input_audio': {
      const audio = objectOf(part['input_audio']);
      return blobPart(`audio/${stringOf(audio['format']) ?? 'unknown'}`, stringOf(audio['data']) ?? '');
    }
    case 'thinking':
      return { type: 'reasoning', content: thinkingText(part['thinking']) };
    case 'file': {
      const file = objectOf(part['file']);
      const id = stringOf(file['file_id']);
      if (id !== undefined) return { type: 'file', file_id: id };
      return linkPart('document', stringOf(file['file_data']) ?? '');
    }
    default:
      return otherPart(part);
  }
}

/** Mistral's thinking parts contain text parts. */
function thinkingText(thinking: unknown): string {
  if (typeof thinking === 'string') return thinking;
  return arrayOf(thinking)
    .map((part) => stringOf(objectOf(part)['text']) ?? '')
    .join('');
}

export function readChatReply(value: unknown, reply: ReplyBuilder): void {
  const body = objectOf(value);
  if (readErrorBody(body, reply)) return;
  readChatHead(body, reply);
  for (const choice of arrayOf(body['choices']).map(objectOf)) {
    const key = numberOf(choice['index']) ?? 0;
    const message = readChatMessage(
      objectOf(choice['message'] ?? { role: 'assistant', content: choice['text'] }),
    );
    reply.message(key, message.role === 'unknown' ? 'assistant' : message.role);
    message.parts.forEach((part, at) => {
      reply.whole(key, at, part);
    });
    reply.finish(stringOf(choice['finish_reason']));
  }
  reply.done = true;
}

/** Reads a chunk. The last line of the stream, `[DONE]`, is not JSON and is passed as undefined. */
export function readChatEvent(_name: string | undefined, value: unknown, reply: ReplyBuilder): void {
  if (value === undefined) {
    reply.done = true;
    return;
  }
  const body = objectOf(value);
  if (readErrorBody(body, reply)) return;
  readChatHead(body, reply);
  for (const choice of arrayOf(body['choices'])) readChatChoice(objectOf(choice), reply);
}

function readChatChoice(choice: JsonObject, reply: ReplyBuilder): void {
  const key = numberOf(choice['index']) ?? 0;
  const delta = objectOf(choice['delta'] ?? { content: choice['text'] });
  reply.reasoning(key, 0, stringOf(delta['reasoning_content']) ?? stringOf(delta['reasoning']));
  const content = delta['content'];
  // Nearly every chunk is a piece of text, so this path allocates nothing.
  if (typeof content === 'string') reply.text(key, 0, content);
  else
    for (const part of contentParts(content, readChatPart)) {
      if (part.type === 'text') reply.text(key, 0, part.content);
      else if (part.type === 'reasoning') reply.reasoning(key, 0, part.content);
    }
  reply.refusal(key, 0, stringOf(delta['refusal']));
  if (delta['tool_calls'] || delta['function_call']) readChatCalls(delta, key, reply);
  const reason = stringOf(choice['finish_reason']);
  reply.finish(reason);
  if (reason) reply.done = true;
}

function readChatCalls(delta: JsonObject, key: number, reply: ReplyBuilder): void {
  const calls = arrayOf(delta['tool_calls']).map(objectOf);
  if (isObject(delta['function_call'])) calls.push({ index: 0, function: delta['function_call'] });
  for (const [at, call] of calls.entries()) {
    const target = objectOf(call['function'] ?? call['custom']);
    const added = target['arguments'] ?? target['input'];
    reply.toolCall(key, numberOf(call['index']) ?? at, {
      id: stringOf(call['id']),
      name: stringOf(target['name']),
      // Some hosts send the arguments as an object.
      addedArguments: isObject(added) ? JSON.stringify(added) : stringOf(added),
    });
  }
}

function readChatHead(body: JsonObject, reply: ReplyBuilder): void {
  reply.id = stringOf(body['id']) ?? reply.id;
  reply.model = stringOf(body['model']) ?? reply.model;
  if (!isObject(body['usage'])) return;
  const usage = body['usage'];
  reply.count({
    input: numberOf(usage['prompt_tokens']),
    output: numberOf(usage['completion_tokens']),
    cacheRead: numberOf(objectOf(usage['prompt_tokens_details'])['cached_tokens']),
    reasoning: numberOf(objectOf(usage['completion_tokens_details'])['reasoning_tokens']),
  });
}
