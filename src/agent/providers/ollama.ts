/** Ollama's own chat, generate and embed APIs, streamed as lines of JSON. Source: Ollama's docs/api.md. */
import { arrayOf, compact, isObject, type JsonObject, numberOf, objectOf, stringOf } from '../calls/json.ts';
import { blobPart, textMessage } from '../calls/message-parts.ts';
import type { ModelRequest, ProviderFormat, RequestTarget } from '../calls/model-call.ts';
import type { ReplyBuilder } from '../calls/reply.ts';
import { readSettings } from '../calls/request-attributes.ts';
import { readErrorBody } from './error-body.ts';
import { readChatMessage } from './openai-chat.ts';

export const ollama: ProviderFormat = {
  providerName: () => 'ollama',
  matches: ({ path }) => /\/api\/(?:chat|generate|embed|embeddings)$/.test(path),
  readRequest,
  readReply: (value, reply) => readLine(objectOf(value), reply),
  readEvent: (_name, value, reply) => readLine(objectOf(value), reply),
};

function readRequest(body: JsonObject, { path }: RequestTarget): ModelRequest | undefined {
  const { messages, prompt, system } = body;
  if (/\/embed(?:dings)?$/.test(path)) return readEmbed(body);
  const isGenerate = path.endsWith('/api/generate');
  if (isGenerate ? typeof prompt !== 'string' : !Array.isArray(messages)) return undefined;
  return compact({
    operation: isGenerate ? ('text_completion' as const) : ('chat' as const),
    model: stringOf(body['model']),
    messages: isGenerate
      ? [textMessage('user', prompt as string)]
      : (messages as unknown[]).filter(isObject).map(readMessage),
    system: typeof system === 'string' && system ? textMessage('system', system) : undefined,
    tools: body['tools'],
    stream: body['stream'] !== false,
    attributes: readSettings(objectOf(body['options'])),
  }) as ModelRequest;
}

/** Only the number of inputs to embed is recorded, as for OpenAI's embeddings. */
function readEmbed(body: JsonObject): ModelRequest | undefined {
  const input = body['input'] ?? body['prompt'];
  if (input === undefined || isObject(input)) return undefined;
  return compact({
    operation: 'embeddings' as const,
    model: stringOf(body['model']),
    messages: [],
    attributes: { 'agentdump.request.inputs': Math.max(1, arrayOf(input).length) },
  }) as ModelRequest;
}

function readMessage(message: JsonObject) {
  const { thinking, tool_name, images } = message;
  const read = readChatMessage({ ...message, reasoning: thinking, name: tool_name ?? message['name'] });
  if (Array.isArray(images))
    for (const image of images)
      if (typeof image === 'string') read.parts.push(blobPart('image/unknown', image));
  return read;
}

/** A line of a stream and a whole reply have the same shape. */
function readLine(line: JsonObject, reply: ReplyBuilder): void {
  if (typeof line['error'] === 'string') {
    readErrorBody(line, reply);
    return;
  }
  reply.model = stringOf(line['model']) ?? reply.model;
  const message = objectOf(line['message']);
  reply.reasoning(0, 0, stringOf(message['thinking']) ?? stringOf(line['thinking']));
  reply.text(0, 0, stringOf(message['content']) ?? stringOf(line['response']));
  for (const part of readChatMessage({ role: 'assistant', tool_calls: message['tool_calls'] }).parts)
    if (part.type === 'tool_call')
      reply.toolCall(0, reply.partCount(0), { id: part.id, name: part.name, value: part.arguments });
  if (line['embeddings'] !== undefined || line['embedding'] !== undefined) {
    reply.count({ input: numberOf(line['prompt_eval_count']) });
    reply.done = true;
  }
  if (line['done'] !== true) return;
  reply.finish(stringOf(line['done_reason']) ?? 'stop');
  reply.count({ input: numberOf(line['prompt_eval_count']), output: numberOf(line['eval_count']) });
  reply.done = true;
}
