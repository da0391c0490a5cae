/** Runs that a queue of the host performs: what is passed on to it, and what one job does. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { cancelRun, enqueueRun, sendSignal } from '../../../src/durable/dispatch/act-on-run.ts';
import { waitForRun } from '../../../src/durable/dispatch/wait-for-run.ts';
import { answerApproval, summarizeRun } from '../../../src/durable/inspect.ts';
import { forwardDueRuns, performDueRun } from '../../../src/durable/jobs.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import type { DueRun } from '../../../src/durable/stores/store.ts';
import { crashingStore } from '../random/crashing-store.ts';
import { until } from '../until.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-host-jobs-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const fresh = () => new FileStore(join(folder, `${count++}`));

let done: string[] = [];
const act = (name: string) => agent.step(name, () => done.push(name));
const programs = {
  asks: async () => {
    await act('before');
    const { approved } = await agent.waitForApproval('go', { sum: 5 });
    await act(approved ? 'yes' : 'no');
  },
  sleeps: async () => {
    await agent.sleep('long', 3_600_000);
  },
  fails: async () => {
    done.push('try');
    throw new Error('as it should');
  },
  parent: async () => agent.childRun('child', { id: 'the child', input: 3 }),
  child: async ({ input }: { input: unknown }) => agent.step('double', () => Number(input) * 2),
  hears: async () => (await agent.waitForSignal('news'))?.value,
};
const options = { notify: () => {} };
const perform = (store: FileStore, id: string) => performDueRun(store, id, { programs, options });

/** A queue of jobs in memory, which performs one at a time. */
function startQueue(t: TestContext, store: FileStore) {
  const states: string[] = [];
  const waiting = new Set<string>();
  let last = Promise.resolve();
  const forwarder = forwardDueRuns({
    store,
    names: Object.keys(programs),
    everyMs: 20,
    add: ({ id }: DueRun) => {
      if (waiting.has(id)) return;
      waiting.add(id);
      last = last.then(async () => {
        waiting.delete(id);
        const { state } = await perform(store, id);
        states.push(`${id} ${state}`);
      });
    },
  });
  t.after(async () => {
    await forwarder.stop();
    await last;
  });
  return states;
}

test('a run that waits gives up its job, and is passed on again when it is answered', async (t) => {
  done = [];
  const store = fresh();
  const states = startQueue(t, store);
  await enqueueRun(store, 'asks', { id: 'a' });
  await until(() => states.length > 0);
  assert.deepEqual(states, ['a waiting']);
  assert.equal((await summarizeRun(store, 'a')).holder, undefined);
  await answerApproval(store, 'a', 'go', { approved: true });
  await waitForRun(store, 'a');
  await until(() => states.length > 1);
  assert.deepEqual(states, ['a waiting', 'a finished']);
  assert.deepEqual(done, ['before', 'yes']);
});

test('children, signals and failed runs with tries left are passed on like any other', async (t) => {
  done = [];
  const store = fresh();
  startQueue(t, store);
  await enqueueRun(store, 'parent', { id: 'p' });
  await enqueueRun(store, 'hears', { id: 'h' });
  await enqueueRun(store, 'fails', { id: 'f', retry: { attempts: 3, delayMs: 30 } });
  await sendSignal(store, 'h', 'news', { value: 'rain' });
  assert.equal(await waitForRun(store, 'p'), 6);
  assert.equal(await waitForRun(store, 'h'), 'rain');
  await assert.rejects(waitForRun(store, 'f'), /as it should/);
  assert.equal(done.filter((name) => name === 'try').length, 3);
});

test('what a job tells: the time of a sleep and of the next try, and what no job need do', async () => {
  const store = fresh();
  await enqueueRun(store, 'sleeps', { id: 's' });
  const slept = await perform(store, 's');
  assert.equal(slept.state, 'waiting');
  assert.ok(Math.abs(Number(slept.dueAt) - Date.now() - 3_600_000) < 60_000);
  await enqueueRun(store, 'fails', { id: 'f', retry: { attempts: 2, delayMs: 1_000_000 } });
  const failed = await perform(store, 'f');
  assert.equal(failed.state, 'retrying');
  assert.match(String(failed.error), /as it should/);
  assert.ok(Number(failed.dueAt) > Date.now());
  const last = await perform(store, 'f');
  assert.deepEqual([last.state, last.dueAt], ['failed', undefined]);
  assert.deepEqual(await perform(store, 'f'), { state: 'over' });
  await cancelRun(store, 's');
  assert.deepEqual(await perform(store, 's'), { state: 'over' });
  const handle = store.open('h', { name: 'hears' });
  assert.deepEqual(await perform(store, 'h'), { state: 'held' });
  handle.release();
});

test('a run whose process died is passed on, and none of its steps is repeated unnamed', async (t) => {
  done = [];
  const store = fresh();
  await enqueueRun(store, 'asks', { id: 'a' });
  await answerLater(store);
  // Without `rest`, as a process that is killed.
  const { rest: _, ...mortal } = crashingStore(store, 6, 'after');
  await assert.rejects(performDueRun(mortal, 'a', { programs, options }));
  startQueue(t, store);
  await waitForRun(store, 'a');
  assert.deepEqual(done, ['before', 'yes']);
});

async function answerLater(store: FileStore): Promise<void> {
  void until(async () => (await summarizeRun(store, 'a')).waitingFor.length > 0).then(() =>
    answerApproval(store, 'a', 'go', { approved: true }),
  );
}

test('a job that was lost comes again, and a queue that fails loses none', async (t) => {
  const store = fresh();
  await enqueueRun(store, 'child', { id: 'c', input: 4 });
  const added: string[] = [];
  const lines: string[] = [];
  const forwarder = forwardDueRuns({
    store,
    names: ['child'],
    everyMs: 20,
    againMs: 50,
    notify: (line) => lines.push(line),
    add: ({ id }) => {
      added.push(id);
      if (added.length === 1) throw new Error('the queue is full');
    },
  });
  t.after(() => forwarder.stop());
  await until(() => added.length >= 4);
  assert.deepEqual(lines, ['a job: the queue is full']);
  assert.deepEqual(await perform(store, 'c'), { state: 'finished' });
});

test('what no job can perform is refused, and says why', async () => {
  const store = fresh();
  await enqueueRun(store, 'child', { id: 'q', queue: 'model' });
  await enqueueRun(store, 'other', { id: 'o' });
  await assert.rejects(perform(store, 'q'), /in the queue model.*startWorker/);
  await assert.rejects(perform(store, 'o'), /one of other: none of the given programs/);
  await assert.rejects(perform(store, 'nobody'), /no run nobody/);
  const { findDue: _, ...rest } = store as unknown as Record<string, unknown>;
  const dull = { ...rest, place: 'here' } as unknown as FileStore;
  assert.throws(
    () => forwardDueRuns({ store: dull, names: [], add: () => {} }),
    /can't tell which runs are due/,
  );
});
