/**
 * Any host that implements OpenAI's chat, completions or embeddings. The provider is named after the host if that is known. A
 * body of another shape is not read.
 */
import { arrayOf, compact, isObject, type JsonObject, numberOf, objectOf, stringOf } from '../calls/json.ts';
import { textMessage } from '../calls/message-parts.ts';
import type { ModelRequest, ProviderFormat } from '../calls/model-call.ts';
import { readSettings } from '../calls/request-attributes.ts';
import {
  chatTextAt,
  isAzureHost,
  isOpenaiHost,
  readChatEvent,
  readChatReply,
  readChatRequest,
  withDeployment,
} from './openai-chat.ts';

/** Suffix of the host's name → `gen_ai.provider.name`. */
const knownHosts: [ending: string, name: string][] = [
  ['x.ai', 'x_ai'],
  ['deepseek.com', 'deepseek'],
  ['groq.com', 'groq'],
  ['mistral.ai', 'mistral_ai'],
  ['cohere.com', 'cohere'],
  ['cohere.ai', 'cohere'],
  ['perplexity.ai', 'perplexity'],
  ['moonshot.cn', 'moonshot_ai'],
  ['moonshot.ai', 'moonshot_ai'],
  ['openrouter.ai', 'openrouter'],
  ['together.xyz', 'together_ai'],
  ['together.ai', 'together_ai'],
  ['fireworks.ai', 'fireworks_ai'],
  ['cerebras.ai', 'cerebras'],
  ['huggingface.co', 'hugging_face'],
  ['api.nvidia.com', 'nvidia'],
  ['models.github.ai', 'github_models'],
  ['ai-gateway.vercel.sh', 'vercel_ai_gateway'],
  ['aiplatform.googleapis.com', 'gcp.vertex_ai'],
  ['googleapis.com', 'gcp.gemini'],
];

/** The name of the provider that serves OpenAI's formats at this host. */
export function providerAt(host: string): string {
  if (isAzureHost(host)) return 'azure.ai.openai';
  if (isOpenaiHost(host)) return 'openai';
  // `europe-west1-aiplatform.googleapis.com`
  const name = host.replace(/^[\w-]+-aiplatform\./, 'aiplatform.');
  const known = knownHosts.find(([ending]) => name === ending || name.endsWith(`.${ending}`));
  return known?.[1] ?? 'openai_compatible';
}

export const generic: ProviderFormat = {
  providerName: ({ host }) => providerAt(host),
  matches: ({ path }) => path.endsWith('/completions') || path.endsWith('/embeddings'),
  readRequest(body, { path }) {
    const named = withDeployment(body, path);
    if (path.endsWith('/embeddings')) return readEmbeddings(named);
    if (Array.isArray(body['messages'])) return readChatRequest(named);
    return readCompletion(named);
  },
  readReply(value, reply) {
    const body = objectOf(value);
    if (body['data'] === undefined) return readChatReply(body, reply);
    reply.model = stringOf(body['model']);
    reply.count({ input: numberOf(objectOf(body['usage'])['prompt_tokens']) });
    reply.done = true;
  },
  readEvent: readChatEvent,
  textAt: chatTextAt,
};

function readCompletion(body: JsonObject): ModelRequest | undefined {
  const prompts = (Array.isArray(body['prompt']) ? body['prompt'] : [body['prompt']]).filter(
    (prompt) => typeof prompt === 'string',
  );
  if (!prompts.length) return undefined;
  return compact({
    operation: 'text_completion' as const,
    model: stringOf(body['model']),
    messages: prompts.map((prompt) => textMessage('user', prompt)),
    stream: body['stream'] === true,
    attributes: readSettings(body),
  }) as ModelRequest;
}

/** Only the number of inputs to embed is recorded: they are data, not conversation. */
function readEmbeddings(body: JsonObject): ModelRequest | undefined {
  if (body['input'] === undefined || isObject(body['input'])) return undefined;
  return compact({
    operation: 'embeddings' as const,
    model: stringOf(body['model']),
    messages: [],
    attributes: { 'agentdump.request.inputs': Math.max(1, arrayOf(body['input']).length) },
  }) as ModelRequest;
}
