import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchGlobalNames } from '../../src/agent/first-signs.ts';

const name = 'AI_SDK_TELEMETRY_INTEGRATIONS';
const globals = globalThis as unknown as Record<PropertyKey, unknown>;
const storage = Symbol.for('ls:tracing_async_local_storage');

test('a look at a name wakes once, and sees what waking left there', () => {
  let woken = 0;
  const stop = watchGlobalNames(() => {
    woken++;
    globals[storage] = 'ours';
  });
  assert.equal(name in globals, true);
  assert.deepEqual(Object.keys(globalThis).includes(name), false);
  assert.equal(globals[storage], 'ours');
  assert.equal(globals[storage], 'ours');
  assert.deepEqual([woken, name in globals], [1, false]);
  delete globals[storage];
  stop();
});

test('a name that is set wakes first and then has the value', () => {
  const order: string[] = [];
  const stop = watchGlobalNames(() => order.push(`woken, ${String(name in globals)}`));
  globals[name] = ['theirs'];
  assert.deepEqual([order, globals[name]], [['woken, false'], ['theirs']]);
  delete globals[name];
  stop();
});

test('undone, nothing is left; a name that is taken is left alone', () => {
  globals[name] = 'taken';
  const stop = watchGlobalNames(() => assert.fail('woken'));
  assert.equal(globals[name], 'taken');
  stop();
  assert.deepEqual([globals[name], storage in globals], ['taken', false]);
  delete globals[name];
});
