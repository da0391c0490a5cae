/**
 * The shapes of the bodies that model APIs take, apart from any address: what distinguishes a request to a model from an
 * ordinary JSON request that happens to have a field `messages`, `prompt` or `input`. A list may be empty here, because of a
 * repeated conversation only the new messages are read (`request-memory.ts`).
 */
import { arrayOf, isObject, type JsonObject, objectOf, stringOf } from '../calls/json.ts';

const roles = /^(?:system|developer|user|assistant|model|tool|function|chatbot|ai|human)$/i;
const contentFields = ['content', 'parts', 'tool_calls', 'toolCalls', 'function_call', 'tool_call_id'];

/** Fields that only a request to a language model has. `n`, `seed`, `stream` and `temperature` also occur elsewhere. */
const settings = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'maxOutputTokens',
  'maxTokens',
  'max_new_tokens',
  'max_tokens_to_sample',
  'n_predict',
  'num_predict',
  'top_p',
  'topP',
  'top_k',
  'topK',
  'stop_sequences',
  'stopSequences',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'decoding_method',
  'tool_choice',
  'response_format',
  'stream_options',
  'reasoning_effort',
  'system_prompt',
  'logit_bias',
];

/** The model that the body names. Empty if an Azure deployment is named by the path. */
export function modelIn(body: JsonObject): string | undefined {
  return stringOf(body['model']) || stringOf(body['model_id']) || stringOf(body['modelId']) || undefined;
}

/** How many settings of a language model the body has, itself or where some APIs group them. */
export function settingsIn(body: JsonObject): number {
  const groups = ['parameters', 'options', 'inferenceConfig', 'generationConfig', 'textGenerationConfig'];
  const named = [body, ...groups.map((group) => objectOf(body[group]))].flatMap((place) =>
    settings.filter((name) => place[name] !== undefined && place[name] !== null),
  );
  return named.length + (hasTools(body) ? 1 : 0);
}

/** Tools with a name, as every model API has them, directly, under `function` or under Gemini's and Bedrock's lists. */
function hasTools({ tools, toolConfig }: JsonObject): boolean {
  const list = [...arrayOf(tools), ...arrayOf(objectOf(toolConfig)['tools'])].filter(isObject);
  return list.some(
    (tool) =>
      isObject(tool['function']) ||
      tool['input_schema'] !== undefined ||
      isObject(tool['toolSpec']) ||
      Array.isArray(tool['functionDeclarations'] ?? tool['function_declarations']) ||
      (typeof tool['name'] === 'string' && tool['parameters'] !== undefined),
  );
}

/** A conversation: every message has the role of one side of it, and content or a call of a tool. */
export function isConversation(list: unknown): list is JsonObject[] {
  return (
    Array.isArray(list) &&
    list.every(
      (message) =>
        isObject(message) &&
        roles.test(String(message['role'])) &&
        contentFields.some((field) => message[field] !== undefined),
    )
  );
}

/** Gemini's `contents`. */
export function isContents(list: unknown): boolean {
  return Array.isArray(list) && list.every((content) => isObject(content) && Array.isArray(content['parts']));
}

/** Input items of OpenAI's Responses API. */
export function isInputItems(input: unknown): boolean {
  return (
    Array.isArray(input) &&
    input.every(
      (item) => isObject(item) && (roles.test(String(item['role'])) || typeof item['type'] === 'string'),
    )
  );
}

/** Messages of Bedrock's Converse: the blocks of their content have no `type`, but one field that names it. */
export function isConverse(list: unknown): boolean {
  const blocks = isConversation(list) ? list.map(({ content }) => content) : [undefined];
  return blocks.every(
    (content) =>
      Array.isArray(content) && content.every((block) => isObject(block) && block['type'] === undefined),
  );
}

export function isPrompt(prompt: unknown): boolean {
  if (typeof prompt === 'string') return prompt !== '';
  return Array.isArray(prompt) && prompt.length > 0 && prompt.every((one) => typeof one === 'string');
}
