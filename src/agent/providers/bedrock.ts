/**
 * Amazon Bedrock: Converse and ConverseStream, and InvokeModel with an Anthropic body. For other bodies only the prompt and
 * the text of the reply are read. Sources: Bedrock API reference, "Converse", "ConverseStream",
 * "InvokeModelWithResponseStream".
 */
import type { Message, MessagePart } from '../../journal/layout/agent.ts';
import {
  arrayOf,
  compact,
  isObject,
  type JsonObject,
  numberOf,
  objectOf,
  parseJson,
  stringOf,
} from '../calls/json.ts';
import { contentParts, otherPart, textMessage } from '../calls/message-parts.ts';
import type { ModelRequest, ProviderFormat, RequestTarget } from '../calls/model-call.ts';
import type { ReplyBuilder } from '../calls/reply.ts';
import { readSettings } from '../calls/request-attributes.ts';
import { readAnthropicEvent, readAnthropicReply, readAnthropicRequest } from './anthropic.ts';
import { readErrorBody } from './error-body.ts';
import { readChatReply } from './openai-chat.ts';

const path = /^\/model\/([^/]+)\/(converse|converse-stream|invoke|invoke-with-response-stream)$/;

export const bedrock: ProviderFormat = {
  providerName: () => 'aws.bedrock',
  matches: (target) => path.test(target.path),
  readRequest,
  readReply(value, reply) {
    const body = objectOf(value);
    if (Array.isArray(body['content'])) return readAnthropicReply(body, reply);
    if (Array.isArray(body['choices'])) return readChatReply(body, reply);
    if (!isObject(body['output'])) {
      if (!readInvoked(body, reply)) readErrorBody(body, reply);
      return;
    }
    const message = readMessage(objectOf(body['output']['message']));
    reply.message(0, message.role);
    message.parts.forEach((part, at) => {
      reply.whole(0, at, part);
    });
    reply.finish(stringOf(body['stopReason']));
    countUsage(body['usage'], reply);
    reply.done = true;
  },
  readEvent,
};

function readRequest(body: JsonObject, target: RequestTarget): ModelRequest | undefined {
  const match = path.exec(target.path);
  const model = match ? decodeModel(match[1] ?? '') : undefined;
  const stream = match?.[2]?.includes('stream') ?? false;
  const request =
    body['anthropic_version'] === undefined
      ? (readConverse(body) ?? readInvoke(body))
      : readAnthropicRequest(body, target);
  return compact({ ...request, model, stream }) as ModelRequest;
}

/** InvokeModel with a body of another vendor: the path shows that it is a model call; the prompt is read if it is a text. */
function readInvoke(body: JsonObject): ModelRequest {
  const prompt = stringOf(body['prompt']) ?? stringOf(body['inputText']);
  return {
    operation: 'text_completion',
    messages: prompt === undefined ? [] : [textMessage('user', prompt)],
    attributes: readSettings(objectOf(body['textGenerationConfig'] ?? body)),
  };
}

/** Replies of Llama, Mistral and Titan as returned by InvokeModel. */
function readInvoked(body: JsonObject, reply: ReplyBuilder): boolean {
  const [first] = [...arrayOf(body['results']), ...arrayOf(body['outputs'])].map(objectOf);
  const text = stringOf(body['generation']) ?? stringOf(first?.['outputText']) ?? stringOf(first?.['text']);
  if (text === undefined && body['embedding'] === undefined) return false;
  reply.text(0, 0, text);
  reply.finish(
    stringOf(body['stop_reason']) ??
      stringOf(first?.['completionReason']) ??
      stringOf(first?.['stop_reason']),
  );
  reply.count({
    input: numberOf(body['prompt_token_count']) ?? numberOf(body['inputTextTokenCount']),
    output: numberOf(body['generation_token_count']) ?? numberOf(first?.['tokenCount']),
  });
  reply.done = true;
  return true;
}

function decodeModel(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

function readConverse(body: JsonObject): ModelRequest | undefined {
  if (!Array.isArray(body['messages'])) return undefined;
  const system = contentParts(body['system'], readBlock);
  return compact({
    operation: 'chat' as const,
    messages: body['messages'].filter(isObject).map(readMessage),
    system: system.length ? { role: 'system', parts: system } : undefined,
    tools: objectOf(body['toolConfig'])['tools'],
    attributes: readSettings(objectOf(body['inferenceConfig'])),
  }) as ModelRequest;
}

function readMessage(message: JsonObject): Message {
  return {
    role: stringOf(message['role']) ?? 'assistant',
    parts: contentParts(message['content'], readBlock),
  };
}

function readBlock(block: JsonObject): MessagePart {
  const text = stringOf(block['text']);
  if (text !== undefined) return { type: 'text', content: text };
  if (block['json'] !== undefined) return otherPart(block['json'], 'json');
  if (isObject(block['reasoningContent'])) {
    const reasoning = objectOf(block['reasoningContent']['reasoningText']);
    return { type: 'reasoning', content: stringOf(reasoning['text']) ?? '' };
  }
  if (isObject(block['toolUse'])) {
    const { toolUseId, name, input } = block['toolUse'];
    const call = { type: 'tool_call', id: stringOf(toolUseId), name: stringOf(name) ?? '', arguments: input };
    return compact(call) as MessagePart;
  }
  if (isObject(block['toolResult'])) return readResult(block['toolResult']);
  return otherPart(block, Object.keys(block)[0]);
}

function readResult(result: JsonObject): MessagePart {
  const content = contentParts(result['content'], readBlock);
  const [only] = content;
  let response: unknown = content;
  if (content.length === 1 && only?.type === 'text') response = only.content;
  if (content.length === 1 && only?.type === 'other' && only.kind === 'json') response = only.value;
  return compact({
    type: 'tool_call_response' as const,
    id: stringOf(result['toolUseId']),
    response,
    isError: result['status'] === 'error' ? true : undefined,
  }) as MessagePart;
}

function countUsage(value: unknown, reply: ReplyBuilder): void {
  const usage = objectOf(value);
  reply.count({
    input: numberOf(usage['inputTokens']),
    output: numberOf(usage['outputTokens']),
    cacheRead: numberOf(usage['cacheReadInputTokens']),
    cacheCreation: numberOf(usage['cacheWriteInputTokens']),
  });
}

/** `name` is the frame's `:event-type`. */
function readEvent(name: string | undefined, value: unknown, reply: ReplyBuilder): void {
  const event = objectOf(value);
  const at = numberOf(event['contentBlockIndex']) ?? 0;
  switch (name) {
    case 'chunk': {
      const inner = Buffer.from(stringOf(event['bytes']) ?? '', 'base64').toString('utf8');
      readAnthropicEvent(undefined, parseJson(inner), reply);
      break;
    }
    case 'messageStart':
      reply.message(0, stringOf(event['role']) ?? 'assistant');
      break;
    case 'contentBlockStart': {
      const use = objectOf(objectOf(event['start'])['toolUse']);
      if (use['name'] !== undefined)
        reply.toolCall(0, at, { id: stringOf(use['toolUseId']), name: stringOf(use['name']) });
      return;
    }
    case 'contentBlockDelta':
      addToBlock(at, objectOf(event['delta']), reply);
      break;
    case 'messageStop':
      reply.finish(stringOf(event['stopReason']));
      reply.done = true;
      return;
    case 'metadata':
      countUsage(event['usage'], reply);
      break;
  }
  if (name?.endsWith('Exception'))
    reply.error = compact({ type: name, message: stringOf(event['message']) ?? '' });
}

function addToBlock(at: number, delta: JsonObject, reply: ReplyBuilder): void {
  reply.text(0, at, stringOf(delta['text']));
  reply.reasoning(0, at, stringOf(objectOf(delta['reasoningContent'])['text']));
  if (isObject(delta['toolUse']))
    reply.toolCall(0, at, { addedArguments: stringOf(delta['toolUse']['input']) });
}
