/**
 * Decides whether a request is a model call. At a host of a provider its address decides; anywhere else its body must have the
 * shape that the address promises, because ordinary services have paths such as `/v1/messages` or `/responses` too.
 */
import { isObject, type JsonObject, stringOf } from '../calls/json.ts';
import type { ModelRequest, ProviderFormat, RequestTarget } from '../calls/model-call.ts';
import { anthropic } from './anthropic.ts';
import { bedrock } from './bedrock.ts';
import { isContents, isConversation, isInputItems, isPrompt, modelIn, settingsIn } from './body-shape.ts';
import { byBody } from './by-body.ts';
import { cohere } from './cohere.ts';
import { gemini } from './gemini.ts';
import { generic, providerAt } from './generic.ts';
import { mistral } from './mistral.ts';
import { ollama } from './ollama.ts';
import { openaiChat, withDeployment } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';
import { vercel } from './vercel.ts';

type Test = (body: JsonObject, target: RequestTarget) => boolean;

const isNamedConversation: Test = (body) => isConversation(body['messages']) && modelIn(body) !== undefined;

/** What the body must be where the host is not known. */
const bodyTests = new Map<ProviderFormat, Test>([
  [openaiChat, () => true],
  [mistral, () => true],
  [byBody, () => true],
  [generic, isOpenaiLike],
  [openaiResponses, isResponses],
  [anthropic, isMessages],
  [gemini, ({ contents }) => isContents(contents)],
  [bedrock, isInvoked],
  [ollama, isOllama],
  [cohere, isCohere],
  [vercel, ({ prompt }, { header }) => !!header?.('ai-language-model-id') || isConversation(prompt)],
]);

/** The request that the body is; undefined if it is not a model call. Its attributes say on what that rests. */
export function readModelRequest(
  format: ProviderFormat,
  body: JsonObject,
  target: RequestTarget,
): ModelRequest | undefined {
  const isKnown = isProvidersHost(target.host) && format !== byBody;
  if (!isKnown && !bodyTests.get(format)?.(body, target)) return undefined;
  const request = format.readRequest(body, target);
  if (!request) return undefined;
  const basis = isKnown ? 'host' : format === byBody ? 'body' : 'path and body';
  return { ...request, attributes: { ...request.attributes, 'agentdump.recognized_by': basis } };
}

/** Whether the address alone shows a model call: its body may not have been seen. */
export function isModelAddress(format: ProviderFormat, { host, path, header }: RequestTarget): boolean {
  if (format === byBody) return false;
  if (isProvidersHost(host) || format === gemini) return true;
  if (format === anthropic) return header?.('anthropic-version') !== undefined;
  return /\/chat\/completions$|\/v1\/responses$|\/converse(?:-stream)?$/.test(path);
}

function isProvidersHost(host: string): boolean {
  return (
    providerAt(host) !== 'openai_compatible' ||
    /(?:^|\.)anthropic\.com$|^bedrock-runtime[.-].*\.amazonaws\.com(?:\.cn)?$/.test(host)
  );
}

function isOpenaiLike(raw: JsonObject, { path }: RequestTarget): boolean {
  const body = withDeployment(raw, path);
  const isNamed = modelIn(body) !== undefined;
  if (path.endsWith('/embeddings')) return isNamed;
  const isAsked = Array.isArray(body['messages'])
    ? isConversation(body['messages'])
    : isPrompt(body['prompt']);
  return isAsked && (isNamed || settingsIn(body) > 0);
}

function isResponses({ model, prompt, input }: JsonObject): boolean {
  if (typeof model !== 'string' && !isObject(prompt)) return false;
  return input === undefined || typeof input === 'string' || isInputItems(input);
}

/** Anthropic's API refuses requests without a limit of tokens. */
function isMessages(body: JsonObject, { header, path }: RequestTarget): boolean {
  const isTold = header?.('anthropic-version') !== undefined || body['anthropic_version'] !== undefined;
  const list = body['messages'] ?? [];
  if (isTold) return isConversation(list);
  if (!path.endsWith('/v1/messages')) return isConversation(body['messages']);
  return (
    isNamedConversation({ ...body, messages: list }, { host: '', path, query: '' }) && settingsIn(body) > 0
  );
}

/** `/model/name/invoke` may be any other model of a statistician. */
function isInvoked(body: JsonObject): boolean {
  const prompt = body['prompt'] ?? body['inputText'];
  return isConversation(body['messages']) || isPrompt(prompt);
}

function isOllama(body: JsonObject, { path }: RequestTarget): boolean {
  if (path.endsWith('/api/chat')) return isNamedConversation(body, { host: '', path, query: '' });
  const isGenerate = path.endsWith('/api/generate');
  return modelIn(body) !== undefined && (!isGenerate || typeof body['prompt'] === 'string');
}

function isCohere(body: JsonObject, target: RequestTarget): boolean {
  if (!target.path.endsWith('/v1/chat')) return modelIn(body) !== undefined;
  const { chat_history: before, preamble } = body;
  return modelIn(body) !== undefined || isConversationOfFirst(before) || stringOf(preamble) !== undefined;
}

/** The history of Cohere's version 1 has `message` where others have `content`. */
function isConversationOfFirst(list: unknown): boolean {
  return (
    Array.isArray(list) &&
    isConversation(list.map((one) => (isObject(one) ? { ...one, content: one['message'] } : one)))
  );
}
