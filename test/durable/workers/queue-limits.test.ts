/** Queues with limits on files, and what is refused. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { enqueueRun } from '../../../src/durable/dispatch/act-on-run.ts';
import { summarizeRun } from '../../../src/durable/inspect.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import type { QueueLimits } from '../../../src/durable/stores/queue-limits.ts';
import type { DurableStore } from '../../../src/durable/stores/store.ts';
import { startWorker } from '../../../src/durable/worker.ts';
import { until } from '../until.ts';
import { testQueues } from './queue-cases.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-queues-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const fresh = () => new FileStore(join(folder, `dumps-${count++}`));

testQueues({
  name: 'files',
  open: async () => fresh(),
  reopen: async (store) => new FileStore(dirname(store.place)),
});

test('a run of a queue whose entry was lost is still held to the limits', async (t) => {
  const store = fresh();
  for (const id of ['r0', 'r1', 'r2']) await enqueueRun(store, 'job', { id, queue: 'q' });
  for (const name of readdirSync(join(store.place, '.open'))) rmSync(join(store.place, '.open', name));
  let atWork = 0;
  let most = 0;
  const job = async () => {
    atWork++;
    most = Math.max(most, atWork);
    await agent.step('work', () => sleep(20));
    atWork--;
  };
  const ended: string[] = [];
  const worker = startWorker({
    store,
    everyMs: 20,
    programs: { job },
    queues: { q: { concurrency: 1 } },
    options: { notify: () => {} },
    onEnd: (id) => ended.push(id),
  });
  t.after(() => worker.stop());
  await until(() => ended.length === 3);
  assert.equal(most, 1);
});

test('a run of a queue that the host itself has continued, and left, is taken within the limits again', async (t) => {
  const store = fresh();
  await enqueueRun(store, 'job', { id: 'r', queue: 'q' });
  for (const name of readdirSync(join(store.place, '.open'))) rmSync(join(store.place, '.open', name));
  // As if the host's process had died in its step: the entry that it made does not name the queue.
  store.open('r', { name: 'job', isWork: true }).release({ isOver: false });
  const limits = { concurrency: 1 };
  const wish = { names: ['job'], except: [], most: 9, opening: { kind: 64, payload: '{}' } };
  assert.deepEqual(store.takeQueued({ ...wish, queues: { q: limits } }).runs, []);
  const ended: string[] = [];
  const programs = { job: () => agent.step('work', () => 1) };
  const start = (queues: Record<string, QueueLimits>) => {
    const options = { notify: () => {} };
    const worker = startWorker({
      store,
      everyMs: 20,
      programs,
      queues,
      options,
      onEnd: (id) => ended.push(id),
    });
    t.after(() => worker.stop());
  };
  start({});
  // It is listed with its queue, and not performed by a worker that does not declare that.
  await until(() => store.findDue(['job'], 9).length === 0);
  assert.equal((await summarizeRun(store, 'r')).state, 'queued');
  start({ q: limits });
  await until(() => ended.length === 1);
});

test('a line about a start that a death has torn does not disturb the next ones', async () => {
  const store = fresh();
  for (const id of ['r0', 'r1', 'r2']) await enqueueRun(store, 'job', { id, queue: 'q' });
  const wish = {
    names: ['job'],
    except: [],
    most: 1,
    opening: { kind: 64, payload: '{}' },
    queues: { q: { rate: { starts: 2, periodMs: 3_600_000 } } },
  };
  const takeOne = () => store.takeQueued(wish).runs.map(({ id }) => id);
  assert.equal(takeOne().length, 1);
  writeFileSync(join(store.place, '.queues', 'q', 'starts'), '\n{"atMs":12', { flag: 'a' });
  assert.equal(takeOne().length, 1);
  assert.deepEqual(takeOne(), []);
});

test('what can not be meant is refused', async () => {
  const store = fresh();
  const start = (queues: Record<string, QueueLimits>) => () => startWorker({ store, programs: {}, queues });
  for (const limits of [
    { concurrency: 0 },
    { concurrency: 1.5 },
    { rate: { starts: 0, periodMs: 1 } },
    { rate: { starts: 1 } as never },
    { perKey: { concurrency: Number.NaN } },
    { perKey: { rate: { starts: 1, periodMs: -1 } } },
  ])
    assert.throws(start({ q: limits }), { code: 'usage' }, JSON.stringify(limits));
  await assert.rejects(enqueueRun(store, 'job', { queueKey: 'k' }), { code: 'usage' });
  await assert.rejects(enqueueRun(store, 'job', { queue: '' }), { code: 'usage' });
  const { place } = store;
  const plain: DurableStore = Object.assign(Object.create(store), { place, takeQueued: undefined });
  await assert.rejects(enqueueRun(plain, 'job', { queue: 'q' }), { code: 'usage' });
  assert.throws(() => startWorker({ store: plain, programs: {}, queues: { q: {} } }), { code: 'usage' });
  assert.deepEqual(store.list(), []);
});

test('the queue and its key are shown', async () => {
  const store = fresh();
  await enqueueRun(store, 'job', { id: 'r', queue: 'q', queueKey: 'customer 7' });
  assert.deepEqual((await summarizeRun(store, 'r')).queue, { name: 'q', key: 'customer 7' });
});
