/**
 * Sampling parameters and limits of a request, under the names of the GenAI conventions. Providers differ only in their own
 * names for them.
 */
import type { Attributes } from '../../journal/layout/agent.ts';
import type { JsonObject } from './json.ts';

/** Convention names by the provider names that several providers share. */
const sharedNames: Record<string, string> = {
  max_tokens: 'max_tokens',
  max_completion_tokens: 'max_tokens',
  max_output_tokens: 'max_tokens',
  maxOutputTokens: 'max_tokens',
  maxTokens: 'max_tokens',
  num_predict: 'max_tokens',
  temperature: 'temperature',
  top_p: 'top_p',
  topP: 'top_p',
  top_k: 'top_k',
  topK: 'top_k',
  seed: 'seed',
  n: 'choice.count',
  candidateCount: 'choice.count',
  frequency_penalty: 'frequency_penalty',
  presence_penalty: 'presence_penalty',
  stop: 'stop_sequences',
  stop_sequences: 'stop_sequences',
  stopSequences: 'stop_sequences',
};

/** Attributes from an object that contains a request's settings. Values of an unexpected type are left out. */
export function readSettings(settings: JsonObject): Attributes {
  const attributes: Attributes = {};
  for (const [theirs, ours] of Object.entries(sharedNames)) {
    const value = settings[theirs];
    const texts = typeof value === 'string' && ours === 'stop_sequences' ? [value] : value;
    if (typeof texts === 'number' || isTextList(texts)) attributes[`gen_ai.request.${ours}`] = texts;
  }
  return attributes;
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.length < 100 && value.every((item) => typeof item === 'string');
}
