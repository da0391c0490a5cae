import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openaiChat } from '../../../src/agent/providers/openai-chat.ts';
import { messagesOf, readEvents, readWhole, target } from '../../support/agents/provider-call.ts';

const place = target('api.openai.com', '/v1/chat/completions');

test('a chat request with images, tools and a tool result becomes messages of the conventions', () => {
  const request = openaiChat.readRequest(
    {
      model: 'gpt-x',
      max_completion_tokens: 50,
      stop: 'END',
      tools: [{ type: 'function', function: { name: 'f' } }],
      messages: [
        { role: 'developer', content: 'be brief' },
        {
          role: 'user',
          name: 'ann',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'image_url', image_url: { url: 'https://x/y.png' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{"q":1}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'done' },
      ],
    },
    place,
  );
  assert.equal(request?.model, 'gpt-x');
  assert.deepEqual(request.attributes, {
    'gen_ai.request.max_tokens': 50,
    'gen_ai.request.stop_sequences': ['END'],
  });
  assert.deepEqual(request.messages, [
    { role: 'developer', parts: [{ type: 'text', content: 'be brief' }] },
    {
      role: 'user',
      name: 'ann',
      parts: [
        { type: 'text', content: 'look' },
        {
          type: 'blob',
          modality: 'image',
          mime_type: 'image/png',
          bytes: 3,
          sha256: '63c1dd951ffedf6f7fd968ad4efa39b8ed584f162f46e715114ee184f8de9201',
        },
        { type: 'uri', modality: 'image', uri: 'https://x/y.png' },
      ],
    },
    { role: 'assistant', parts: [{ type: 'tool_call', id: 'a', name: 'f', arguments: { q: 1 } }] },
    { role: 'tool', parts: [{ type: 'tool_call_response', id: 'a', response: 'done' }] },
  ]);
});

test('a streamed reply gives the same message as a whole one', () => {
  const usage = {
    prompt_tokens: 7,
    completion_tokens: 5,
    completion_tokens_details: { reasoning_tokens: 2 },
  };
  const whole = readWhole(openaiChat, {
    id: 'r1',
    model: 'gpt-x',
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: 'Hi there',
          tool_calls: [
            { id: 'a', function: { name: 'f', arguments: '{"q":1}' } },
            { id: 'b', function: { name: 'g', arguments: '' } },
          ],
        },
      },
    ],
    usage,
  });
  const chunk = (delta: unknown, finish_reason: string | null = null) => ({
    id: 'r1',
    model: 'gpt-x',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const call = (index: number, fields: object) => chunk({ tool_calls: [{ index, ...fields }] });
  const streamed = readEvents(openaiChat, [
    [undefined, chunk({ role: 'assistant', content: '' })],
    [undefined, chunk({ content: 'Hi ' })],
    [undefined, chunk({ content: 'there' })],
    [undefined, call(0, { id: 'a', function: { name: 'f', arguments: '{"q"' } })],
    [undefined, call(1, { id: 'b', function: { name: 'g', arguments: '' } })],
    [undefined, call(0, { function: { arguments: ':1}' } })],
    [undefined, chunk({}, 'tool_calls')],
    [undefined, { id: 'r1', model: 'gpt-x', choices: [], usage }],
    [undefined, undefined],
  ]);
  assert.deepEqual(messagesOf(streamed), messagesOf(whole));
  assert.deepEqual(streamed.usage, whole.usage);
  assert.deepEqual([streamed.id, streamed.model, streamed.finishReasons], ['r1', 'gpt-x', ['tool_calls']]);
  assert.equal(streamed.done, true);
});

test('arguments that the model broke are kept as text', () => {
  const reply = readWhole(openaiChat, {
    choices: [
      {
        message: {
          role: 'assistant',
          tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{"q":' } }],
        },
      },
    ],
  });
  assert.deepEqual(messagesOf(reply)[0]?.parts, [
    { type: 'tool_call', id: 'a', name: 'f', arguments: '{"q":' },
  ]);
});

test('an error body is an error and no message', () => {
  const reply = readWhole(openaiChat, {
    error: { message: 'slow down', type: 'rate_limit_exceeded', code: 'x' },
  });
  assert.deepEqual(reply.error, { type: 'rate_limit_exceeded', message: 'slow down', code: 'x' });
  assert.deepEqual(messagesOf(reply), []);
});

test('deltas are what was added since the last look', () => {
  const reply = readEvents(openaiChat, [[undefined, { choices: [{ delta: { content: 'ab' } }] }]]);
  assert.deepEqual(reply.takeDelta(), { text: 'ab' });
  assert.equal(reply.takeDelta(), undefined);
  openaiChat.readEvent(
    undefined,
    {
      choices: [{ delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{' } }] } }],
    },
    reply,
  );
  assert.deepEqual(reply.takeDelta(), { tools: [{ index: 0, id: 'a', name: 'f', arguments: '{' }] });
});
