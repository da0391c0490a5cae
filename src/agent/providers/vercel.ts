/**
 * Vercel's AI Gateway, which the AI SDK uses if a model is given as a plain string. The bodies are the SDK's own call options
 * and stream parts; the model is in a header. Source: LanguageModelV3 of `@ai-sdk/provider`, and `@ai-sdk/gateway`, as of AI
 * SDK 7.
 */
import type { Message, MessagePart } from '../../journal/layout/agent.ts';
import {
  compact,
  isObject,
  type JsonObject,
  numberOf,
  objectOf,
  parseArguments,
  stringOf,
} from '../calls/json.ts';
import { contentParts, otherPart } from '../calls/message-parts.ts';
import type { ModelRequest, ProviderFormat, RequestTarget } from '../calls/model-call.ts';
import type { ReplyBuilder } from '../calls/reply.ts';
import { readSettings } from '../calls/request-attributes.ts';
import { readErrorBody } from './error-body.ts';

export const vercel: ProviderFormat = {
  providerName: () => 'vercel_ai_gateway',
  matches: ({ path }) => path.endsWith('/language-model'),
  readRequest,
  readReply(value, reply) {
    const body = objectOf(value);
    if (!Array.isArray(body['content'])) {
      readErrorBody(body, reply);
      return;
    }
    contentParts(body['content'], readPart).forEach((part, at) => {
      reply.whole(0, at, part);
    });
    readHead(objectOf(body['response']), reply);
    readEnd(body, reply);
  },
  readEvent: (_name, value, reply) => readStreamPart(objectOf(value), reply),
};

function readRequest(body: JsonObject, { header }: RequestTarget): ModelRequest | undefined {
  const prompt = body['prompt'];
  if (!Array.isArray(prompt)) return undefined;
  return compact({
    operation: 'chat' as const,
    model: header?.('ai-language-model-id') ?? header?.('ai-model-id'),
    messages: prompt.filter(isObject).map(readMessage),
    tools: body['tools'],
    stream: header?.('ai-language-model-streaming') === 'true',
    attributes: readSettings({ ...body, max_tokens: body['maxOutputTokens'] }),
  }) as ModelRequest;
}

function readMessage(message: JsonObject): Message {
  return {
    role: stringOf(message['role']) ?? 'unknown',
    parts: contentParts(message['content'], readPart),
  };
}

function readPart(part: JsonObject): MessagePart {
  switch (part['type']) {
    case 'text':
    case 'reasoning':
      return { type: part['type'], content: stringOf(part['text']) ?? '' };
    case 'tool-call':
      return compact({
        type: 'tool_call' as const,
        id: stringOf(part['toolCallId']),
        name: stringOf(part['toolName']) ?? '',
        arguments: parseArguments(part['input']),
      }) as MessagePart;
    case 'tool-result': {
      const { type, value } = objectOf(part['output']);
      return compact({
        type: 'tool_call_response' as const,
        id: stringOf(part['toolCallId']),
        name: stringOf(part['toolName']),
        response: value,
        isError: String(type).startsWith('error') ? true : undefined,
      }) as MessagePart;
    }
    default:
      return otherPart(part);
  }
}

function readHead(head: JsonObject, reply: ReplyBuilder): void {
  reply.id = stringOf(head['id']) ?? reply.id;
  reply.model = stringOf(head['modelId']) ?? reply.model;
}

function readStreamPart(part: JsonObject, reply: ReplyBuilder): void {
  const id = stringOf(part['id']) ?? '';
  const delta = stringOf(part['delta']);
  switch (part['type']) {
    case 'response-metadata':
      readHead(part, reply);
      break;
    case 'text-delta':
      reply.text(0, id, delta);
      break;
    case 'reasoning-delta':
      reply.reasoning(0, id, delta);
      break;
    case 'tool-input-start':
      reply.toolCall(0, id, { id, name: stringOf(part['toolName']) });
      break;
    case 'tool-input-delta':
      reply.toolCall(0, id, { addedArguments: delta });
      break;
    case 'tool-call': {
      const call = stringOf(part['toolCallId']) ?? '';
      const value = parseArguments(part['input']);
      reply.toolCall(0, call, { id: call, name: stringOf(part['toolName']), value });
      break;
    }
    case 'finish':
      readEnd(part, reply);
      break;
    case 'error':
      if (typeof part['error'] === 'string' || isObject(part['error'])) readErrorBody(part, reply);
      break;
    default:
      if (part['type'] === undefined) readErrorBody(part, reply);
  }
}

/** Specification 3 has reason and token counts as objects, 2 as plain values. */
function readEnd(end: JsonObject, reply: ReplyBuilder): void {
  const reason = end['finishReason'];
  reply.finish(stringOf(reason) ?? stringOf(objectOf(reason)['unified']));
  const usage = objectOf(end['usage']);
  const [input, output] = [usage['inputTokens'], usage['outputTokens']];
  reply.count({
    input: numberOf(input) ?? numberOf(objectOf(input)['total']),
    output: numberOf(output) ?? numberOf(objectOf(output)['total']),
    cacheRead: numberOf(usage['cachedInputTokens']) ?? numberOf(objectOf(input)['cacheRead']),
    cacheCreation: numberOf(objectOf(input)['cacheWrite']),
    reasoning: numberOf(usage['reasoningTokens']) ?? numberOf(objectOf(output)['reasoning']),
  });
  reply.done = true;
}
