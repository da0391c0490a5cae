/** Conversations cut at every place, checked against the rules by which the providers refuse them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repairConversation } from '../../../src/durable/runs/repair-conversation.ts';

type Message = Record<string, unknown>;

/** Rule of chat completions: the results of all calls of a message follow it immediately, and nothing else does. */
function findChatFault(messages: readonly Message[]): string | undefined {
  let open = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    if (message['role'] === 'tool') {
      if (!open.delete(message['tool_call_id'])) return `${index}: a result without a call`;
      continue;
    }
    if (open.size) return `${index}: ${[...open]} not answered`;
    open = new Set(((message['tool_calls'] as Message[] | undefined) ?? []).map(({ id }) => id));
  }
  return open.size ? `at the end: ${[...open]} not answered` : undefined;
}

/** Rule of the messages API: the next message has the role user, and begins with the results of all calls. */
function findAnthropicFault(messages: readonly Message[]): string | undefined {
  let open = new Set<unknown>();
  for (const [index, { role, content }] of messages.entries()) {
    const blocks = Array.isArray(content) ? (content as Message[]) : [{ type: 'text' }];
    if (blocks.length === 0) return `${index}: no content`;
    const firstOther = blocks.findIndex(({ type }) => type !== 'tool_result');
    for (const [at, block] of blocks.entries()) {
      if (block['type'] !== 'tool_result') continue;
      if (role !== 'user' || !open.delete(block['tool_use_id'])) return `${index}: a result without a call`;
      if (firstOther >= 0 && at > firstOther) return `${index}: a result behind other content`;
    }
    if (open.size) return `${index}: ${[...open]} not answered`;
    open = new Set(blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id));
  }
  return open.size ? `at the end: ${[...open]} not answered` : undefined;
}

function findResponsesFault(items: readonly Message[]): string | undefined {
  const outputs = items.filter(({ type }) => type === 'function_call_output').map(({ call_id }) => call_id);
  const calls = items.filter(({ type }) => type === 'function_call').map(({ call_id }) => call_id);
  if (new Set(outputs).size !== outputs.length) return 'two outputs of one call';
  return calls.every((id) => outputs.includes(id)) && outputs.every((id) => calls.includes(id))
    ? undefined
    : `${calls} called, ${outputs} answered`;
}

const chatCall = (id: string) => ({ id, type: 'function', function: { name: `do_${id}`, arguments: '{}' } });
const chat: Message[] = [
  { role: 'system', content: 's' },
  { role: 'user', content: 'u' },
  { role: 'assistant', content: null, tool_calls: [chatCall('a'), chatCall('b')] },
  { role: 'tool', tool_call_id: 'a', content: '1' },
  { role: 'tool', tool_call_id: 'b', content: '2' },
  { role: 'assistant', content: 'both', tool_calls: [chatCall('c')] },
  { role: 'tool', tool_call_id: 'c', content: '3' },
  { role: 'assistant', content: 'done' },
];
const use = (id: string) => ({ type: 'tool_use', id, name: `do_${id}`, input: {} });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: id });
const anthropic: Message[] = [
  { role: 'user', content: 'u' },
  { role: 'assistant', content: [{ type: 'text', text: 't' }, use('a'), use('b')] },
  { role: 'user', content: [result('a'), result('b'), { type: 'text', text: 'and' }] },
  { role: 'assistant', content: [use('c')] },
  { role: 'user', content: [result('c')] },
  { role: 'assistant', content: 'done' },
];
const responses: Message[] = [
  { role: 'user', content: 'u' },
  { type: 'function_call', call_id: 'a', name: 'do_a', arguments: '{}' },
  { type: 'function_call', call_id: 'b', name: 'do_b', arguments: '{}' },
  { type: 'function_call_output', call_id: 'a', output: '1' },
  { type: 'function_call_output', call_id: 'b', output: '2' },
  { type: 'message', role: 'assistant', content: [] },
];

const forms = [
  { form: 'openai-chat', whole: chat, findFault: findChatFault },
  { form: 'anthropic', whole: anthropic, findFault: findAnthropicFault },
  { form: 'openai-responses', whole: responses, findFault: findResponsesFault },
] as const;

for (const { form, whole, findFault } of forms) {
  test(`${form}: a whole conversation stays as it is`, () => {
    assert.equal(findFault(whole), undefined);
    const repaired = repairConversation(whole);
    assert.equal(repaired.form, form);
    assert.deepEqual(repaired.messages, whole);
    assert.deepEqual(repaired.additions, []);
  });

  test(`${form}: any messages lost, at the end or in the middle`, () => {
    for (let from = 1; from <= whole.length; from++)
      for (let to = from; to <= whole.length; to++) {
        const cut = [...whole.slice(0, from), ...whole.slice(to)];
        const before = structuredClone(cut);
        const { messages, repaired, removed, additions } = repairConversation(cut);
        assert.equal(findFault(messages), undefined, `without ${from} to ${to}: ${JSON.stringify(messages)}`);
        assert.deepEqual(cut, before);
        assert.equal(repaired.length > 0, additions.length > 0);
        if (findFault(before) === undefined) assert.deepEqual([...repaired, ...removed], []);
        assert.deepEqual(repairConversation(messages).messages, messages, 'a second repair changes nothing');
      }
  });
}

test('a new question after the cut: the result comes first', () => {
  const cut = [...anthropic.slice(0, 2), { role: 'user', content: 'what now?' }];
  const { messages, repaired } = repairConversation(cut, { resultOf: ({ name }) => `${name} was lost` });
  assert.deepEqual(repaired, [
    { id: 'a', name: 'do_a' },
    { id: 'b', name: 'do_b' },
  ]);
  const content = messages[2]?.['content'] as Message[];
  assert.deepEqual(
    content.map(({ type, content: text }) => text ?? type),
    ['do_a was lost', 'do_b was lost', 'text'],
  );
});

test('gemini: one response for each call', () => {
  const { form, messages, additions } = repairConversation<Message>([
    { role: 'user', parts: [{ text: 'u' }] },
    {
      role: 'model',
      parts: [{ functionCall: { name: 'f', args: {} } }, { functionCall: { name: 'g', args: {} } }],
    },
    { role: 'user', parts: [{ functionResponse: { name: 'f', response: { ok: 1 } } }] },
  ]);
  assert.equal(form, 'gemini');
  assert.equal(messages.length, 3);
  assert.equal(additions.length, 1);
  const parts = messages[2]?.['parts'] as { functionResponse: { name: string } }[];
  assert.deepEqual(
    parts.map(({ functionResponse }) => functionResponse.name),
    ['f', 'g'],
  );
});

test('what has no calls, or is no conversation, comes back as it is', () => {
  for (const list of [[], [{ role: 'user', content: 'hi' }], [{ any: 1 }]])
    assert.deepEqual(repairConversation<object>(list), {
      messages: list,
      form: 'unknown',
      repaired: [],
      removed: [],
      additions: [],
    });
});
