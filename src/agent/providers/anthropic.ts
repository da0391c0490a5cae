/**
 * Anthropic's Messages API, plain and streamed, also over Bedrock and Vertex, with threads stored by the server. Source:
 * Anthropic API reference, "Messages" and "Streaming messages"; the `thread` field as sent by its TypeScript SDK 1.12.
 */
import type { Message, MessagePart } from '../../journal/layout/agent.ts';
import { arrayOf, compact, isObject, type JsonObject, numberOf, objectOf, stringOf } from '../calls/json.ts';
import { blobPart, contentParts, linkPart, otherPart } from '../calls/message-parts.ts';
import type { ModelRequest, ProviderFormat, RequestTarget } from '../calls/model-call.ts';
import type { ReplyBuilder } from '../calls/reply.ts';
import { readSettings } from '../calls/request-attributes.ts';
import { readError, readErrorBody } from './error-body.ts';

const vertexPath = /\/publishers\/anthropic\/models\/([^/:]+):(?:streamRawPredict|rawPredict)$/;

export const anthropic: ProviderFormat = {
  providerName: ({ path }) => (vertexPath.test(path) ? 'gcp.vertex_ai' : 'anthropic'),
  matches: ({ path }) => path.endsWith('/v1/messages') || vertexPath.test(path),
  readRequest: readAnthropicRequest,
  readReply: readAnthropicReply,
  readEvent: readAnthropicEvent,
  textAt: ['delta', 'text'],
};

export function readAnthropicRequest(body: JsonObject, target: RequestTarget): ModelRequest | undefined {
  const list = body['messages'];
  const thread = objectOf(body['thread']);
  const previousReply = stringOf(thread['previous_message_id']);
  if (!Array.isArray(list) && previousReply === undefined) return undefined;
  const system = contentParts(body['system'], readBlock);
  return compact({
    operation: 'chat' as const,
    model: stringOf(body['model']) ?? vertexPath.exec(target.path)?.[1],
    messages: arrayOf(list).filter(isObject).map(readMessage),
    system: system.length ? { role: 'system', parts: system } : undefined,
    tools: body['tools'],
    stream: body['stream'] === true,
    previousReply,
    attributes: readSettings(body),
  }) as ModelRequest;
}

function readMessage(message: JsonObject): Message {
  return { role: stringOf(message['role']) ?? 'user', parts: contentParts(message['content'], readBlock) };
}

function readBlock(block: JsonObject): MessagePart {
  const type = stringOf(block['type']) ?? '';
  switch (type) {
    case 'text':
      return { type: 'text', content: stringOf(block['text']) ?? '' };
    case 'thinking':
      return { type: 'reasoning', content: stringOf(block['thinking']) ?? '' };
    case 'redacted_thinking':
      return { type: 'reasoning', content: '' };
    case 'image':
    case 'document':
      return readSource(type, block);
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return compact({
        type: 'tool_call' as const,
        id: stringOf(block['id']),
        name: stringOf(block['name']) ?? '',
        arguments: block['input'],
      }) as MessagePart;
    default:
      return type.endsWith('tool_result') ? readResult(block) : otherPart(block);
  }
}

function readResult(block: JsonObject): MessagePart {
  const content = contentParts(block['content'], readBlock);
  const [only] = content;
  return compact({
    type: 'tool_call_response' as const,
    id: stringOf(block['tool_use_id']),
    response: content.length === 1 && only?.type === 'text' ? only.content : content,
    isError: block['is_error'] === true ? true : undefined,
  }) as MessagePart;
}

function readSource(modality: string, block: JsonObject): MessagePart {
  const source = objectOf(block['source']);
  const data = stringOf(source['data']);
  const id = stringOf(source['file_id']);
  const url = stringOf(source['url']);
  if (source['type'] === 'text' && data !== undefined) return { type: 'text', content: data };
  if (data !== undefined) return blobPart(stringOf(source['media_type']) ?? 'application/octet-stream', data);
  if (id !== undefined) return { type: 'file', modality, file_id: id };
  return url === undefined ? otherPart(block) : linkPart(modality, url);
}

export function readAnthropicReply(value: unknown, reply: ReplyBuilder): void {
  const body = objectOf(value);
  if (body['type'] === 'error' || body['content'] === undefined) {
    readErrorBody(body, reply);
    return;
  }
  readHead(body, reply);
  arrayOf(body['content']).forEach((block, at) => {
    reply.whole(0, at, readBlock(objectOf(block)));
  });
  reply.finish(stringOf(body['stop_reason']));
  reply.done = true;
}

function readHead(body: JsonObject, reply: ReplyBuilder): void {
  reply.id = stringOf(body['id']) ?? reply.id;
  reply.model = stringOf(body['model']) ?? reply.model;
  reply.message(0, stringOf(body['role']) ?? 'assistant');
  countUsage(body['usage'], reply);
}

/** `input_tokens` excludes tokens read from or written to the cache. */
function countUsage(value: unknown, reply: ReplyBuilder): void {
  const usage = objectOf(value);
  reply.count({
    input: numberOf(usage['input_tokens']),
    output: numberOf(usage['output_tokens']),
    cacheRead: numberOf(usage['cache_read_input_tokens']),
    cacheCreation: numberOf(usage['cache_creation_input_tokens']),
  });
}

export function readAnthropicEvent(name: string | undefined, value: unknown, reply: ReplyBuilder): void {
  const event = objectOf(value);
  const at = numberOf(event['index']) ?? 0;
  switch (stringOf(event['type']) ?? name) {
    case 'message_start':
      readHead(objectOf(event['message']), reply);
      break;
    case 'content_block_start':
      openBlock(at, objectOf(event['content_block']), reply);
      break;
    case 'content_block_delta':
      addToBlock(at, objectOf(event['delta']), reply);
      break;
    case 'message_delta':
      reply.finish(stringOf(objectOf(event['delta'])['stop_reason']));
      countUsage(event['usage'], reply);
      break;
    case 'message_stop':
      reply.done = true;
      return;
    case 'error':
      reply.error = readError(objectOf(event['error']));
      return;
  }
}

function openBlock(at: number, block: JsonObject, reply: ReplyBuilder): void {
  const part = readBlock(block);
  if (part.type === 'text') reply.text(0, at, part.content);
  else if (part.type === 'reasoning') reply.reasoning(0, at, part.content);
  else if (part.type === 'tool_call') reply.toolCall(0, at, { id: part.id, name: part.name });
  else reply.whole(0, at, part);
}

function addToBlock(at: number, delta: JsonObject, reply: ReplyBuilder): void {
  switch (delta['type']) {
    case 'text_delta':
      reply.text(0, at, stringOf(delta['text']));
      break;
    case 'thinking_delta':
      reply.reasoning(0, at, stringOf(delta['thinking']));
      break;
    case 'input_json_delta':
      reply.toolCall(0, at, { addedArguments: stringOf(delta['partial_json']) });
      break;
  }
}
