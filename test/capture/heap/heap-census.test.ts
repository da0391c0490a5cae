import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeHeapCensus } from '../../../src/capture/heap/census.ts';

class Remembered {
  readonly at: number;
  constructor(at: number) {
    this.at = at;
  }
}

test('objects are counted by class, plain ones by their keys, collections by their entries', () => {
  const kept = Array.from({ length: 30_000 }, (_, at) => new Remembered(at));
  const messages = Array.from({ length: 60_000 }, (_, at) => ({ role: 'user', content: at }));
  const results = Array.from({ length: 60_000 }, (_, at) => ({ tool_call_id: at }));
  const map = new Map(kept.map((one) => [one.at, one]));
  const census = takeHeapCensus();
  assert.ok(census);
  assert.equal(census.classes.find(({ name }) => name === 'Remembered')?.count, 30_000);
  for (const [name, count] of [
    ['{role, content}', messages.length],
    ['{tool_call_id}', results.length],
  ] as const) {
    const said = census.shapes.find((shape) => shape.name === name)?.count ?? 0;
    assert.ok(Math.abs(said / count - 1) < 0.1, `${name}: ${said}`);
  }
  const named = census.collections.map(({ name, entries, of }) => `${name} ${entries} ${of ?? ''}`);
  assert.ok(named.includes('Array 60000 {role, content}'), named.join(', '));
  assert.ok(named.includes('Array 30000 Remembered'), named.join(', '));
  assert.ok(named.includes(`Map ${map.size} `), named.join(', '));
  // Keeps them alive until here.
  assert.equal(kept.length, map.size);
});

test('a collection is one, whatever else inherits from its prototype', () => {
  const heirs = Array.from({ length: 20 }, () => Object.create(Map.prototype) as object);
  const map = new Map(Array.from({ length: 40_000 }, (_, at) => [at, at]));
  const census = takeHeapCensus();
  assert.ok(census?.collections.some(({ name, entries }) => name === 'Map' && entries === map.size));
  assert.equal(heirs.length, 20);
});

test('no code of the program runs while it counts', () => {
  let ran = 0;
  const trap = () => {
    ran++;
    return undefined as never;
  };
  const proxy = new Proxy(
    {},
    { getPrototypeOf: trap, get: trap, ownKeys: trap, getOwnPropertyDescriptor: trap },
  );
  const hostile = Array.from({ length: 5000 }, () =>
    Object.create(Object.defineProperty({}, 'constructor', { get: trap })),
  );
  const withGetter = Array.from({ length: 2000 }, () =>
    Object.defineProperty({}, 'content', { get: trap, enumerable: true }),
  );
  const array = Array.from({ length: 5000 }, (_, at) => at);
  Object.defineProperty(array, 4999, { get: trap });
  const ofProxies = Array.from({ length: 5000 }, () => proxy);
  class Sized extends Map<number, object> {
    override get size(): number {
      return trap() ?? 0;
    }
  }
  const map = new Sized(ofProxies.slice(0, 2000).map((one, at): [number, object] => [at, one]));
  const census = takeHeapCensus();
  assert.ok(census && census.objects > 10_000);
  assert.equal(ran, 0);
  assert.ok(census.collections.some(({ name, entries }) => name === 'Sized' && entries === 2000));
  assert.equal(
    hostile.length + withGetter.length + array.length + ofProxies.length + map.constructor.length,
    17_000,
  );
  assert.deepEqual(
    Object.getOwnPropertySymbols(globalThis).filter((key) => key.description === 'agentdump.objects'),
    [],
  );
});

test('plain objects are told by their keys, though arrays may have their prototype, as Array.prototype has', () => {
  const odd = Array.from({ length: 5000 }, () => Object.setPrototypeOf([], Object.prototype) as object);
  const plain = Array.from({ length: 40_000 }, (_, at) => ({ seen: at }));
  const said = takeHeapCensus()?.shapes.find(({ name }) => name === '{seen}')?.count ?? 0;
  assert.ok(Math.abs(said / plain.length - 1) < 0.1, `${said}`);
  assert.equal(odd.length, 5000);
});
