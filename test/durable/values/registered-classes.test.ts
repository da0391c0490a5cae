/** Values of the host's classes: those that are registered come back as such, all others are refused and named. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { runInNewContext } from 'node:vm';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { registerClass } from '../../../src/durable/records/classes.ts';
import { registerLangChainMessages } from '../../../src/durable/records/langchain-messages.ts';
import { decodeValue, encodeValue } from '../../../src/durable/records/values.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-classes-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const freshDir = () => join(folder, `dumps-${count++}`);
const passThrough = (value: unknown) => decodeValue(JSON.parse(encodeValue(value)));
const says = (what: string) => (error: Error) => error.message.includes(what) || assert.fail(error.message);

class Money {
  readonly cents: number;
  readonly of: unknown;
  constructor(cents: number, of?: unknown) {
    this.cents = cents;
    this.of = of;
  }
}
class Fee extends Money {}
registerClass(Money, {
  to: ({ cents, of }) => ({ cents, of }),
  from: ({ cents, of }) => new Money(cents, of),
});

test('instances of a registered class come back, wherever they are, and one that is there twice is one', () => {
  const price = new Money(5, new Map([['inner', new Money(6)]]));
  const back = passThrough({ list: [price, price] }) as { list: Money[] };
  const [first, second] = back.list;
  assert.ok(first instanceof Money);
  assert.deepEqual(first, price);
  assert.equal(first, second);
});

test('no other class is stored as what it is derived from', () => {
  class Rows extends Array<number> {}
  class Names extends Map<string, string> {}
  class Day extends Date {}
  class Bytes extends Uint8Array {}
  class Label extends String {}
  for (const value of [
    new Fee(1),
    new Rows(1, 2),
    new Names([['a', 'b']]),
    new Day(0),
    new Bytes(3),
    new Label('x'),
    new (class {})(),
  ]) {
    const { name } = value.constructor;
    assert.throws(
      () => encodeValue({ a: [value] }),
      says(`at a[0]: it is an instance of ${name || 'a class without'}`),
    );
  }
});

test('what a step should have read, awaited or called is refused with what to do instead', () => {
  class Chunks {
    async *[Symbol.asyncIterator]() {}
  }
  const reads = [new Response('x'), new Chunks(), (async function* () {})(), (function* () {})()];
  const names = ['Response', 'Chunks', 'AsyncGenerator', 'Generator'];
  for (const [at, value] of reads.entries())
    assert.throws(
      () => encodeValue({ value }),
      says(`at value: it is an object of ${names[at]}, which is read once: read it`),
    );
  assert.throws(
    () => encodeValue([Promise.resolve(1)]),
    says('at [0]: it is a promise: await it within the step'),
  );
  assert.throws(() => encodeValue({ call: () => 1 }), says('at call: it is a function, and only data'));
});

test('a class derived from Set or Date that is registered is stored with the fields that it adds', () => {
  class Tags extends Set<string> {
    owner = 'x';
  }
  assert.throws(
    () => encodeValue(new Tags(['a'])),
    says('it is an instance of Tags, which is not registered'),
  );
  registerClass(Tags, {
    to: (tags) => ({ items: [...tags], owner: tags.owner }),
    from: ({ items, owner }) => Object.assign(new Tags(items), { owner }),
  });
  const tags = Object.assign(new Tags(['a', 'b']), { owner: 'y' });
  const back = passThrough([tags]) as Tags[];
  assert.ok(back[0] instanceof Tags);
  assert.deepEqual(back, [tags]);
  // The language's own classes have no fields that a program could expect to come back.
  const marked = Object.assign(new Date(0), { zone: 'UTC' });
  assert.throws(() => encodeValue([marked]), says('at [0]: it has properties of its own (zone)'));
});

test('built-in values, also those of another realm, need no registration', () => {
  const value = [
    [1],
    new Map([[1, 2]]),
    new Set([1]),
    new Date(0),
    /a/g,
    new Uint8Array([1]),
    Buffer.from('a'),
    new Error('x'),
  ];
  assert.deepEqual(passThrough(value), value);
  const foreign = runInNewContext(
    '[[1], new Map([[1, 2]]), new Set([1]), new Date(0), { a: 1 }, new Uint8Array([1])]',
  );
  const back = passThrough(foreign) as unknown[];
  assert.deepEqual(back, [[1], new Map([[1, 2]]), new Set([1]), new Date(0), { a: 1 }, new Uint8Array([1])]);
});

test('a step that returns a class that is not registered is refused before its effect, or named after it', async () => {
  class Ticket {}
  let effects = 0;
  const run = (options: object) =>
    agent.run('job', { id: 'r', durable: true, dir: freshDir() }, () =>
      agent.step(
        'book',
        () => {
          effects++;
          return { tickets: [new Ticket()] };
        },
        options,
      ),
    );
  await assert.rejects(run({ returns: Ticket }), says('step book returns an instance of Ticket'));
  await assert.rejects(run({ returns: [Money, Ticket] }), { code: 'usage' });
  assert.equal(effects, 0);
  await assert.rejects(run({}), says('at tickets[0]: it is an instance of Ticket'));
  assert.equal(effects, 1);
});

test('a resume returns the instance; a process without the class says which one it needs', async () => {
  class Place {
    readonly name: string;
    constructor(name: string) {
      this.name = name;
    }
  }
  registerClass(Place, { to: ({ name }) => name, from: (name) => new Place(name) });
  const dir = freshDir();
  const run = () =>
    agent.run('job', { id: 'r', durable: true, dir }, () =>
      agent.step('find', () => new Place('oslo'), { returns: [Place, Map, Error] }),
    );
  assert.ok((await run()) instanceof Place);
  assert.deepEqual(await run(), new Place('oslo'));
  const text = encodeValue(new Place('rome')).replace('"Place"', '"Elsewhere"');
  assert.throws(() => decodeValue(JSON.parse(text)), says('of the class Elsewhere: register it'));
});

test('a name belongs to one class', () => {
  assert.throws(() => registerClass(Fee, { name: 'Money', to: () => 1, from: () => new Fee(1) }), {
    code: 'usage',
  });
  // Again, as when a module is loaded twice by a test runner.
  registerClass(Money, {
    to: ({ cents, of }) => ({ cents, of }),
    from: ({ cents, of }) => new Money(cents, of),
  });
  assert.deepEqual(passThrough(new Money(1)), new Money(1));
});

const langgraph = createRequire(new URL('../../langgraph/package.json', import.meta.url));
function findMessages(): string | undefined {
  try {
    return langgraph.resolve('@langchain/core/messages');
  } catch {
    return undefined;
  }
}

test("LangChain's messages come back as such", {
  skip: findMessages() ? false : 'npm ci in test/langgraph',
}, async () => {
  const messages = await import(pathToFileURL(findMessages() ?? '').href);
  registerLangChainMessages(messages.default ?? messages);
  const { HumanMessage, AIMessage, ToolMessage, AIMessageChunk } = messages.default ?? messages;
  const conversation = [
    new HumanMessage('hello'),
    new AIMessage({ content: '', tool_calls: [{ id: 't1', name: 'find', args: { a: 1 } }], id: 'm1' }),
    new ToolMessage({ content: 'found', tool_call_id: 't1', artifact: new Map([['a', 1]]) }),
    new AIMessageChunk({ content: 'and' }),
  ];
  const back = passThrough(conversation) as typeof conversation;
  // What LangChain notes about a constructor's arguments may differ.
  const own = (message: object) => Object.entries(message).filter(([name]) => name !== 'lc_kwargs');
  assert.deepEqual(back.map(own), conversation.map(own));
  for (const [index, message] of back.entries())
    assert.equal(message.constructor, conversation[index]?.constructor);
});
