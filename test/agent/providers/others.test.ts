/** Gemini, Bedrock, Mistral, Ollama and the generic format; and what no reader may choke on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isObject } from '../../../src/agent/calls/json.ts';
import { ReplyBuilder } from '../../../src/agent/calls/reply.ts';
import { bedrock } from '../../../src/agent/providers/bedrock.ts';
import { gemini } from '../../../src/agent/providers/gemini.ts';
import { generic } from '../../../src/agent/providers/generic.ts';
import { mistral } from '../../../src/agent/providers/mistral.ts';
import { ollama } from '../../../src/agent/providers/ollama.ts';
import { findFormat } from '../../../src/agent/providers/table.ts';
import { fuzzRuns } from '../../support/fuzz-runs.ts';
import { hostileBodies, messagesOf, readEvents, readWhole, target } from '../../support/provider-call.ts';

test('Gemini: request, whole reply and stream', () => {
  const place = target(
    'generativelanguage.googleapis.com',
    '/v1beta/models/gemini-x:streamGenerateContent',
    'alt=sse',
  );
  const request = gemini.readRequest(
    {
      systemInstruction: { parts: [{ text: 'be kind' }] },
      generationConfig: { maxOutputTokens: 9 },
      contents: [
        { role: 'user', parts: [{ text: 'hello' }] },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: { q: 1 } } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { ok: true } } }] },
      ],
    },
    place,
  );
  assert.deepEqual([request?.model, request?.stream], ['gemini-x', true]);
  assert.deepEqual(request?.attributes, { 'gen_ai.request.max_tokens': 9 });
  assert.deepEqual(request?.messages.slice(1), [
    { role: 'assistant', parts: [{ type: 'tool_call', name: 'f', arguments: { q: 1 } }] },
    { role: 'user', parts: [{ type: 'tool_call_response', name: 'f', response: { ok: true } }] },
  ]);
  const chunk = (parts: unknown[], finishReason?: string) => ({
    responseId: 'g1',
    modelVersion: 'gemini-x-1',
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, thoughtsTokenCount: 1 },
  });
  const call = { functionCall: { name: 'f', args: { q: 1 } } };
  const whole = readWhole(gemini, chunk([{ text: 'Hi you' }, call], 'STOP'));
  const streamed = readEvents(gemini, [
    [undefined, chunk([{ text: 'Hi ' }])],
    [undefined, chunk([{ text: 'you' }])],
    [undefined, chunk([call], 'STOP')],
  ]);
  const array = readWhole(gemini, [chunk([{ text: 'Hi ' }]), chunk([{ text: 'you' }, call], 'STOP')]);
  assert.deepEqual(messagesOf(streamed), messagesOf(whole));
  assert.deepEqual(messagesOf(array), messagesOf(whole));
  assert.deepEqual(streamed.usage, { input: 3, output: 2, reasoning: 1 });
  assert.equal(streamed.done, true);
});

test('Bedrock: Converse whole and streamed, and InvokeModel with an Anthropic body', () => {
  const place = target('bedrock-runtime.us-east-1.amazonaws.com', '/model/anthropic.x%3A0/converse-stream');
  const request = bedrock.readRequest(
    {
      system: [{ text: 'be kind' }],
      inferenceConfig: { maxTokens: 9 },
      messages: [
        { role: 'user', content: [{ text: 'hello' }] },
        { role: 'assistant', content: [{ toolUse: { toolUseId: 'a', name: 'f', input: { q: 1 } } }] },
        {
          role: 'user',
          content: [{ toolResult: { toolUseId: 'a', content: [{ json: { ok: 1 } }], status: 'error' } }],
        },
      ],
    },
    place,
  );
  assert.deepEqual([request?.model, request?.stream], ['anthropic.x:0', true]);
  assert.deepEqual(request?.messages[2], {
    role: 'user',
    parts: [{ type: 'tool_call_response', id: 'a', response: { ok: 1 }, isError: true }],
  });
  const whole = readWhole(bedrock, {
    output: {
      message: {
        role: 'assistant',
        content: [{ text: 'Hi you' }, { toolUse: { toolUseId: 'a', name: 'f', input: {} } }],
      },
    },
    stopReason: 'tool_use',
    usage: { inputTokens: 3, outputTokens: 2 },
  });
  const streamed = readEvents(bedrock, [
    ['messageStart', { role: 'assistant' }],
    ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hi ' } }],
    ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'you' } }],
    ['contentBlockStart', { contentBlockIndex: 1, start: { toolUse: { toolUseId: 'a', name: 'f' } } }],
    ['contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: '{}' } } }],
    ['messageStop', { stopReason: 'tool_use' }],
    ['metadata', { usage: { inputTokens: 3, outputTokens: 2 } }],
  ]);
  assert.deepEqual(messagesOf(streamed), messagesOf(whole));
  assert.deepEqual(streamed.usage, whole.usage);
  const inner = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } };
  const invoked = readEvents(bedrock, [
    ['chunk', { bytes: Buffer.from(JSON.stringify(inner)).toString('base64') }],
  ]);
  assert.deepEqual(messagesOf(invoked)[0]?.parts, [{ type: 'text', content: 'Hi' }]);
  const failed = readEvents(bedrock, [['throttlingException', { message: 'slow down' }]]);
  assert.deepEqual(failed.error, { type: 'throttlingException', message: 'slow down' });
});

test('Mistral: thinking parts in content', () => {
  const content = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
    { type: 'text', text: 'Hi' },
  ];
  const whole = readWhole(mistral, { id: 'x', choices: [{ message: { role: 'assistant', content } }] });
  const streamed = readEvents(mistral, [[undefined, { choices: [{ index: 0, delta: { content } }] }]]);
  assert.deepEqual(messagesOf(whole)[0]?.parts, [
    { type: 'reasoning', content: 'hm' },
    { type: 'text', content: 'Hi' },
  ]);
  assert.deepEqual(messagesOf(streamed), messagesOf(whole));
});

test('Ollama: lines of a stream, and generate', () => {
  const place = target('localhost', '/api/chat');
  const request = ollama.readRequest({ model: 'm', messages: [{ role: 'user', content: 'x' }] }, place);
  assert.equal(request?.stream, true);
  const reply = readEvents(ollama, [
    [undefined, { model: 'm', message: { role: 'assistant', content: 'Hi ' }, done: false }],
    [
      undefined,
      { message: { content: 'you', tool_calls: [{ function: { name: 'f', arguments: { q: 1 } } }] } },
    ],
    [
      undefined,
      { message: { content: '' }, done: true, done_reason: 'stop', prompt_eval_count: 3, eval_count: 2 },
    ],
  ]);
  assert.deepEqual(messagesOf(reply)[0]?.parts, [
    { type: 'text', content: 'Hi you' },
    { type: 'tool_call', name: 'f', arguments: { q: 1 } },
  ]);
  assert.deepEqual(reply.usage, { input: 3, output: 2 });
  const generate = ollama.readRequest(
    { model: 'm', prompt: 'x', stream: false },
    target('h', '/api/generate'),
  );
  assert.equal(generate?.operation, 'text_completion');
});

test('the generic format: completions, embeddings without their text, names by host', () => {
  assert.deepEqual(
    generic.readRequest({ model: 'm', prompt: 'once' }, target('h', '/v1/completions'))?.messages,
    [{ role: 'user', parts: [{ type: 'text', content: 'once' }] }],
  );
  const embeddings = generic.readRequest({ model: 'm', input: ['a', 'b'] }, target('h', '/v1/embeddings'));
  assert.deepEqual([embeddings?.messages, embeddings?.attributes], [[], { 'agentdump.request.inputs': 2 }]);
  const reply = readWhole(generic, { model: 'm', data: [{ embedding: [1] }], usage: { prompt_tokens: 2 } });
  assert.deepEqual(reply.usage, { input: 2 });
  assert.equal(generic.providerName(target('api.groq.com', '/')), 'groq');
  assert.equal(generic.providerName(target('10.0.0.1', '/')), 'openai_compatible');
});

test('a place is of one format', () => {
  const names = (host: string, path: string) =>
    findFormat(target(host, path))?.providerName(target(host, path));
  assert.equal(names('api.openai.com', '/v1/chat/completions'), 'openai');
  assert.equal(names('x.openai.azure.com', '/openai/deployments/d/chat/completions'), 'azure.ai.openai');
  assert.equal(names('api.mistral.ai', '/v1/chat/completions'), 'mistral_ai');
  assert.equal(names('localhost', '/v1/messages'), 'anthropic');
  assert.equal(names('api.x.ai', '/v1/chat/completions'), 'x_ai');
  assert.equal(names('example.com', '/v1/users'), undefined);
});

const formats = [
  findFormat(target('api.openai.com', '/chat/completions')),
  findFormat(target('h', '/responses')),
  findFormat(target('h', '/v1/messages')),
  gemini,
  bedrock,
  mistral,
  ollama,
  generic,
].filter((format) => format !== undefined);

test('no reader chokes on hostile bodies', () => {
  for (const format of formats)
    for (const body of hostileBodies) {
      if (isObject(body)) format.readRequest(body, target('h', '/v1/completions'));
      const reply = new ReplyBuilder();
      format.readReply(body, reply);
      for (const name of [undefined, 'message_start', 'chunk', 'response.completed', 'messageStart'])
        format.readEvent(name, body, reply);
      assert.ok(Array.isArray(reply.messages()));
    }
});

test('no reader chokes on any JSON', () => {
  const keys = [
    'type',
    'role',
    'content',
    'messages',
    'choices',
    'delta',
    'tool_calls',
    'input',
    'output',
    'parts',
    'index',
  ];
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>(null, 1, true, 'text', 'tool_use', 'message', 'function_call'),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...keys), tie('json'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(json, fc.constantFrom(...formats), (body, format) => {
      if (isObject(body)) format.readRequest(body, target('h', '/v1/completions'));
      const reply = new ReplyBuilder();
      format.readReply(body, reply);
      format.readEvent(undefined, body, reply);
      assert.doesNotThrow(() => JSON.stringify(reply.messages()));
    }),
    { numRuns: fuzzRuns(300) },
  );
});
