import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anthropic } from '../../../src/agent/providers/anthropic.ts';
import { messagesOf, readEvents, readWhole, target } from '../../support/agents/provider-call.ts';

const place = target('api.anthropic.com', '/v1/messages');

test('blocks become parts; cache markers make no difference', () => {
  const block = { type: 'text', text: 'hello' };
  const read = (content: unknown) =>
    anthropic.readRequest(
      { model: 'm', max_tokens: 5, system: 'be kind', messages: [{ role: 'user', content }] },
      place,
    );
  const marked = read([{ ...block, cache_control: { type: 'ephemeral' } }]);
  assert.deepEqual(marked, read([block]));
  assert.deepEqual(marked, read('hello'));
  assert.deepEqual(marked?.system, { role: 'system', parts: [{ type: 'text', content: 'be kind' }] });
  assert.deepEqual(
    read([
      { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'no' }], is_error: true },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    ])?.messages[0],
    {
      role: 'user',
      parts: [
        { type: 'tool_call_response', id: 'a', response: 'no', isError: true },
        {
          type: 'blob',
          modality: 'image',
          mime_type: 'image/png',
          bytes: 3,
          sha256: '63c1dd951ffedf6f7fd968ad4efa39b8ed584f162f46e715114ee184f8de9201',
        },
      ],
    },
  );
});

test('a request that continues a thread names the reply', () => {
  const request = anthropic.readRequest(
    {
      model: 'm',
      thread: { type: 'continue', previous_message_id: 'msg_1' },
      messages: [{ role: 'user', content: 'x' }],
    },
    place,
  );
  assert.equal(request?.previousReply, 'msg_1');
});

test('a streamed reply gives the same message as a whole one', () => {
  const whole = readWhole(anthropic, {
    id: 'msg_2',
    model: 'm-1',
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'text', text: 'Hi you' },
      { type: 'tool_use', id: 'a', name: 'f', input: { q: 1 } },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 4, output_tokens: 9 },
  });
  const delta = (index: number, fields: object): [string, unknown] => [
    'content_block_delta',
    { type: 'content_block_delta', index, delta: fields },
  ];
  const start = (index: number, content_block: object): [string, unknown] => [
    'content_block_start',
    { type: 'content_block_start', index, content_block },
  ];
  const streamed = readEvents(anthropic, [
    [
      'message_start',
      {
        type: 'message_start',
        message: { id: 'msg_2', model: 'm-1', role: 'assistant', usage: { input_tokens: 4 } },
      },
    ],
    start(0, { type: 'thinking', thinking: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'hm' }),
    delta(0, { type: 'signature_delta', signature: 's' }),
    start(1, { type: 'text', text: '' }),
    delta(1, { type: 'text_delta', text: 'Hi ' }),
    ['ping', { type: 'ping' }],
    delta(1, { type: 'text_delta', text: 'you' }),
    start(2, { type: 'tool_use', id: 'a', name: 'f', input: {} }),
    delta(2, { type: 'input_json_delta', partial_json: '{"q"' }),
    delta(2, { type: 'input_json_delta', partial_json: ':1}' }),
    [
      'message_delta',
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
    ],
    ['message_stop', { type: 'message_stop' }],
  ]);
  assert.deepEqual(messagesOf(streamed), messagesOf(whole));
  assert.deepEqual(streamed.usage, { input: 4, output: 9 });
  assert.deepEqual([streamed.id, streamed.finishReasons, streamed.done], ['msg_2', ['tool_use'], true]);
});

test('an error in the middle of a stream is kept beside what had come', () => {
  const reply = readEvents(anthropic, [
    [
      'content_block_delta',
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
    ],
    ['error', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
  ]);
  assert.deepEqual(reply.error, { type: 'overloaded_error', message: 'Overloaded' });
  assert.deepEqual(messagesOf(reply)[0]?.parts, [{ type: 'text', content: 'Hi' }]);
});

test('Vertex names the model in the path', () => {
  const vertex = target(
    'x.googleapis.com',
    '/v1/projects/p/publishers/anthropic/models/claude-1:streamRawPredict',
  );
  assert.equal(anthropic.matches(vertex), true);
  assert.equal(anthropic.providerName(vertex), 'gcp.vertex_ai');
  assert.equal(anthropic.readRequest({ messages: [] }, vertex)?.model, 'claude-1');
});
