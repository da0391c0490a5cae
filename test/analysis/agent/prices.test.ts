/** The cost of a call: only if vendor, model and counts are known. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prices } from '../../../src/analysis/agent/calls/price-table.ts';
import { computeCost } from '../../../src/analysis/agent/calls/prices.ts';

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

test('a long input costs more, all of it; what Gemini thought is output', () => {
  const long = { input_tokens: 3e5, output_tokens: 1e5 };
  assert.equal(cost('openai', 'gpt-6.1-terra', long)?.toFixed(3), '1.350');
  assert.equal(cost('openai', 'gpt-6.1-terra', { ...long, input_tokens: 2e5 })?.toFixed(3), '0.700');
  assert.equal(cost('anthropic', 'claude-haiku-5-5', { input_tokens: 1e4, output_tokens: 1e4 }), 0.006);
  const cached = { input_tokens: 1e4, output_tokens: 1e4, 'cache_read.input_tokens': 2e5 };
  assert.equal(cost('anthropic', 'claude-haiku-5-5', cached)?.toFixed(4), '0.0400');
  const thought = { input_tokens: 0, output_tokens: 1e6, 'reasoning.output_tokens': 1e6 };
  assert.equal(cost('gcp.gemini', 'gemini-2.5-flash', thought), 5);
});

test('every price has its day, and no part of it is dearer than the whole', () => {
  for (const [name, price] of Object.values(prices).flatMap((table) => Object.entries(table))) {
    assert.match(price.checked, /^202[5-9]-\d\d-\d\d$/, name);
    assert.ok(price.input > 0 && price.output >= price.input, name);
    assert.ok((price.cacheRead ?? 0) < price.input && (price.cacheWrite ?? Infinity) > price.input, name);
  }
});

test('what is not known costs nothing that is said', () => {
  assert.equal(cost('openai_compatible', 'gpt-4o', million), undefined, 'another host');
  assert.equal(cost('openai', 'gpt-4o-audio-preview', million), undefined, 'another model');
  assert.equal(cost('openai', 'constructor', million), undefined);
  assert.equal(cost('openai', 'gpt-4o', {}), undefined, 'no counts');
});
