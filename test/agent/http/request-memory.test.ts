import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import '../../support/run/fuzz-runs.ts';
import type { JsonObject } from '../../../src/agent/calls/json.ts';
import type { ModelRequest } from '../../../src/agent/calls/model-call.ts';
import { findList } from '../../../src/agent/http/json-list.ts';
import { RequestMemory } from '../../../src/agent/http/request-memory.ts';
import { anthropic } from '../../../src/agent/providers/anthropic.ts';
import { openaiChat } from '../../../src/agent/providers/openai-chat.ts';
import { Conversation } from '../../../src/agent/record/conversation.ts';

const target = { host: 'h', path: '/v1/messages', query: '' };
const pad = 'x'.repeat(1200);

/** Reads bodies one after another as the recorder does; `given` has the number of elements that each reading received. */
class Reading {
  readonly memory = new RequestMemory();
  readonly recorded: string[] = [];
  readonly given: number[] = [];
  readonly conversation = new Conversation({
    message: (message) => `m${this.recorded.push(JSON.stringify(message))}`,
    tools: (definitions) => `d${this.recorded.push(JSON.stringify(definitions))}`,
  });
  readonly #format;
  #calls = 0;

  constructor(format = openaiChat) {
    this.#format = format;
  }

  /** The request's messages, model and tools, as recorded. */
  read(body: string): { messages: string[]; model: unknown; tools: string } | undefined {
    const request = this.memory.read('h/p', Buffer.from(body), (parsed) => this.#readRequest(parsed));
    if (!request) return undefined;
    let ids: string[] = [];
    const { learnIds } = request;
    const heard: ModelRequest = {
      ...request,
      learnIds: (all) => {
        ids = all;
        learnIds?.(all);
      },
    };
    this.conversation.begin(`c${this.#calls++}`, heard);
    const tools = this.conversation.toolsId(request.tools ?? null);
    const textOf = (id: string) => this.recorded[Number(id.slice(1)) - 1] ?? '';
    return { messages: ids.map(textOf), model: request.model, tools: textOf(tools) };
  }

  #readRequest(body: JsonObject): ModelRequest | undefined {
    this.given.push((body['messages'] as unknown[])?.length);
    return this.#format.readRequest(body, target);
  }
}

test('of a history that grows only the new messages are read', () => {
  const reading = new Reading();
  const messages: object[] = [{ role: 'system', content: pad }];
  const tools = [{ type: 'function', function: { name: 'look' } }];
  for (let turn = 0; turn < 20; turn++) {
    messages.push({ role: 'user', content: `"quoted" {[${turn} é\\` });
    const read = reading.read(JSON.stringify({ model: 'm', messages, tools }));
    assert.equal(read?.messages.length, 2 * turn + 2);
    assert.equal(read?.model, 'm');
    messages.push({ role: 'assistant', content: `answer ${turn}` });
  }
  assert.deepEqual(reading.given, [2, ...Array(19).fill(2)]);
  assert.equal(reading.given.length, 20);
});

test('a host that writes the next request over the bytes of the last is read rightly', () => {
  const reading = new Reading();
  const say = (text: string) => JSON.stringify({ messages: [{ role: 'user', content: pad + text }] });
  assert.match(reading.read(say('one'))?.messages[0] ?? '', /one/);
  assert.match(reading.read(say('two'))?.messages[0] ?? '', /two/);
});

test('what stands beside the list is that of the new request', () => {
  const reading = new Reading(anthropic);
  const messages = [{ role: 'user', content: pad }];
  const first = reading.read(JSON.stringify({ messages, model: 'a', tools: [1] }));
  const second = reading.read(JSON.stringify({ messages, model: 'b', tools: [2] }));
  assert.deepEqual([first?.model, first?.tools], ['a', '[1]']);
  assert.deepEqual([second?.model, second?.tools], ['b', '[2]']);
  assert.deepEqual(reading.given, [1, 0]);
});

test('a body that is torn after a known beginning is no request', () => {
  const reading = new Reading();
  const body = JSON.stringify({
    messages: [
      { role: 'user', content: pad },
      { role: 'user', content: 'b' },
    ],
  });
  assert.equal(reading.read(body)?.messages.length, 2);
  for (let cut = 1; cut < body.length; cut += 7) assert.equal(reading.read(body.slice(0, cut)), undefined);
});

const message = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'assistant'), content: fc.string({ unit: 'grapheme' }) }),
  fc.record({
    role: fc.constant('user'),
    content: fc.array(fc.record({ type: fc.constant('text'), text: fc.string() })),
  }),
  fc.record({ role: fc.constant('tool'), tool_call_id: fc.string(), content: fc.string() }),
  fc.constantFrom(null, 1, 'text', []),
);
const bodies = fc.array(
  fc.record({
    keep: fc.nat({ max: 6 }),
    added: fc.array(message, { maxLength: 4 }),
    model: fc.constantFrom('a', 'b'),
    tools: fc.constantFrom(undefined, [1], [{ name: ']}' }]),
    indent: fc.constantFrom(0, 2),
    isListFirst: fc.boolean(),
  }),
  { minLength: 2, maxLength: 8 },
);

test('read with a memory or without, requests say the same', () => {
  fc.assert(
    fc.property(bodies, (steps) => {
      const reading = new Reading();
      let history: unknown[] = [{ role: 'system', content: pad }];
      for (const { keep, added, model, tools, indent, isListFirst } of steps) {
        history = [...history.slice(0, keep + 1), ...added];
        const beside = { model, tools };
        const body = JSON.stringify(
          isListFirst ? { messages: history, ...beside } : { ...beside, messages: history },
          undefined,
          indent,
        );
        const alone = new Reading().read(body);
        assert.deepEqual(reading.read(body), alone);
      }
    }),
    { numRuns: 300 },
  );
});

test('a list is found where JSON.parse finds it', () => {
  fc.assert(
    fc.property(fc.array(fc.json()), fc.json(), fc.constantFrom(0, 1, 3), (elements, other, indent) => {
      const list = elements.map((text) => JSON.parse(text) as unknown);
      const body = { first: JSON.parse(other) as unknown, messages: list, last: [other] };
      const bytes = Buffer.from(JSON.stringify(body, undefined, indent));
      const found = findList(bytes, new Set(['messages']));
      assert.ok(found);
      const ends = [found.start - 1, ...found.ends];
      const texts = found.ends.map((end, at) => bytes.toString('utf8', (ends[at] as number) + 1, end));
      assert.deepEqual(
        texts.map((text) => JSON.parse(text.replace(/^\s*,/, '')) as unknown),
        JSON.parse(JSON.stringify(list)),
      );
      assert.equal(bytes[found.close], ']'.charCodeAt(0));
    }),
  );
});

test('what is no JSON object has no list, and the search ends', () => {
  for (const text of [
    '',
    '[',
    '{',
    '{"messages"',
    '{"messages":[',
    '{"messages":[1',
    '{"messages":[,',
    '{"a":"',
  ])
    assert.equal(findList(Buffer.from(text), new Set(['messages'])), undefined, text);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      findList(Buffer.concat([Buffer.from('{"messages":['), bytes]), new Set(['messages']));
    }),
  );
});
