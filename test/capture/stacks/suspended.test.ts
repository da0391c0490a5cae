import assert from 'node:assert/strict';
import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { EventEmitter, once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { listSuspended } from '../../../src/capture/stacks/suspended.ts';

const bus = new EventEmitter();
const always = (): boolean => true;
/** Names of the functions of each stack, without those of Node and of other packages. */
const namesIn = (stacks: string[], wanted: RegExp): string[][] =>
  stacks
    .filter((stack) => wanted.test(stack))
    .map((stack) => [...stack.matchAll(/at async (?:[\w.]+\.)?(\w+) \(/g)].map(([, name]) => name ?? ''));

async function leaf(name: string): Promise<void> {
  await once(bus, name);
}

test('who awaits whom is told, the innermost first, once', async () => {
  async function middle(): Promise<void> {
    await leaf('a');
  }
  async function outer(): Promise<void> {
    await middle();
  }
  const done = outer();
  await delay(1);
  const { stacks, promises, left } = listSuspended(always);
  assert.ok(promises > 3 && left === 0);
  assert.deepEqual(namesIn(stacks, /middle/), [['leaf', 'middle', 'outer']]);
  bus.emit('a');
  await done;
  assert.deepEqual(namesIn(listSuspended(always).stacks, /middle/), []);
});

test('through Promise.all, async generators, then and a class', async () => {
  class Store {
    async read(): Promise<void> {
      await leaf('b');
    }
  }
  async function* rows(): AsyncGenerator<number> {
    await new Store().read();
    yield 1;
  }
  async function list(): Promise<void> {
    for await (const _ of rows());
  }
  async function both(): Promise<void> {
    await Promise.all([list().then(() => 1), delay(1)]);
  }
  const done = both();
  await delay(20);
  const [stack = ''] = listSuspended(always).stacks.filter((text) => /both/.test(text));
  assert.match(stack, /leaf .*\n.*read .*\n.*rows .*\n.*list .*\n(?:.*\n)*.*Promise\.all.*\n.*both /);
  bus.emit('b');
  await done;
});

test('nothing of the program is changed or run: no reaction, no microtask, no store, no constructor', async () => {
  let touched = 0;
  class Odd extends Promise<number> {
    static override get [Symbol.species](): PromiseConstructor {
      touched++;
      return Promise;
    }
  }
  const odd = new Odd(() => {});
  Object.defineProperty(odd, 'constructor', { get: () => touched++ });
  Object.defineProperty(odd, 'then', { get: () => touched++ });
  const store = new AsyncLocalStorage<string>();
  let ran = 0;
  await store.run('mine', async () => {
    queueMicrotask(() => ran++);
    const { promises } = listSuspended(always);
    assert.ok(promises > 0);
    assert.equal(ran, 0);
    assert.equal(store.getStore(), 'mine');
    await null;
    assert.equal(store.getStore(), 'mine');
  });
  assert.equal(ran, 1);
  assert.equal(touched, 0);
  assert.ok(odd instanceof Odd);
});

test('what replaced Promise, its then and Error is not asked', async () => {
  const { Promise: OwnPromise, Error: OwnError } = globalThis;
  const { then } = OwnPromise.prototype;
  const waiting = leaf('c');
  const throwing = (): never => {
    throw new OwnError('asked');
  };
  try {
    Object.assign(globalThis, { Promise: throwing, Error: throwing });
    Reflect.set(OwnPromise.prototype, 'then', throwing);
    assert.match(listSuspended(always).stacks.join('\n'), /leaf/);
  } finally {
    Reflect.set(OwnPromise.prototype, 'then', then);
    Object.assign(globalThis, { Promise: OwnPromise, Error: OwnError });
  }
  bus.emit('c');
  await waiting;
});

test('with async hooks on it is the same', async () => {
  const hook = createHook({ init() {}, before() {}, after() {}, promiseResolve() {} }).enable();
  const waiting = leaf('d');
  try {
    assert.match(listSuspended(always).stacks.join('\n'), /leaf/);
  } finally {
    hook.disable();
  }
  bus.emit('d');
  await waiting;
});

test('out of time, the rest is counted', async () => {
  const many = Array.from({ length: 3000 }, () => new Promise(() => {}));
  const { promises, left } = listSuspended(() => false);
  assert.equal(promises, 63);
  assert.ok(left >= 2900);
  assert.equal(many.length, 3000);
});

test('functions of another context, as jest runs its test files in', async () => {
  const { createContext, runInContext } = await import('node:vm');
  const waiters: (() => void)[] = [];
  const text = `(async function acquire() { await new Promise((settle) => waiters.push(settle)); })()`;
  const done: unknown[] = [];
  // Contexts that are gone, and one that is still there, are beside it.
  for (let count = 0; count < 6; count++) {
    const context = createContext({ waiters });
    done.push(runInContext(text, context, { filename: '/app/pool.js' }));
    await delay(1);
    assert.deepEqual(namesIn(listSuspended(always).stacks, /acquire/), []);
    assert.deepEqual(namesIn(listSuspended(always, undefined, [context]).stacks, /acquire/), [['acquire']]);
    assert.deepEqual(listSuspended(always, undefined, [{}]).left, 0);
    for (const settle of waiters.splice(0)) settle();
    await done.pop();
    assert.deepEqual(namesIn(listSuspended(always, undefined, [context]).stacks, /acquire/), []);
  }
  // Nothing is left of how the function was handed over.
  const left = Object.getOwnPropertySymbols(Function).filter((key) => String(key).includes('agentdump'));
  assert.deepEqual(left, []);
});
