/** How the hooks of AVA and Playwright call what runs a test: its stack has no frame of theirs, and its async context is the test's. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import { callWithoutFrame } from '../../src/testing/runners/runner.ts';

test('the stack begins with the method, in the context of the call', async () => {
  const storage = new AsyncLocalStorage<string>();
  const runner = { name: 'of the runner' };
  async function runSingle(this: typeof runner, title: string) {
    const stack = new Error(title).stack ?? '';
    return { stack, context: storage.getStore(), name: this.name, title };
  }
  const running = storage.run('the test', () => callWithoutFrame(runSingle, runner, ['adds']));
  const { stack, ...rest } = (await running) as Awaited<ReturnType<typeof runSingle>>;
  assert.deepEqual(rest, { context: 'the test', name: 'of the runner', title: 'adds' });
  assert.doesNotMatch(stack, /callWithoutFrame|testing\/runners/);
  const calls = stack
    .split('\n')
    .filter((line) => line.includes('call-without-frame') && !line.includes(' async '));
  assert.equal(calls.length, 1, stack);
});
