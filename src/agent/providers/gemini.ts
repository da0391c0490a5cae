/**
 * Google's generateContent and streamGenerateContent (Gemini API and Vertex AI). Source: Gemini API reference,
 * "GenerateContentRequest", "GenerateContentResponse".
 */
import type { Message, MessagePart } from '../../journal/layout/agent.ts';
import { arrayOf, compact, isObject, type JsonObject, numberOf, objectOf, stringOf } from '../calls/json.ts';
import { blobPart, contentParts, otherPart } from '../calls/message-parts.ts';
import type { ModelRequest, ProviderFormat, RequestTarget } from '../calls/model-call.ts';
import type { ReplyBuilder } from '../calls/reply.ts';
import { readSettings } from '../calls/request-attributes.ts';
import { readErrorBody } from './error-body.ts';

const path = /\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;

export const gemini: ProviderFormat = {
  providerName: ({ host }) => (host.includes('aiplatform') ? 'gcp.vertex_ai' : 'gcp.gemini'),
  matches: (target) => path.test(target.path),
  readRequest,
  readReply(value, reply) {
    // Without `alt=sse` a stream is one JSON array of the same chunks.
    for (const chunk of Array.isArray(value) ? value : [value]) readChunk(objectOf(chunk), reply);
    reply.done = true;
  },
  readEvent: (_name, value, reply) => readChunk(objectOf(value), reply),
};

function readRequest(body: JsonObject, target: RequestTarget): ModelRequest | undefined {
  if (!Array.isArray(body['contents'])) return undefined;
  const system = objectOf(body['systemInstruction'] ?? body['system_instruction']);
  const match = path.exec(target.path);
  return compact({
    operation: 'generate_content' as const,
    model: match?.[1],
    messages: body['contents'].filter(isObject).map(readContent),
    system: Object.keys(system).length ? { ...readContent(system), role: 'system' } : undefined,
    tools: body['tools'],
    stream: match?.[2] === 'streamGenerateContent',
    attributes: readSettings(objectOf(body['generationConfig'])),
  }) as ModelRequest;
}

function readContent(content: JsonObject): Message {
  const role = stringOf(content['role']) ?? 'user';
  return { role: role === 'model' ? 'assistant' : role, parts: contentParts(content['parts'], readPart) };
}

function readPart(part: JsonObject): MessagePart {
  const text = stringOf(part['text']);
  if (text !== undefined) return { type: part['thought'] === true ? 'reasoning' : 'text', content: text };
  if (isObject(part['functionCall'])) {
    const { id, name, args } = part['functionCall'];
    const call = { type: 'tool_call', id: stringOf(id), name: stringOf(name) ?? '', arguments: args };
    return compact(call) as MessagePart;
  }
  if (isObject(part['functionResponse'])) {
    const { id, name, response } = part['functionResponse'];
    return compact({
      type: 'tool_call_response' as const,
      id: stringOf(id),
      name: stringOf(name),
      response,
    }) as MessagePart;
  }
  if (isObject(part['inlineData']))
    return blobPart(
      stringOf(part['inlineData']['mimeType']) ?? '',
      stringOf(part['inlineData']['data']) ?? '',
    );
  if (isObject(part['fileData']))
    return { type: 'uri', modality: 'document', uri: stringOf(part['fileData']['fileUri']) ?? '' };
  return otherPart(part, Object.keys(part)[0]);
}

/** A whole reply and a chunk of a stream have the same shape. In a stream each text continues the previous one. */
function readChunk(chunk: JsonObject, reply: ReplyBuilder): void {
  if (readErrorBody(chunk, reply)) return;
  reply.id = stringOf(chunk['responseId']) ?? reply.id;
  reply.model = stringOf(chunk['modelVersion']) ?? reply.model;
  for (const candidate of arrayOf(chunk['candidates']).map(objectOf)) {
    const key = numberOf(candidate['index']) ?? 0;
    for (const part of readContent(objectOf(candidate['content'])).parts) addPart(key, part, reply);
    const reason = stringOf(candidate['finishReason']);
    reply.finish(reason);
    if (reason) reply.done = true;
  }
  const usage = objectOf(chunk['usageMetadata']);
  reply.count({
    input: numberOf(usage['promptTokenCount']),
    output: numberOf(usage['candidatesTokenCount']),
    cacheRead: numberOf(usage['cachedContentTokenCount']),
    reasoning: numberOf(usage['thoughtsTokenCount']),
  });
}

function addPart(key: number, part: MessagePart, reply: ReplyBuilder): void {
  const at = reply.partCount(key);
  if (part.type === 'text') reply.text(key, 0, part.content);
  else if (part.type === 'reasoning') reply.reasoning(key, 0, part.content);
  else if (part.type === 'tool_call')
    reply.toolCall(key, at, { id: part.id, name: part.name, value: part.arguments });
  else reply.whole(key, at, part);
}
