/** Token usage of a model's reply, in the formats of OpenAI (both APIs), Anthropic, and the AI SDK. */
import { isObject, numberOf, objectOf } from '../../agent/calls/json.ts';
import type { Spent } from './layout.ts';

/** `{spent}` if the value contains its usage, otherwise empty. */
export function usageOf(value: unknown): { spent?: Spent } {
  if (!isObject(value) || !isObject(value['usage'])) return {};
  const usage = objectOf(value['usage']);
  const inputTokens = numberOf(usage['input_tokens'] ?? usage['prompt_tokens'] ?? usage['inputTokens']);
  const outputTokens = numberOf(
    usage['output_tokens'] ?? usage['completion_tokens'] ?? usage['outputTokens'],
  );
  if (inputTokens === undefined && outputTokens === undefined) return {};
  return {
    spent: {
      ...(inputTokens !== undefined && { inputTokens }),
      ...(outputTokens !== undefined && { outputTokens }),
    },
  };
}
