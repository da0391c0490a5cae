/** Runs that workers perform: queued, suspended while they wait, woken, retried, cancelled. On the file store. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { cancelRun, enqueueRun, sendSignal } from '../../../src/durable/dispatch/act-on-run.ts';
import { answerApproval, summarizeRun } from '../../../src/durable/inspect.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import { until } from '../until.ts';
import { workAndRecord as work } from './stores-under-test.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-dispatch-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const fresh = () => new FileStore(join(folder, `dumps-${count++}`));

const stateOf = async (store: FileStore, id: string) => (await summarizeRun(store, id)).state;

test('a queued run is performed once, with its input, by whichever worker has it', async (t) => {
  const store = fresh();
  const seen: unknown[] = [];
  const programs = {
    job: (run: { input: unknown }) => agent.step('work', () => seen.push(run.input)),
  };
  assert.deepEqual(await enqueueRun(store, 'job', { id: 'a', input: { to: 'oslo' } }), {
    id: 'a',
    isNew: true,
  });
  assert.deepEqual(await enqueueRun(store, 'job', { id: 'a', input: 'other' }), { id: 'a', isNew: false });
  assert.equal(await stateOf(store, 'a'), 'queued');
  const first = work(t, { store, programs });
  const second = work(t, { store: new FileStore(join(store.place, '..')), programs });
  await until(() => first.ended.size + second.ended.size > 0);
  await enqueueRun(store, 'job', { id: 'b', input: 2 });
  await until(() => first.ended.size + second.ended.size > 1);
  assert.deepEqual(seen, [{ to: 'oslo' }, 2]);
  assert.equal(await stateOf(store, 'b'), 'finished');
  assert.deepEqual(store.findDue(['job'], 9), []);
});

test('more urgent ones first; not before their time; not those of other programs', () => {
  const store = fresh();
  return Promise.all([
    enqueueRun(store, 'job', { id: 'low' }),
    enqueueRun(store, 'job', { id: 'high', priority: 5 }),
    enqueueRun(store, 'job', { id: 'later', startAt: new Date(Date.now() + 3_600_000) }),
    enqueueRun(store, 'other', { id: 'foreign' }),
  ]).then(async () => {
    assert.deepEqual(
      store.findDue(['job'], 9).map(({ id }) => id),
      ['high', 'low'],
    );
    // Queuing it again does not make it due earlier.
    await enqueueRun(store, 'job', { id: 'later' });
    assert.equal(store.findDue(['job'], 9).length, 2);
  });
});

test('a run that only waits leaves the memory, and goes on when its answer comes', async (t) => {
  const store = fresh();
  const lives: string[] = [];
  const programs = {
    asks: async () => {
      lives.push('life');
      const { approved } = await agent.waitForApproval('go', { what: 'all' });
      return agent.step('end', () => lives.push(`approved ${approved}`));
    },
  };
  await enqueueRun(store, 'asks', { id: 'a' });
  const { ended } = work(t, { store, programs });
  await until(() => lives.length === 1);
  await until(async () => (await summarizeRun(store, 'a')).holder === undefined);
  assert.deepEqual(store.findDue(['asks'], 9), []);
  await answerApproval(store, 'a', 'go', { approved: true });
  await until(() => ended.size > 0);
  assert.deepEqual(lives, ['life', 'life', 'approved true']);
});

test('an answer that comes while a run is put to rest wakes it', async (t) => {
  const store = fresh();
  const programs = { asks: async () => (await agent.waitForApproval('go')).approved };
  const { ended } = work(t, { store, programs, most: 20 });
  for (let index = 0; index < 20; index++) {
    const id = `a${index}`;
    await enqueueRun(store, 'asks', { id });
    // At various moments of its suspension.
    const isAsked = async () => (await summarizeRun(store, id)).waitingFor.length > 0;
    await until(isAsked);
    await sleep(index * 3);
    await answerApproval(store, id, 'go', { approved: true });
  }
  await until(() => ended.size === 20);
});

test('signals are given in the order in which they were sent, once each, also those that came before', async (t) => {
  const store = fresh();
  const programs = {
    listens: async () => {
      const first = await agent.waitForSignal('news');
      const none = await agent.waitForSignal('silence', { timeoutMs: 10 });
      const second = await agent.waitForSignal('news');
      await agent.step('end', () => 1);
      return [first?.value, none, second?.value];
    },
  };
  await enqueueRun(store, 'listens', { id: 'a' });
  assert.equal(await sendSignal(store, 'a', 'news', { value: 1 }), 0);
  const { ended } = work(t, { store, programs });
  await until(async () =>
    (await summarizeRun(store, 'a')).waitingFor.some(({ path }) => path === 'signal:news#2'),
  );
  await until(async () => (await summarizeRun(store, 'a')).holder === undefined);
  await sendSignal(store, 'a', 'news', { value: 'two' });
  await until(() => ended.size > 0);
  const result = await agent.run('listens', { id: 'a', durable: true, store }, () => 'not run');
  assert.deepEqual(result, [1, undefined, 'two']);
  await assert.rejects(sendSignal(store, 'a', 'news'), /is finished/);
});

test('sleeps in branches end in their order, over lives', async (t) => {
  const store = fresh();
  const woken: string[] = [];
  const nap = async (name: string, ms: number) => {
    await agent.sleep(name, ms);
    await agent.step(`after ${name}`, () => woken.push(name));
  };
  const programs = { naps: () => Promise.all([nap('long', 2_600), nap('short', 30)]) };
  await enqueueRun(store, 'naps', { id: 'a' });
  const began = Date.now();
  const { ended } = work(t, { store, programs });
  await until(() => ended.size > 0);
  assert.ok(Date.now() - began >= 2_600);
  assert.deepEqual(woken, ['short', 'long']);
});

test('a failed run is begun again as often as was said, with what it had done kept', async (t) => {
  const store = fresh();
  const done = { prepare: 0, send: 0, doomed: 0 };
  const programs = {
    flaky: async () => {
      await agent.step('prepare', () => ++done.prepare);
      await agent.step('send', () => {
        if (++done.send < 3) throw new Error(`try ${done.send}`);
      });
    },
    doomed: () =>
      agent.step('fail', () => {
        done.doomed++;
        throw new Error('always');
      }),
  };
  await enqueueRun(store, 'flaky', { id: 'a', retry: { attempts: 3, delayMs: 10 } });
  await enqueueRun(store, 'doomed', { id: 'b', retry: { attempts: 2, delayMs: 10 } });
  await enqueueRun(store, 'doomed', { id: 'c' });
  work(t, { store, programs, most: 1 });
  await until(async () => (await stateOf(store, 'a')) === 'finished');
  await until(() => done.doomed === 3);
  await until(
    async () => (await stateOf(store, 'b')) === 'failed' && (await stateOf(store, 'c')) === 'failed',
  );
  await until(() => store.findDue(['flaky', 'doomed'], 9).length === 0);
  assert.deepEqual(done, { prepare: 1, send: 3, doomed: 3 });
});

test('a failed run that a worker will restart is shown as such, with the time', async (t) => {
  const store = fresh();
  const programs = { fails: () => Promise.reject(new Error('no')) };
  await enqueueRun(store, 'fails', { id: 'again', retry: { attempts: 2, delayMs: 3_600_000 } });
  await enqueueRun(store, 'fails', { id: 'once' });
  const { ended } = work(t, { store, programs });
  await until(() => ended.size === 2);
  const again = await summarizeRun(store, 'again');
  assert.equal(again.state, 'retrying');
  assert.equal(Date.parse(again.retryAt ?? '') - Date.parse(again.lastAt), 3_600_000);
  const once = await summarizeRun(store, 'once');
  assert.deepEqual([once.state, once.retryAt], ['failed', undefined]);
});

test('cancelled: at once when nobody works at it, in the middle of a step by its signal', async (t) => {
  const store = fresh();
  let aborted = '';
  const effects: string[] = [];
  const programs = {
    long: async () => {
      await agent.step('wait', ({ signal }) => {
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            aborted = signal.reason.message;
            reject(signal.reason);
          });
        });
      });
      await agent.step('pay', () => effects.push('paid'));
    },
  };
  await enqueueRun(store, 'long', { id: 'queued' });
  assert.equal(await cancelRun(store, 'queued'), 'cancelled');
  assert.equal(await stateOf(store, 'queued'), 'cancelled');
  await enqueueRun(store, 'long', { id: 'a', retry: { attempts: 5 } });
  const { ended } = work(t, { store, programs });
  await until(async () => (await summarizeRun(store, 'a')).state === 'running');
  assert.equal(await cancelRun(store, 'a', { reason: 'no budget' }), 'told');
  await until(() => ended.has('a'));
  assert.equal(aborted, 'run a was cancelled: no budget');
  assert.equal(await stateOf(store, 'a'), 'cancelled');
  await assert.rejects(agent.run('long', { id: 'a', durable: true, store }, programs.long), /no budget/);
  await assert.rejects(cancelRun(store, 'a'), /is cancelled/);
  assert.deepEqual(effects, []);
});

test('cancelled while it sleeps, it ends, and its program is told nothing that it could mistake for the end', async (t) => {
  const store = fresh();
  const after: string[] = [];
  const programs = {
    naps: async () => {
      await agent.sleep('night', 100_000);
      after.push('woken');
    },
  };
  await enqueueRun(store, 'naps', { id: 'a' });
  work(t, { store, programs });
  await until(async () => (await summarizeRun(store, 'a')).waitingFor.length > 0);
  await cancelRun(store, 'a');
  await until(async () => (await stateOf(store, 'a')) === 'cancelled');
  assert.deepEqual(after, []);
});

test('a program that handles its cancellation, and returns, is cancelled all the same', async () => {
  const store = fresh();
  const options = { id: 'a', durable: true, store, notify: () => {} } as const;
  const program = async () => {
    const got = await agent.waitForSignal('never').catch(() => undefined);
    return got ?? 'handled';
  };
  const running = agent.run('stubborn', options, program);
  const rejected = assert.rejects(running, /run a was cancelled/);
  await until(async () => (await summarizeRun(store, 'a').catch(() => undefined))?.waitingFor.length === 1);
  assert.equal(await cancelRun(store, 'a'), 'told');
  await rejected;
  assert.equal(await stateOf(store, 'a'), 'cancelled');
});

test('a run that can not be gone on with is set aside by its worker, and takes no place there', async (t) => {
  const store = fresh();
  const mortal = { ...programOf('old'), name: 'changing' };
  await enqueueRun(store, 'changing', { id: 'a' });
  const first = work(t, { store, programs: { changing: mortal.work } });
  await until(async () => (await summarizeRun(store, 'a')).waitingFor.length > 0);
  await first.worker.stop();
  const { ended } = work(t, { store, programs: { changing: programOf('new').work, job: () => 1 }, most: 1 });
  await answerApproval(store, 'a', 'go', { approved: true });
  await until(() => ended.has('a'));
  assert.match(String(ended.get('a')), /changed|recorded/);
  await enqueueRun(store, 'job', { id: 'b' });
  await until(() => ended.has('b'));
  // Another worker may have the program that began it.
  assert.deepEqual(
    store.findDue(['changing'], 9).map(({ id }) => id),
    ['a'],
  );
});

function programOf(step: string) {
  const work = async () => {
    await agent.step(step, () => 1);
    await agent.waitForApproval('go');
  };
  return { work };
}

test('schedules: one run a time, however many workers know it', async (t) => {
  const store = fresh();
  let times = 0;
  const programs = { tick: () => agent.step('work', () => ++times) };
  const schedules = [{ name: 'tick', everyMs: 86_400_000, graceMs: 86_400_000 }];
  const first = work(t, { store, programs, schedules });
  const second = work(t, { store, programs, schedules });
  await until(() => first.ended.size + second.ended.size > 0);
  await first.worker.stop();
  await second.worker.stop();
  const ids = store.list();
  // Two if midnight was in between.
  assert.ok(ids.length <= 2 && times === ids.length, `${ids}`);
  assert.match(ids[0] ?? '', /^tick@\d{4}-\d\d-\d\dT00:00:00.000Z$/);
});

test('a closed store says so, and ends its worker', async (t) => {
  const store = fresh();
  const { worker } = work(t, { store, programs: { job: () => 1 } });
  await enqueueRun(store, 'job', { id: 'a' });
  store.close();
  await worker.ended;
  assert.throws(() => store.list(), /is closed/);
});

test('ids of any length', async () => {
  const store = fresh();
  const ids = ['x'.repeat(5_000), `${'x'.repeat(4_999)}y`, 'ü'.repeat(300), '%'.repeat(100)];
  for (const id of ids)
    await agent.run('job', { id, durable: true, store }, () => agent.step('s', () => id.length));
  assert.deepEqual(store.list(), ids.toSorted());
  for (const id of ids) assert.equal(await stateOf(store, id), 'finished');
});

test('what a run waits for ends with it: the loser of a race keeps no process alive', async () => {
  const store = fresh();
  let watching = 0;
  const watch = store.watch.bind(store);
  store.watch = (tell) => {
    const unwatch = watch(tell);
    watching++;
    return () => {
      watching--;
      unwatch();
    };
  };
  await agent.run('job', { id: 'a', durable: true, store }, () =>
    Promise.race([agent.waitForSignal('never'), agent.sleep('a moment', 5)]),
  );
  await until(() => watching === 0);
});
