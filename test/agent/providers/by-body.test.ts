/** Requests to hosts that nobody knows: which are model calls, by their bodies, and which only look like one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isObject, type JsonObject } from '../../../src/agent/calls/json.ts';
import { readModelRequest } from '../../../src/agent/providers/recognize.ts';
import { findFormat } from '../../../src/agent/providers/table.ts';
import { hostileBodies, messagesOf, readEvents, readWhole } from '../../support/agents/provider-call.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';

interface Asked {
  path: string;
  body: JsonObject;
  headers?: Record<string, string>;
}

function read({ path, body, headers = {} }: Asked, host = 'gateway.corp.internal') {
  const target = { host, path, query: '', header: (name: string) => headers[name] };
  const format = findFormat(target);
  return { format, request: format && readModelRequest(format, body, target) };
}

const user = [{ role: 'user', content: 'hello' }];
const blocks = [{ role: 'user', content: [{ text: 'hello' }] }];
const said = { max_tokens: 9 };

/** With the words of the prompt that must have been read. */
const calls: [name: string, asked: Asked][] = [
  ['chat completions', { path: '/v1/chat/completions', body: { model: 'm', messages: user } }],
  [
    'chat completions below a team',
    { path: '/team-a/openai/chat/completions', body: { model: 'm', messages: user } },
  ],
  ['a deployment of Azure', { path: '/openai/deployments/gpt/chat/completions', body: { messages: user } }],
  ['completions', { path: '/v1/completions', body: { model: 'm', prompt: 'hello' } }],
  ['responses', { path: '/v1/responses', body: { model: 'm', input: 'hello' } }],
  ['responses with items', { path: '/v1/responses', body: { model: 'm', input: user } }],
  ['messages', { path: '/v1/messages', body: { model: 'm', messages: user, ...said } }],
  [
    'messages of a client',
    { path: '/v1/messages', headers: { 'anthropic-version': '1' }, body: { messages: user } },
  ],
  [
    'generateContent',
    { path: '/g/v1beta/models/m:generateContent', body: { contents: [{ parts: [{ text: 'hello' }] }] } },
  ],
  ['converse', { path: '/model/m/converse', body: { messages: blocks } }],
  ['invoke', { path: '/model/m/invoke', body: { prompt: 'hello' } }],
  [
    'invoke of Anthropic',
    { path: '/model/m/invoke', body: { anthropic_version: 'b', messages: user, ...said } },
  ],
  ['Cohere 2', { path: '/v2/chat', body: { model: 'm', messages: user } }],
  ['Cohere 1', { path: '/v1/chat', body: { message: 'hello', chat_history: [] } }],
  ['Ollama chat', { path: '/api/chat', body: { model: 'm', messages: user } }],
  ['Ollama generate', { path: '/api/generate', body: { model: 'm', prompt: 'hello' } }],
  ['a gateway', { path: '/llm', body: { model: 'm', messages: user, temperature: 0 } }],
  [
    'a gateway to Anthropic',
    { path: '/proxy/claude/send', body: { model: 'm', system: 's', messages: user, ...said } },
  ],
  [
    'a gateway to Gemini',
    { path: '/ai/generate', body: { model: 'm', contents: [{ role: 'user', parts: [{ text: 'hello' }] }] } },
  ],
  ['Databricks', { path: '/serving-endpoints/dbrx/invocations', body: { messages: user, ...said } }],
  [
    'Bedrock below a path',
    { path: '/aws/model/m/converse', body: { messages: blocks, inferenceConfig: { maxTokens: 9 } } },
  ],
  ['Cloudflare', { path: '/client/v4/accounts/1/ai/run/@cf/meta/llama', body: { messages: user, ...said } }],
  ['watsonx chat', { path: '/ml/v1/text/chat', body: { model_id: 'm', messages: user } }],
  [
    'watsonx generation',
    {
      path: '/ml/v1/text/generation',
      body: { model_id: 'm', input: 'hello', parameters: { max_new_tokens: 9 } },
    },
  ],
  [
    'Text Generation Inference',
    { path: '/generate', body: { inputs: 'hello', parameters: { max_new_tokens: 9 } } },
  ],
  ['llama.cpp', { path: '/completion', body: { prompt: 'hello', n_predict: 9, temperature: 0 } }],
  [
    'Replicate',
    {
      path: '/v1/models/meta/llama/predictions',
      body: { input: { prompt: 'hello', temperature: 0, top_p: 1 } },
    },
  ],
  [
    'tools of a service',
    {
      path: '/agents/7/chat',
      body: { messages: user, tools: [{ type: 'function', function: { name: 'f' } }] },
    },
  ],
];

const others: [name: string, asked: Asked][] = [
  ['text messages', { path: '/v1/messages', body: { messages: [{ to: '+1', body: 'hello' }] } }],
  ['a queue', { path: '/v1/messages', body: { messages: [{ role: 'user', content: 'created' }] } }],
  ['a chat room', { path: '/api/chat', body: { room: 'r', messages: [{ from: 'a', text: 'hello' }] } }],
  [
    'a page that asks its own server',
    {
      path: '/api/chat',
      body: { id: '1', messages: [{ role: 'user', parts: [{ type: 'text', text: 'hello' }] }] },
    },
  ],
  ['a support chat', { path: '/v1/chat', body: { message: 'hello', customer: 7 } }],
  ['a survey', { path: '/forms/7/responses', body: { model: 'A4', input: { age: 7 } } }],
  ['a survey with a prompt', { path: '/v1/responses', body: { prompt: 'How was it?', input: 'fine' } }],
  ['a shell', { path: '/completions', body: { prompt: 'git com' } }],
  ['an embedding service', { path: '/embeddings', body: { input: ['a', 'b'] } }],
  ['an embedding proxy', { path: '/ai/embed', body: { texts: ['a'], model: 'm' } }],
  ['an embedding proxy of Cohere’s path', { path: '/v1/embed', body: { texts: ['a'] } }],
  ['images', { path: '/v1/images/generations', body: { model: 'm', prompt: 'a cat', n: 1, size: '1x1' } }],
  ['a report', { path: '/api/generate', body: { prompt: 'Q3', template: 'sales' } }],
  ['a classifier', { path: '/model/churn/invoke', body: { features: [1, 2] } }],
  ['a predictor', { path: '/predict', body: { inputs: [[1, 2]], parameters: { threshold: 1 } } }],
  [
    'an image classifier',
    { path: '/models/vit/infer', body: { inputs: 'iVBORw0', parameters: { threshold: 1 } } },
  ],
  [
    'roles of people',
    { path: '/chat/send', body: { model: 'T-1000', messages: [{ role: 'admin', content: 'hi' }] } },
  ],
  ['a sensor', { path: '/invoke', body: { model: 'DHT22', temperature: 21, input: 'port 3' } }],
  [
    'a thermostat',
    {
      path: '/ai/run',
      body: { model: 'T2', temperature: 21, prompt: 'warm' },
    },
  ],
  [
    'JSON-RPC',
    { path: '/messages', body: { jsonrpc: '2.0', method: 'tools/call', params: { messages: user } } },
  ],
  ['a document', { path: '/text', body: { contents: 'hello', parts: 3 } }],
];

test('a request of the shape of a model call is one, at any host', () => {
  for (const [name, asked] of calls) {
    const { request } = read(asked);
    assert.ok(request, name);
    assert.match(JSON.stringify(request.messages), /hello/, name);
    assert.match(String(request.attributes['agentdump.recognized_by']), /^(path and )?body$/, name);
  }
});

test('what only looks like a model call is none', () => {
  for (const [name, asked] of others) assert.equal(read(asked).request, undefined, name);
});

test('at the host of a provider the address is enough', () => {
  const { request } = read({ path: '/v1/messages', body: { messages: user } }, 'api.anthropic.com');
  assert.equal(request?.attributes['agentdump.recognized_by'], 'host');
});

test('the reply is read by the format that the body has', () => {
  const formatOf = (name: string) => {
    const asked = calls.find(([one]) => one === name)?.[1] as Asked;
    const { format, request } = read(asked);
    return request?.format ?? (format as NonNullable<typeof format>);
  };
  const texts = (name: string, body: unknown) => messagesOf(readWhole(formatOf(name), body));
  const answer = [{ role: 'assistant', parts: [{ type: 'text', content: 'yes' }] }];
  const choices = [{ message: { role: 'assistant', content: 'yes' } }];
  assert.deepEqual(texts('a gateway', { choices }), answer);
  assert.deepEqual(
    texts('a gateway to Anthropic', { role: 'assistant', content: [{ type: 'text', text: 'yes' }] }),
    answer,
  );
  const candidates = [{ content: { role: 'model', parts: [{ text: 'yes' }] } }];
  assert.deepEqual(texts('a gateway to Gemini', { candidates }), answer);
  const output = { message: { role: 'assistant', content: [{ text: 'yes' }] } };
  assert.deepEqual(texts('Bedrock below a path', { output }), answer);
  assert.deepEqual(texts('Text Generation Inference', [{ generated_text: 'yes' }]), answer);
  assert.deepEqual(texts('watsonx generation', { results: [{ generated_text: 'yes' }] }), answer);
  assert.deepEqual(texts('llama.cpp', { content: 'yes' }), answer);
  assert.deepEqual(texts('Replicate', { output: ['y', 'es'] }), answer);
  const streamed = readEvents(formatOf('Text Generation Inference'), [
    [undefined, { token: { text: 'y' } }],
    [undefined, { token: { text: 'es' }, generated_text: 'yes' }],
  ]);
  assert.deepEqual([messagesOf(streamed), streamed.done], [answer, true]);
});

test('a repeated conversation is recognized by the rest of its body', () => {
  for (const [name, { path, body, headers = {} }] of calls.filter(([, { body }]) => body['messages']))
    assert.ok(read({ path, headers, body: { ...body, messages: [] } }).request, name);
});

test('no body makes it throw', () => {
  const paths = [...calls, ...others].map(([, { path }]) => path);
  for (const path of paths) for (const body of hostileBodies) if (isObject(body)) read({ path, body });
  fc.assert(
    fc.property(fc.constantFrom(...paths), fc.object(), (path, body) => {
      read({ path, body });
    }),
    { numRuns: fuzzRuns(300) },
  );
});
