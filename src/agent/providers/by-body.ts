/**
 * A request to an address that no format knows, on a path that sounds like one of a model (`/llm/chat`, `/invocations`,
 * `/generate`): its body alone shows whether it is a model call, and which format its reply has. Stricter than the formats
 * with an address of their own, because nothing else speaks for it.
 */
import { arrayOf, compact, isObject, type JsonObject, numberOf, objectOf, stringOf } from '../calls/json.ts';
import { textMessage } from '../calls/message-parts.ts';
import type { ModelRequest, ProviderFormat, RequestTarget } from '../calls/model-call.ts';
import type { ReplyBuilder } from '../calls/reply.ts';
import { readSettings } from '../calls/request-attributes.ts';
import { anthropic } from './anthropic.ts';
import { bedrock } from './bedrock.ts';
import {
  isContents,
  isConversation,
  isConverse,
  isInputItems,
  isPrompt,
  modelIn,
  settingsIn,
} from './body-shape.ts';
import { cohere } from './cohere.ts';
import { readErrorBody } from './error-body.ts';
import { gemini } from './gemini.ts';
import { generic, providerAt } from './generic.ts';
import { chatTextAt } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';

const words =
  /(?:^|[/:._@-])(?:chats?|complet\w*|messages?|responses?|respond|generat\w*|converse\w*|invoke\w*|invocations?|infer\w*|predict\w*|llms?|ask|prompts?|models?|ai|gpt|claude|gemini|agents?|run|text)(?=$|[/:._-])/i;

export const byBody: ProviderFormat = {
  providerName: ({ host }) => providerAt(host),
  matches: ({ path }) => words.test(path),
  readRequest,
  readReply: generic.readReply,
  readEvent: generic.readEvent,
  textAt: chatTextAt,
};

function readRequest(body: JsonObject, target: RequestTarget): ModelRequest | undefined {
  const format = formatOf(body, target);
  if (!format) return undefined;
  const request = format === text ? readText(body) : format.readRequest(body, addressOf(format, target));
  const model = modelIn(body) ?? request?.model;
  return request && ({ ...compact({ ...request, model }), format } as ModelRequest);
}

/** The format that the body has; undefined if it is none of a model. Ordered from the shape that is most peculiar. */
function formatOf(body: JsonObject, { header }: RequestTarget): ProviderFormat | undefined {
  const { messages, contents, input, prompt, inputs } = body;
  const figures = settingsIn(body);
  const isNamed = modelIn(body) !== undefined;
  if (Array.isArray(messages)) {
    if (!isConversation(messages) || !(isNamed || figures)) return undefined;
    if (header?.('anthropic-version') || isAnthropic(body)) return anthropic;
    return isObject(body['inferenceConfig']) && isConverse(messages) ? bedrock : generic;
  }
  if (contents !== undefined) return isContents(contents) ? gemini : undefined;
  if (typeof body['message'] === 'string') return Array.isArray(body['chat_history']) ? cohere : undefined;
  if (isInputItems(input) && isNamed) return openaiResponses;
  if (typeof input === 'string' && isNamed && (figures || typeof body['instructions'] === 'string'))
    return body['model_id'] === undefined ? openaiResponses : text;
  const asked = prompt ?? inputs ?? objectOf(input)['prompt'];
  const all = figures + settingsIn(objectOf(input));
  return isPrompt(asked) && all ? text : undefined;
}

function isAnthropic({ anthropic_version: version, system, tools, thread }: JsonObject): boolean {
  return (
    version !== undefined ||
    thread !== undefined ||
    typeof system === 'string' ||
    Array.isArray(system) ||
    arrayOf(tools).some((tool) => objectOf(tool)['input_schema'] !== undefined)
  );
}

/** The readers of some formats look at the path for what theirs says. */
function addressOf(format: ProviderFormat, target: RequestTarget): RequestTarget {
  if (format === cohere) return { ...target, path: '/v1/chat' };
  if (format === generic) return { ...target, path: '/chat/completions' };
  return target;
}

function readText(body: JsonObject): ModelRequest {
  const input = objectOf(body['input']);
  const asked = body['prompt'] ?? body['inputs'] ?? input['prompt'] ?? body['input'];
  return compact({
    operation: 'text_completion' as const,
    messages: (Array.isArray(asked) ? asked : [asked]).map((prompt) => textMessage('user', String(prompt))),
    stream: body['stream'] === true,
    attributes: readSettings({ ...body, ...objectOf(body['parameters']), ...input }),
  }) as ModelRequest;
}

/** Prompt in, text out, as Text Generation Inference, llama.cpp, vLLM, watsonx and Replicate have it. */
export const text: ProviderFormat = {
  providerName: byBody.providerName,
  matches: () => false,
  readRequest: readText,
  readReply: (value, reply) => readGenerated(Array.isArray(value) ? value[0] : value, reply),
  readEvent(_name, value, reply) {
    const event = objectOf(value);
    const piece =
      stringOf(objectOf(event['token'])['text']) ?? stringOf(event['content']) ?? stringOf(event['text']);
    if (piece !== undefined) reply.text(0, 0, piece);
    else readErrorBody(event, reply);
    if (event['stop'] === true || event['generated_text'] || event['details'] || value === undefined)
      reply.done = true;
  },
};

function readGenerated(value: unknown, reply: ReplyBuilder): void {
  const body = objectOf(value);
  const first = objectOf(arrayOf(body['results'])[0] ?? arrayOf(body['choices'])[0]);
  const places = [
    body['generated_text'],
    first['generated_text'],
    first['text'],
    body['text'],
    body['content'],
  ];
  const found = [...places, body['response'], body['output']].flat().filter((one) => typeof one === 'string');
  if (!found.length && readErrorBody(body, reply)) return;
  const isPieces = Array.isArray(body['output']);
  reply.text(0, 0, isPieces ? found.join('') : (found[0] as string | undefined));
  reply.finish(stringOf(first['stop_reason']) ?? stringOf(body['finish_reason']));
  reply.count({
    input: numberOf(first['input_token_count']) ?? numberOf(body['tokens_evaluated']),
    output: numberOf(first['generated_token_count']) ?? numberOf(body['tokens_predicted']),
  });
  reply.done = true;
}
