/**
 * Cohere's chat API, versions 2 and 1, plain and streamed, and its embeddings. Source: Cohere API reference, "Chat V2", "Chat
 * with Streaming (V2)", "Chat (V1)", "Embed".
 */
import { arrayOf, compact, isObject, type JsonObject, numberOf, objectOf, stringOf } from '../calls/json.ts';
import { textMessage } from '../calls/message-parts.ts';
import type { ModelRequest, ProviderFormat } from '../calls/model-call.ts';
import type { ReplyBuilder } from '../calls/reply.ts';
import { readSettings } from '../calls/request-attributes.ts';
import { readErrorBody } from './error-body.ts';
import { readChatMessage } from './openai-chat.ts';

const isChat = (path: string): boolean => /\/v[12]\/chat$/.test(path);
const isEmbed = (path: string): boolean => /\/v[12]\/embed$/.test(path);

export const cohere: ProviderFormat = {
  providerName: () => 'cohere',
  matches: ({ path }) => isChat(path) || isEmbed(path),
  readRequest(body, { path }) {
    if (isEmbed(path)) return readEmbed(body);
    return path.endsWith('/v1/chat') ? readFirstChat(body) : readChat(body);
  },
  readReply(value, reply) {
    const body = objectOf(value);
    reply.id = stringOf(body['id']) ?? stringOf(body['response_id']) ?? reply.id;
    if (!isObject(body['message']) && body['text'] === undefined && body['embeddings'] === undefined) {
      readErrorBody(body, reply);
      return;
    }
    readMessage(isObject(body['message']) ? body['message'] : firstMessage(body)).forEach((part, at) => {
      reply.whole(0, at, part);
    });
    readEnd(body, reply);
  },
  readEvent(name, value, reply) {
    const event = objectOf(value);
    if (event['event_type'] !== undefined) readFirstEvent(event, reply);
    else readChatEvent(stringOf(event['type']) ?? name, event, reply);
  },
};

function readChat(body: JsonObject): ModelRequest | undefined {
  const list = body['messages'];
  if (!Array.isArray(list) || typeof body['model'] !== 'string') return undefined;
  return compact({
    operation: 'chat' as const,
    model: body['model'],
    messages: list.filter(isObject).map((message) => readChatMessage(withPlan(message))),
    tools: body['tools'],
    stream: body['stream'] === true,
    attributes: readSettings(withSampling(body)),
  }) as ModelRequest;
}

/** Version 1 has the question in a field separate from the chat history. */
function readFirstChat(body: JsonObject): ModelRequest | undefined {
  const { message, preamble } = body;
  if (typeof message !== 'string') return undefined;
  const before = arrayOf(body['chat_history']).filter(isObject);
  return compact({
    operation: 'chat' as const,
    model: stringOf(body['model']),
    messages: [
      ...before.map((one) => textMessage(roleOfFirst(one['role']), stringOf(one['message']) ?? '')),
      textMessage('user', message),
    ],
    system: typeof preamble === 'string' ? textMessage('system', preamble) : undefined,
    tools: body['tools'],
    stream: body['stream'] === true,
    attributes: readSettings(withSampling(body)),
  }) as ModelRequest;
}

/** Only the number of inputs to embed is recorded, as for OpenAI's embeddings. */
function readEmbed(body: JsonObject): ModelRequest | undefined {
  const count = ['texts', 'inputs', 'images'].reduce((sum, name) => sum + arrayOf(body[name]).length, 0);
  if (!count) return undefined;
  return compact({
    operation: 'embeddings' as const,
    model: stringOf(body['model']),
    messages: [],
    attributes: { 'agentdump.request.inputs': count },
  }) as ModelRequest;
}

const firstRoles: Record<string, string> = { CHATBOT: 'assistant', SYSTEM: 'system', TOOL: 'tool' };
const roleOfFirst = (role: unknown): string => firstRoles[String(role)] ?? 'user';

/** Cohere's `tool_plan` is recorded as reasoning. */
const withPlan = (message: JsonObject): JsonObject => ({ ...message, reasoning: message['tool_plan'] });
const withSampling = (body: JsonObject): JsonObject => ({ ...body, top_p: body['p'], top_k: body['k'] });

const readMessage = (message: JsonObject) =>
  readChatMessage({ role: 'assistant', ...withPlan(message) }).parts;

/** Converts a reply of version 1 to version 2. */
function firstMessage({ text, tool_calls: calls }: JsonObject): JsonObject {
  return { content: text, tool_calls: arrayOf(calls).map(firstCall) };
}

function firstCall(call: unknown): JsonObject {
  const { name, parameters } = objectOf(call);
  return { function: { name, arguments: parameters } };
}

function readEnd(body: JsonObject, reply: ReplyBuilder): void {
  reply.finish(stringOf(body['finish_reason']));
  const usage = objectOf(body['usage'] ?? body['meta']);
  const tokens = objectOf(usage['tokens'] ?? usage['billed_units']);
  reply.count({ input: numberOf(tokens['input_tokens']), output: numberOf(tokens['output_tokens']) });
  reply.done = true;
}

function readChatEvent(type: string | undefined, event: JsonObject, reply: ReplyBuilder): void {
  const at = numberOf(event['index']) ?? 0;
  const delta = objectOf(event['delta']);
  const message = objectOf(delta['message']);
  const content = objectOf(message['content']);
  switch (type) {
    case 'message-start':
      reply.id = stringOf(event['id']) ?? reply.id;
      break;
    case 'tool-plan-delta':
      reply.reasoning(0, 'plan', stringOf(message['tool_plan']));
      break;
    case 'content-start':
    case 'content-delta':
      reply.reasoning(0, at, stringOf(content['thinking']));
      reply.text(0, at, stringOf(content['text']));
      break;
    case 'tool-call-start':
    case 'tool-call-delta': {
      const call = objectOf(message['tool_calls']);
      const target = objectOf(call['function']);
      reply.toolCall(0, at, {
        id: stringOf(call['id']),
        name: stringOf(target['name']),
        addedArguments: stringOf(target['arguments']),
      });
      break;
    }
    case 'message-end':
      if (typeof delta['error'] === 'string') reply.error = { message: delta['error'] };
      readEnd(delta, reply);
      break;
    default:
      if (type === undefined) readErrorBody(event, reply);
  }
}

/** Version 1 streams lines of JSON. */
function readFirstEvent(event: JsonObject, reply: ReplyBuilder): void {
  switch (event['event_type']) {
    case 'stream-start':
      reply.id = stringOf(event['generation_id']) ?? reply.id;
      break;
    case 'text-generation':
      reply.text(0, 0, stringOf(event['text']));
      break;
    case 'tool-calls-generation':
      arrayOf(event['tool_calls']).forEach((call, at) => {
        const { name, parameters } = objectOf(call);
        reply.toolCall(0, at, { name: stringOf(name), value: parameters });
      });
      break;
    case 'stream-end':
      readEnd({ ...objectOf(event['response']), finish_reason: event['finish_reason'] }, reply);
      break;
  }
}
