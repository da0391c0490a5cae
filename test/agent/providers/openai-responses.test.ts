import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openaiResponses } from '../../../src/agent/providers/openai-responses.ts';
import { messagesOf, readEvents, readWhole, target } from '../../support/agents/provider-call.ts';

const place = target('api.openai.com', '/v1/responses');

test('items become a message each, references stay references, and the thread is named', () => {
  const request = openaiResponses.readRequest(
    {
      model: 'm',
      instructions: 'be kind',
      previous_response_id: 'resp_1',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'hello' }] },
        { type: 'item_reference', id: 'rs_1' },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'done' },
      ],
    },
    place,
  );
  assert.equal(request?.previousReply, 'resp_1');
  assert.deepEqual(request.system, { role: 'system', parts: [{ type: 'text', content: 'be kind' }] });
  assert.deepEqual(request.messages, [
    { role: 'user', parts: [{ type: 'text', content: 'hello' }] },
    { reference: 'rs_1' },
    { role: 'assistant', parts: [{ type: 'reasoning', content: 'hm' }] },
    { role: 'assistant', parts: [{ type: 'tool_call', id: 'a', name: 'f', arguments: {} }] },
    { role: 'tool', parts: [{ type: 'tool_call_response', id: 'a', response: 'done' }] },
  ]);
});

test('a conversation is named by its id, given as text or object', () => {
  for (const conversation of ['conv_1', { id: 'conv_1' }])
    assert.equal(
      openaiResponses.readRequest({ model: 'm', input: 'x', conversation }, place)?.serverConversation,
      'conv_1',
    );
});

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Hi you' }],
};
const call = { id: 'fc_1', type: 'function_call', call_id: 'a', name: 'f', arguments: '{"q":1}' };
const response = {
  id: 'resp_2',
  model: 'm-1',
  status: 'completed',
  output: [message, call],
  usage: { input_tokens: 4, output_tokens: 3, input_tokens_details: { cached_tokens: 1 } },
};

test('a streamed reply gives the same messages as a whole one, before its end too', () => {
  const whole = readWhole(openaiResponses, response);
  const events: [string | undefined, unknown][] = [
    ['response.created', { type: 'response.created', response: { id: 'resp_2', model: 'm-1', output: [] } }],
    [undefined, { type: 'response.output_item.added', output_index: 0, item: { ...message, content: [] } }],
    [undefined, { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hi ' }],
    [undefined, { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'you' }],
    [undefined, { type: 'response.output_item.added', output_index: 1, item: { ...call, arguments: '' } }],
    [undefined, { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"q":1}' }],
  ];
  const partial = readEvents(openaiResponses, events);
  assert.deepEqual(messagesOf(partial), messagesOf(whole));
  assert.deepEqual([partial.id, partial.done], ['resp_2', false]);
  const complete = readEvents(openaiResponses, [...events, ['response.completed', { response }]]);
  assert.deepEqual(complete.messages(), whole.messages());
  assert.deepEqual(complete.usage, { input: 4, output: 3, cacheRead: 1 });
  assert.deepEqual(
    complete.messages().map(({ id }) => id),
    ['msg_1', 'fc_1'],
  );
  assert.equal(complete.done, true);
});

test('a failed response carries its error', () => {
  const failed = {
    ...response,
    status: 'failed',
    output: [],
    error: { code: 'server_error', message: 'oops' },
  };
  const reply = readEvents(openaiResponses, [
    ['response.failed', { type: 'response.failed', response: failed }],
  ]);
  assert.deepEqual(reply.error, { message: 'oops', code: 'server_error' });
});
