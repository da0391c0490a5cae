/** A worker on the file store: which of the runs without a holder it takes up, and when. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { enqueueRun } from '../../../src/durable/dispatch/act-on-run.ts';
import { waitForRun } from '../../../src/durable/dispatch/wait-for-run.ts';
import { answerApproval, summarizeRun } from '../../../src/durable/inspect.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import { startWorker } from '../../../src/durable/worker.ts';
import { crashingStore } from '../random/crashing-store.ts';
import { until } from '../until.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-worker-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('a queued run is begun by the functions of workers only', async (t) => {
  const store = new FileStore(join(folder, 'queued'));
  const program = async ({ input }: { input: unknown }) => agent.step('send', () => `sent ${input}`);
  const options = { durable: true, store, notify: () => {} } as const;
  const isRefused = (error: Error & { code?: string }) =>
    error.code === 'usage' &&
    /run a was queued .* program sends, .*startWorker.*waitForRun/.test(error.message);
  for (const id of ['a', 'b']) await enqueueRun(store, 'sends', { id, input: 5 });
  const other = async () => 'of another function';
  await assert.rejects(agent.run('sends', { ...options, id: 'a' }, other), isRefused);
  const worker = startWorker({ store, programs: { sends: program }, most: 1, everyMs: 20 });
  t.after(() => worker.stop());
  assert.equal(await waitForRun(store, 'a'), 'sent 5');
  assert.equal(await waitForRun(store, 'b'), 'sent 5');
  assert.equal(await agent.run('sends', { ...options, id: 'a' }, other), 'sent 5', 'it has ended');
  await worker.stop();
  await enqueueRun(store, 'sends', { id: 'a2', input: 6 });
  assert.equal(await agent.run('sends', { ...options, id: 'a2' }, program), 'sent 6');
});

test('runs that wait for a person take no place from those that were interrupted', async () => {
  const store = new FileStore(folder);
  const programs = {
    asks: async () => (await agent.waitForApproval('go', { what: 'all' })).approved,
    works: () => agent.step('work', () => 'done'),
  };
  for (const id of ['a1', 'a2', 'a3']) {
    const controller = new AbortController();
    // Its end is not recorded, as after a kill.
    const mortal = crashingStore(store, 4, 'before');
    const options = {
      id,
      durable: true,
      store: mortal,
      signal: controller.signal,
      notify: () => {},
    } as const;
    const dying = agent.run('asks', options, programs.asks).catch(() => {});
    const isAsked = async () =>
      (await summarizeRun(store, id).catch(() => undefined))?.waitingFor.length === 1;
    await until(isAsked);
    controller.abort();
    await dying;
  }
  const mortal = crashingStore(store, 3, 'after');
  await agent
    .run('works', { id: 'z1', durable: true, store: mortal, notify: () => {} }, programs.works)
    .catch(() => {});

  const ended: string[] = [];
  const options = { notify: () => {} };
  const worker = startWorker({
    store,
    programs,
    options,
    most: 2,
    everyMs: 20,
    onEnd: (id, error) => ended.push(error ? `${id}: ${error}` : id),
  });
  await until(() => ended.length > 0);
  assert.deepEqual(ended, ['z1']);
  for (const id of ['a1', 'a2', 'a3']) await answerApproval(store, id, 'go', { approved: true });
  await until(() => ended.length === 4);
  assert.deepEqual(ended.toSorted(), ['a1', 'a2', 'a3', 'z1']);
  await worker.stop();
});

test('who has queued a run waits for its result, or its last error', async () => {
  const store = new FileStore(join(folder, 'waited for'));
  let tries = 0;
  const worker = startWorker({
    store,
    options: { notify: () => {} },
    programs: {
      adds: async ({ input }) => (input as number) + 1,
      fails: async () => {
        tries++;
        throw new RangeError('too much');
      },
    },
  });
  await enqueueRun(store, 'adds', { id: 'sum', input: 6 });
  assert.equal(await waitForRun(store, 'sum'), 7);
  assert.equal(await waitForRun(store, 'sum'), 7);
  await enqueueRun(store, 'fails', { id: 'bad', retry: { attempts: 2, delayMs: 1 } });
  await assert.rejects(waitForRun(store, 'bad'), { name: 'RangeError', message: 'too much' });
  assert.equal(tries, 2);
  await enqueueRun(store, 'nobody has it', { id: 'lost' });
  await assert.rejects(waitForRun(store, 'lost', { signal: AbortSignal.timeout(20) }), {
    name: 'TimeoutError',
  });
  await assert.rejects(waitForRun(store, 'unknown'), { code: 'not-found' });
  await worker.stop();
});
