/** What a call cost: only where vendor, model and counts are known. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeCost } from '../../../src/analysis/agent/prices.ts';

const cost = (provider: string, model: string, usage: Record<string, number>) =>
  computeCost({
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model,
    ...Object.fromEntries(Object.entries(usage).map(([name, value]) => [`gen_ai.usage.${name}`, value])),
  })?.usd;
const million = { input_tokens: 1e6, output_tokens: 1e6 };

test('a million tokens each way', () => {
  assert.equal(cost('openai', 'gpt-4o-mini', million), 0.75);
  assert.equal(cost('openai', 'gpt-4o-2024-08-06', million), 12.5);
  assert.equal(cost('anthropic', 'claude-3-haiku-20240307', million), 1.5);
});

test('OpenAI counts cached tokens among the input, Anthropic beside it', () => {
  const usage = { input_tokens: 1e6, 'cache_read.input_tokens': 1e6 };
  assert.equal(cost('openai', 'gpt-4o', usage), 1.25);
  assert.equal(cost('anthropic', 'claude-3-5-haiku-latest', usage)?.toFixed(3), '0.880');
});

test('what is not known costs nothing that is said', () => {
  assert.equal(cost('openai_compatible', 'gpt-4o', million), undefined, 'another host');
  assert.equal(cost('openai', 'gpt-4o-audio-preview', million), undefined, 'another model');
  assert.equal(cost('openai', 'constructor', million), undefined);
  assert.equal(cost('openai', 'gpt-4o', {}), undefined, 'no counts');
});
