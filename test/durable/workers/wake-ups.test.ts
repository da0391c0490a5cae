/**
 * What makes a waiting run due, whoever dies meanwhile; runs that are queued while another process holds them; times that are
 * never reached; signals. On the file store.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { cancelRun, enqueueRun, sendSignal } from '../../../src/durable/dispatch/act-on-run.ts';
import { answerApproval, rollBack, summarizeRun } from '../../../src/durable/inspect.ts';
import { pruneRuns } from '../../../src/durable/runs/run-retention.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import type { RunTitle } from '../../../src/durable/stores/store.ts';
import { recordKinds } from '../../../src/journal/layout/records.ts';
import { until } from '../until.ts';
import { workAndRecord as work } from './stores-under-test.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-wake-ups-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const fresh = () => new FileStore(join(folder, `dumps-${count++}`));
const dirOf = (store: FileStore) => join(store.place, '..');

/** Dies between storing an answer and the entry that makes its run due. */
class DyingStore extends FileStore {
  override rest(): void {
    throw new Error('killed here');
  }
}

const programs = {
  asks: async () => {
    await agent.step('before', () => 1);
    return (await agent.waitForApproval('go')).approved;
  },
  job: ({ id }: { id: string }) => agent.step('work', () => id),
};

/** A run that was suspended by a worker that has since been stopped. */
async function resting(t: TestContext, store: FileStore): Promise<void> {
  await enqueueRun(store, 'asks', { id: 'a' });
  const { worker } = work(t, { store, programs });
  await until(async () => {
    const { waitingFor, holder } = await summarizeRun(store, 'a');
    return waitingFor.length > 0 && holder === undefined;
  });
  await worker.stop();
  assert.deepEqual(store.findDue(['asks'], 9), []);
}

test('who answers may die before he has said so: a worker finds it', async (t) => {
  const store = fresh();
  await resting(t, store);
  await assert.rejects(answerApproval(new DyingStore(dirOf(store)), 'a', 'go', { approved: true }), /killed/);
  assert.deepEqual(store.findDue(['asks'], 9), []);
  const { ended } = work(t, { store, programs });
  await until(() => ended.get('a') === 'well');
});

test('who answers again, since he died the first time, makes the run due', async (t) => {
  const store = fresh();
  await resting(t, store);
  const wish = { approved: true };
  await assert.rejects(answerApproval(new DyingStore(dirOf(store)), 'a', 'go', wish), /killed/);
  await assert.rejects(answerApproval(store, 'a', 'go', wish), /answered already/);
  assert.equal(store.findDue(['asks'], 9).length, 1);
});

test('an answer between the last look and the entry makes the run due, also if whoever gave it died', async (t) => {
  const store = fresh();
  await resting(t, store);
  const handle = store.open('a', { name: 'asks', isWork: true });
  const mark = handle.mark();
  assert.throws(() => new DyingStore(dirOf(store)).answer('a', 'x', Buffer.from('y')), /killed/);
  handle.release({ isOver: false, dueAtMs: 'never', mark });
  assert.equal(store.findDue(['asks'], 9).length, 1);
});

test('a rollback makes a run due that was put to rest', async (t) => {
  const store = fresh();
  await resting(t, store);
  await rollBack(store, 'a', 'before');
  assert.deepEqual(store.findDue(['asks'], 9), [{ id: 'a', name: 'asks' }]);
});

test('a run that somebody has in hand and finds empty is queued all the same', async () => {
  const store = fresh();
  const other = store.open('a', { name: 'job' });
  const queued = enqueueRun(store, 'job', { id: 'a', input: 1 });
  // As a worker does with a run that was never begun.
  other.release({ isOver: true });
  assert.deepEqual(await queued, { id: 'a', isNew: true });
  assert.equal(store.findDue(['job'], 9).length, 1);
  const held = store.open('a', { name: 'job' });
  assert.deepEqual(await enqueueRun(store, 'job', { id: 'a' }), { id: 'a', isNew: false });
  held.release();
});

test('no entry is there before its lease; one that is killed while it queues keeps its time', async () => {
  const store = fresh();
  const title: RunTitle = { name: 'job', dueAtMs: Date.now() + 3_600_000 };
  const held = store.open('a', title);
  rmSync(join(store.place, '.resting', 'a'));
  assert.throws(() => store.open('a', title), { code: 'held' });
  for (const folder of ['.open', '.resting'])
    assert.throws(() => rmSync(join(store.place, folder, 'a')), { code: 'ENOENT' });
  held.release();
  store.open('b', title).release();
  assert.deepEqual(store.findDue(['job'], 9), []);
  await assert.rejects(enqueueRun(store, 'job', { startAt: new Date(Number.NaN) }), { code: 'usage' });
});

test('times that no clock comes to: never, or an error at once', async (t) => {
  const store = fresh();
  const wrong = (call: () => Promise<unknown>) => assert.rejects(async () => call(), { code: 'usage' });
  const patient = {
    waits: async () => {
      await wrong(() => agent.waitForSignal('x', { timeoutMs: Number.NaN }));
      await wrong(() => agent.waitForSignal('x', { timeoutMs: 9e15 }));
      await wrong(() => agent.sleep('x', 9e15));
      await wrong(() => agent.sleep('x', Number.POSITIVE_INFINITY));
      await agent.step('no limit', () => new Promise((resolve) => setTimeout(resolve, 20)), {
        timeoutMs: Number.POSITIVE_INFINITY,
      });
      return (await agent.waitForSignal('news', { timeoutMs: Number.POSITIVE_INFINITY }))?.value;
    },
  };
  await enqueueRun(store, 'waits', { id: 'a' });
  const { ended } = work(t, { store, programs: patient });
  await until(async () => {
    const { waitingFor, holder } = await summarizeRun(store, 'a');
    return waitingFor.length > 0 && holder === undefined;
  });
  assert.deepEqual(store.findDue(['waits'], 9), []);
  await sendSignal(store, 'a', 'news', { value: 'at last' });
  await until(() => ended.size > 0);
  const options = { id: 'a', durable: true, store } as const;
  assert.equal(await agent.run('waits', options, () => 'not run'), 'at last');
  // As recorded by older releases.
  const handle = store.open('old');
  const add = (kind: number, facts: object) => handle.append(kind, JSON.stringify(facts), false);
  add(recordKinds.durableRun, { event: 'begin', schema: 1, run: 'old', name: 'waits' });
  add(recordKinds.durableApproval, { event: 'asked', path: 'signal:s', id: 'i', signal: 's', untilMs: null });
  add(recordKinds.durableApproval, { event: 'asked', path: 'sleep:l', id: 'j', untilMs: 1e18 });
  handle.release({ isOver: false, dueAtMs: 1e18 });
  const { waitingFor } = await summarizeRun(store, 'old');
  assert.deepEqual(
    waitingFor.map(({ answered, until: end }) => [answered, end]),
    [
      [false, undefined],
      [false, '+275760-09-13T00:00:00.000Z'],
    ],
  );
});

test('the thousandth signal costs few looks', async () => {
  const store = fresh();
  await enqueueRun(store, 'asks', { id: 'a' });
  let kept = 0;
  let looks = 0;
  class CountingStore extends FileStore {
    override answer(run: string, path: string, payload: Uint8Array): boolean {
      kept++;
      return super.answer(run, path, payload);
    }
    override findAnswer(run: string, path: string): Uint8Array | undefined {
      looks++;
      return super.findAnswer(run, path);
    }
  }
  const counting = new CountingStore(dirOf(store));
  for (let slot = 0; slot < 100; slot++) assert.equal(await sendSignal(counting, 'a', 'news'), slot);
  assert.equal(kept, 100);
  assert.ok(looks <= 1_500, `${looks} looks`);
});

test('a try that was given up takes no signal from the next one', async (t) => {
  const store = fresh();
  let tries = 0;
  const listening = {
    listens: () =>
      agent.step(
        'outer',
        async () => {
          tries++;
          const news = agent.waitForSignal('news');
          if (tries === 1) {
            // The wait has been recorded, and nobody awaits it any more.
            await agent.step('asked', () => 1);
            throw new Error('first');
          }
          return (await news)?.value;
        },
        { retry: { attempts: 2, delayMs: 1 } },
      ),
  };
  await enqueueRun(store, 'listens', { id: 'a' });
  const { ended } = work(t, { store, programs: listening });
  await until(() => tries === 2);
  await sendSignal(store, 'a', 'news', { value: 'for the second' });
  await until(() => ended.size > 0);
  const options = { id: 'a', durable: true, store } as const;
  assert.equal(await agent.run('listens', options, () => 'not run'), 'for the second');
});

test('a cancelled run is removed like a finished one', async () => {
  const store = fresh();
  await enqueueRun(store, 'job', { id: 'a' });
  await cancelRun(store, 'a');
  const limits = { maxRuns: 1_000, maxBytes: 1e9, maxDays: 30 };
  const nowMs = Date.now() + 31 * 86_400_000;
  assert.deepEqual(pruneRuns(store, limits, { nowMs }).removed, ['a']);
});
