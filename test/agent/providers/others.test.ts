/**
 * Gemini, Bedrock, Mistral, Ollama, Cohere, Vercel's gateway and the generic format; and input that no reader may fail on.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isObject } from '../../../src/agent/calls/json.ts';
import { ReplyBuilder } from '../../../src/agent/calls/reply.ts';
import { bedrock } from '../../../src/agent/providers/bedrock.ts';
import { cohere } from '../../../src/agent/providers/cohere.ts';
import { gemini } from '../../../src/agent/providers/gemini.ts';
import { generic } from '../../../src/agent/providers/generic.ts';
import { mistral } from '../../../src/agent/providers/mistral.ts';
import { ollama } from '../../../src/agent/providers/ollama.ts';
import { findFormat } from '../../../src/agent/providers/table.ts';
import { vercel } from '../../../src/agent/providers/vercel.ts';
import {
  hostileBodies,
  messagesOf,
  readEvents,
  readWhole,
  target,
} from '../../support/agents/provider-call.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';

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

test('Bedrock: InvokeModel with the body of another maker', () => {
  const place = target('bedrock-runtime.us-east-1.amazonaws.com', '/model/meta.llama3/invoke');
  const request = bedrock.readRequest({ prompt: 'Oslo?', temperature: 0.5 }, place);
  assert.deepEqual(
    [request?.model, request?.messages, request?.attributes],
    [
      'meta.llama3',
      [{ role: 'user', parts: [{ type: 'text', content: 'Oslo?' }] }],
      { 'gen_ai.request.temperature': 0.5 },
    ],
  );
  // The path alone identifies it as a model call.
  assert.equal(bedrock.readRequest({ taskType: 'TEXT_IMAGE' }, place)?.model, 'meta.llama3');
  const llama = {
    generation: 'Snow.',
    prompt_token_count: 3,
    generation_token_count: 2,
    stop_reason: 'stop',
  };
  const titan = {
    inputTextTokenCount: 3,
    results: [{ tokenCount: 2, outputText: 'Snow.', completionReason: 'stop' }],
  };
  for (const body of [llama, titan]) {
    const reply = readWhole(bedrock, body);
    assert.deepEqual(messagesOf(reply)[0]?.parts, [{ type: 'text', content: 'Snow.' }]);
    assert.deepEqual(
      [reply.usage, reply.finishReasons, reply.done],
      [{ input: 3, output: 2 }, ['stop'], true],
    );
  }
  assert.equal(readWhole(bedrock, { message: 'no access' }).error?.message, 'no access');
});

test('Ollama: embeddings without their text', () => {
  const request = ollama.readRequest({ model: 'm', input: ['a', 'b'] }, target('h', '/api/embed'));
  assert.deepEqual(
    [request?.operation, request?.attributes],
    ['embeddings', { 'agentdump.request.inputs': 2 }],
  );
  const reply = readWhole(ollama, { model: 'm', embeddings: [[1]], prompt_eval_count: 3 });
  assert.deepEqual([reply.usage, reply.done], [{ input: 3 }, true]);
});

test('Azure: the deployment of the path is the model', () => {
  const place = target('x.openai.azure.com', '/openai/deployments/prod-4o/chat/completions');
  const format = findFormat(place);
  const messages = [{ role: 'user', content: 'x' }];
  assert.equal(format?.readRequest({ messages }, place)?.model, 'prod-4o');
  assert.equal(format?.readRequest({ model: 'gpt-4o', messages }, place)?.model, 'gpt-4o');
});

test('Cohere: both versions, whole and streamed', () => {
  const place = target('api.cohere.com', '/v2/chat');
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{"q":1}' } };
  const request = cohere.readRequest(
    {
      model: 'command-a',
      p: 0.9,
      messages: [
        { role: 'user', content: 'hello' },
        { role: 'assistant', tool_plan: 'I look', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'a', content: 'snow' },
      ],
    },
    place,
  );
  assert.deepEqual(request?.attributes, { 'gen_ai.request.top_p': 0.9 });
  assert.deepEqual(request?.messages.slice(1), [
    {
      role: 'assistant',
      parts: [
        { type: 'reasoning', content: 'I look' },
        { type: 'tool_call', id: 'a', name: 'f', arguments: { q: 1 } },
      ],
    },
    { role: 'tool', parts: [{ type: 'tool_call_response', id: 'a', response: 'snow' }] },
  ]);
  const usage = { tokens: { input_tokens: 7, output_tokens: 4 } };
  const whole = readWhole(cohere, {
    id: 'c1',
    finish_reason: 'TOOL_CALL',
    message: { role: 'assistant', tool_plan: 'I look', tool_calls: [call] },
    usage,
  });
  const piece = (type: string, message: object) => ({ type, index: 0, delta: { message } });
  const streamed = readEvents(cohere, [
    [undefined, { type: 'message-start', id: 'c1', delta: { message: { role: 'assistant' } } }],
    [undefined, piece('tool-plan-delta', { tool_plan: 'I ' })],
    [undefined, piece('tool-plan-delta', { tool_plan: 'look' })],
    [
      undefined,
      piece('tool-call-start', { tool_calls: { id: 'a', function: { name: 'f', arguments: '' } } }),
    ],
    [undefined, piece('tool-call-delta', { tool_calls: { function: { arguments: '{"q":1}' } } })],
    [undefined, { type: 'message-end', delta: { finish_reason: 'TOOL_CALL', usage } }],
  ]);
  for (const reply of [whole, streamed]) {
    assert.deepEqual(messagesOf(reply), [request?.messages[1]]);
    assert.deepEqual(
      [reply.id, reply.usage, reply.finishReasons, reply.done],
      ['c1', { input: 7, output: 4 }, ['TOOL_CALL'], true],
    );
  }
  assert.equal(
    readWhole(cohere, { id: 'x', message: 'invalid api token' }).error?.message,
    'invalid api token',
  );

  const first = target('api.cohere.com', '/v1/chat');
  const asked = cohere.readRequest(
    { model: 'command-r', message: 'Oslo?', chat_history: [{ role: 'CHATBOT', message: 'Hi' }] },
    first,
  );
  assert.deepEqual(
    asked?.messages.map((item) => 'role' in item && item.role),
    ['assistant', 'user'],
  );
  const answer = { text: 'Snow.', finish_reason: 'COMPLETE', meta: usage };
  const said = [{ role: 'assistant', parts: [{ type: 'text', content: 'Snow.' }] }];
  assert.deepEqual(messagesOf(readWhole(cohere, answer)), said);
  const lines = readEvents(cohere, [
    [undefined, { event_type: 'stream-start', generation_id: 'g' }],
    [undefined, { event_type: 'text-generation', text: 'Snow.' }],
    [undefined, { event_type: 'stream-end', finish_reason: 'COMPLETE', response: answer }],
  ]);
  assert.deepEqual([messagesOf(lines), lines.usage, lines.done], [said, { input: 7, output: 4 }, true]);
  // What another program posts to /v2/chat is not a model call.
  assert.equal(cohere.readRequest({ messages: [], room: 7 }, place), undefined);
  const embed = cohere.readRequest({ model: 'e', texts: ['a', 'b'] }, target('h', '/v2/embed'));
  assert.deepEqual(embed?.attributes, { 'agentdump.request.inputs': 2 });
});

test("Vercel's AI Gateway: the model of a header, the SDK's own parts", () => {
  const header = (name: string) => ({ 'ai-language-model-id': 'openai/gpt-4o' })[name];
  const place = { ...target('ai-gateway.vercel.sh', '/v4/ai/language-model'), header };
  const call = { type: 'tool-call', toolCallId: 'a', toolName: 'f', input: '{"q":1}' };
  const result = {
    type: 'tool-result',
    toolCallId: 'a',
    toolName: 'f',
    output: { type: 'text', value: 'ok' },
  };
  const request = vercel.readRequest(
    {
      prompt: [
        { role: 'user', content: [{ type: 'text', text: 'hello' }] },
        { role: 'assistant', content: [call] },
        { role: 'tool', content: [result] },
      ],
    },
    place,
  );
  assert.equal(request?.model, 'openai/gpt-4o');
  assert.deepEqual(request?.messages.slice(1), [
    { role: 'assistant', parts: [{ type: 'tool_call', id: 'a', name: 'f', arguments: { q: 1 } }] },
    { role: 'tool', parts: [{ type: 'tool_call_response', id: 'a', name: 'f', response: 'ok' }] },
  ]);
  const whole = readWhole(vercel, {
    content: [{ type: 'text', text: 'Hi' }, call],
    finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
    usage: { inputTokens: { total: 3, cacheRead: 1 }, outputTokens: { total: 2 } },
  });
  const streamed = readEvents(vercel, [
    [undefined, { type: 'text-delta', id: 't', delta: 'Hi' }],
    [undefined, { type: 'tool-input-start', id: 'a', toolName: 'f' }],
    [undefined, { type: 'tool-input-delta', id: 'a', delta: '{"q":1}' }],
    [undefined, call],
    [
      undefined,
      {
        type: 'finish',
        finishReason: 'tool-calls',
        usage: { inputTokens: 3, cachedInputTokens: 1, outputTokens: 2 },
      },
    ],
  ]);
  assert.deepEqual(messagesOf(streamed), messagesOf(whole));
  for (const reply of [whole, streamed])
    assert.deepEqual(
      [reply.usage, reply.finishReasons, reply.done],
      [{ input: 3, cacheRead: 1, output: 2 }, ['tool-calls'], true],
    );
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
  // The host determines who serves OpenAI's format; for an unknown host no provider is named.
  assert.equal(names('api.together.ai', '/v1/chat/completions'), 'together_ai');
  assert.equal(names('api.deepseek.com', '/chat/completions'), 'deepseek');
  assert.equal(names('openrouter.ai', '/api/v1/responses'), 'openrouter');
  assert.equal(names('x.openai.azure.us', '/openai/v1/responses'), 'azure.ai.openai');
  const vertex = 'europe-west1-aiplatform.googleapis.com';
  assert.equal(
    names(vertex, '/v1/projects/p/locations/l/endpoints/openapi/chat/completions'),
    'gcp.vertex_ai',
  );
  const gemini = 'generativelanguage.googleapis.com';
  assert.equal(names(gemini, '/v1beta/openai/chat/completions'), 'gcp.gemini');
  assert.equal(names('notgroq.com', '/v1/chat/completions'), 'openai_compatible');
  assert.equal(names('localhost', '/v1/responses'), 'openai_compatible');
  assert.equal(names('api.cohere.com', '/v2/chat'), 'cohere');
  assert.equal(names('ai-gateway.vercel.sh', '/v4/ai/language-model'), 'vercel_ai_gateway');
});

const formats = [
  findFormat(target('api.openai.com', '/chat/completions')),
  findFormat(target('h', '/responses')),
  findFormat(target('h', '/v1/messages')),
  gemini,
  bedrock,
  mistral,
  ollama,
  cohere,
  vercel,
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
