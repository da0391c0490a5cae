/** Programs that go on after their run was cancelled or lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { cancelRun } from '../../../src/durable/dispatch/act-on-run.ts';
import { summarizeRun } from '../../../src/durable/inspect.ts';
import { newRun } from '../random/killed-runs.ts';
import { until } from '../until.ts';

const everAgain = (pause: () => unknown) => async () => {
  for (;;)
    try {
      return await agent.step('call', () => Promise.reject(new Error('503')));
    } catch {
      await pause();
    }
};

test('a loop that tries again whatever the error ends when its run is cancelled', async () => {
  const { store, live } = newRun();
  const cancel = until(() => store.list().includes('r')).then(() =>
    cancelRun(store, 'r', { reason: 'ordered twice' }),
  );
  await assert.rejects(live(everAgain(() => sleep(20))), /was cancelled.*ordered twice/);
  await cancel;
  assert.equal((await summarizeRun(store, 'r')).state, 'cancelled');
});

test('such a loop without a pause does not keep the process busy when its run can no longer be recorded', async () => {
  const { dieAt, live } = newRun();
  assert.ok(
    await dieAt(
      7,
      everAgain(() => null),
    ),
  );
  assert.equal(await live(async () => agent.step('call', () => 'well')).catch(() => 'changed'), 'changed');
});

test('a clean-up of refused calls comes to its end', async () => {
  const { dieAt } = newRun();
  const refusals: string[] = [];
  let isClean = false;
  const program = async () => {
    try {
      for (let turn = 0; turn < 5; turn++) await agent.step('work', () => null);
    } finally {
      for (let turn = 0; turn < 100; turn++)
        await Promise.resolve(agent.step('release', () => null)).catch(({ message }) =>
          refusals.push(message),
        );
      isClean = true;
    }
  };
  assert.ok(await dieAt(5, program));
  assert.ok(isClean);
  assert.deepEqual(new Set(refusals), new Set(['the process died here']));
});

test('many branches that end by one refused call each all come to their end', async () => {
  const { dieAt } = newRun();
  const branches = 16;
  const cleaned: number[] = [];
  const program = () =>
    Promise.allSettled(
      Array.from({ length: branches }, async (_, at) => {
        await agent.step('read', () => null, { key: `${at}` });
        await sleep(at * 100);
        try {
          await agent.step('write', () => null, { key: `${at}` });
        } finally {
          cleaned.push(at);
        }
      }),
    );
  assert.ok(await dieAt(2 * branches + 3, program));
  assert.equal(cleaned.length, branches);
});
