import assert from 'node:assert/strict';
import { test } from 'node:test';
import { walkHeap } from '../../../src/capture/heap/walk.ts';
import { askV8 } from '../../../src/capture/host/ask-v8.ts';
import { ClosureScopes } from '../../../src/capture/stacks/closure-scopes.ts';

const tools = { scopes: undefined, v8: undefined, largeBytes: 0, hasTime: () => true };

class Session {
  readonly messages: { role: string; content: string }[];
  readonly shared: object;
  constructor(at: number, shared: object) {
    this.messages = [{ role: 'user', content: `this is what was said in session ${at}` }];
    this.shared = shared;
  }
}

function countOf(rows: { name: string; count: number }[], name: string): number {
  return rows.find((row) => row.name === name)?.count ?? 0;
}

test('members of large collections are scaled up from a sample, what they share is not', () => {
  const shared = { theOne: true };
  const cache = new Map(
    Array.from({ length: 100_000 }, (_, at) => [`session ${at}`, new Session(at, shared)]),
  );
  const walked = walkHeap([{ value: { cache }, at: 'app.js' }], tools);
  assert.ok(walked.sample && walked.sample.lookedAt < 500, JSON.stringify(walked.sample));
  for (const [name, count] of [
    [countOf(walked.classes, 'Session'), 100_000],
    [countOf(walked.shapes, '{role, content}'), 100_000],
    [countOf(walked.shapes, '{theOne}'), 1],
    [countOf(walked.classes, 'string'), 200_000],
  ] as const)
    assert.ok(Math.abs(name / count - 1) < 0.05, `${name} for ${count}: ${JSON.stringify(walked)}`);
  assert.deepEqual(walked.collections, [{ name: 'Map', entries: 100_000, at: 'app.js.cache' }]);
});

test("a module's own variables are reached by a function that it gave away", () => {
  const hidden = Array.from({ length: 50_000 }, (_, at) => ({ tool_call_id: at }));
  const scopes = new ClosureScopes();
  try {
    const walked = walkHeap([{ value: { handler: () => hidden.length }, at: 'tools.js' }], {
      ...tools,
      scopes,
    });
    const [found] = walked.collections;
    assert.deepEqual([found?.name, found?.entries, found?.of], ['Array', 50_000, '{tool_call_id}']);
    assert.match(found?.at ?? '', /^tools\.js\.handler\(\) hidden$/);
    assert.ok(Math.abs(countOf(walked.shapes, '{tool_call_id}') / 50_000 - 1) < 0.05);
  } finally {
    scopes.close();
  }
});

test('a table of a million keys is not enumerated where V8 tells that it is one', () => {
  const table: Record<string, number> = {};
  for (let at = 0; at < 20_000; at++) table[`id${at}`] = at;
  const walked = askV8((v8) =>
    walkHeap([{ value: { table }, at: 'a.js' }], { ...tools, v8, largeBytes: 100e6 }),
  );
  assert.equal(countOf(walked?.shapes ?? [], '(of many keys)'), 1);
  assert.equal(walked?.sample?.lookedAt, 2);
});

test('it ends when its time is over, and says how far it came', () => {
  const tree = (depth: number): object =>
    depth === 0 ? {} : { left: tree(depth - 1), right: tree(depth - 1) };
  let asked = 0;
  const walked = walkHeap([{ value: tree(14), at: 'a.js' }], { ...tools, hasTime: () => ++asked < 3 });
  assert.ok(walked.sample && walked.sample.lookedAt < 300);
  assert.match(walked.sample.reason, /the first \d+ objects$/);
});

test('the variables of functions, which take long, are left when its time is over', () => {
  const scopes = { of: () => assert.fail('V8 was asked') } as unknown as ClosureScopes;
  const program = { first: () => {}, second: () => {}, other: {} };
  const walked = walkHeap([{ value: program, at: 'a.js' }], { ...tools, scopes, hasTime: () => false });
  assert.equal(walked.sample?.lookedAt, 4);
  assert.match(walked.sample.reason, /, without the variables of 2 functions$/);
});

test('no code of the program runs while it walks', () => {
  let ran = 0;
  const trap = () => {
    ran++;
    return undefined as never;
  };
  const proxy = new Proxy(
    {},
    { getPrototypeOf: trap, get: trap, ownKeys: trap, getOwnPropertyDescriptor: trap },
  );
  const withGetters = Object.defineProperty({ proxy }, 'content', { get: trap, enumerable: true });
  const array = Array.from({ length: 5000 }, (_, at) => ({ at }));
  Object.defineProperty(array, 4999, { get: trap });
  class Hostile extends Map {
    override entries = trap;
    override get size(): number {
      return trap();
    }
  }
  walkHeap(
    [
      {
        value: {
          proxy,
          withGetters,
          array,
          map: Object.setPrototypeOf(new Map([[1, proxy]]), Hostile.prototype) as object,
        },
        at: 'a.js',
      },
    ],
    tools,
  );
  assert.equal(ran, 0);
});
