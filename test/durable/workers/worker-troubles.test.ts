/** What must not end or block a worker, nor keep it from the other runs; and what a suspended run leaves behind. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { durableAgent as agent, loadEngine } from '../../../src/durable/api.ts';
import { enqueueRun } from '../../../src/durable/dispatch/act-on-run.ts';
import type { WorkerOptions } from '../../../src/durable/dispatch/worker-options.ts';
import { answerApproval, summarizeRun } from '../../../src/durable/inspect.ts';
import { RecordCodec } from '../../../src/durable/records/codec.ts';
import { cancelKey } from '../../../src/durable/runs/calls-from-outside.ts';
import type { DurableRun } from '../../../src/durable/runs/durable-run.ts';
import { workAt } from '../../../src/durable/runs/perform-run.ts';
import { RunLog } from '../../../src/durable/runs/run-log.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import type { DurableStore, StoredRecord } from '../../../src/durable/stores/store.ts';
import { startWorker } from '../../../src/durable/worker.ts';
import { AgentdumpError } from '../../../src/errors.ts';
import { recordKinds } from '../../../src/journal/layout/records.ts';
import { until } from '../until.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-troubles-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const fresh = () => new FileStore(join(folder, `dumps-${count++}`));
await loadEngine();

/** A worker whose reported lines and ends of runs are recorded. */
function work(t: TestContext, options: Omit<WorkerOptions, 'options'>) {
  const ended = new Map<string, unknown>();
  const lines: string[] = [];
  const worker = startWorker({
    everyMs: 20,
    options: { notify: (line) => lines.push(line) },
    onEnd: (id, error) => ended.set(id, error ?? 'well'),
    ...options,
  });
  t.after(() => worker.stop());
  return { worker, ended, lines };
}

/** The store with some of its functions replaced. */
function changedStore(store: FileStore, changes: Partial<DurableStore>): DurableStore {
  const same: DurableStore = {
    place: store.place,
    open: (id, title) => store.open(id, title),
    read: (id) => store.read(id),
    list: () => store.list(),
    answer: (id, path, payload) => store.answer(id, path, payload),
    findAnswer: (id, path) => store.findAnswer(id, path),
    findDue: (names, most) => store.findDue(names, most),
    rest: (id, rest) => store.rest(id, rest),
    watch: (tell) => store.watch(tell),
    close: () => store.close(),
  };
  return { ...same, ...changes };
}

const programs = { job: ({ id }: { id: string }) => agent.step('work', () => id) };

test('a run that was put to rest leaves no listener, no watch and no timer', async () => {
  const store = fresh();
  let watching = 0;
  let looks = 0;
  const counted = changedStore(store, {
    watch: (tell) => {
      const unwatch = store.watch(tell);
      watching++;
      return () => {
        watching--;
        unwatch();
      };
    },
    findAnswer: (id, key) => {
      if (key === cancelKey) looks++;
      return store.findAnswer(id, key);
    },
  });
  const { signal } = new AbortController();
  let hand: { run: DurableRun; rest: () => void } | undefined;
  const working = workAt(
    'asks',
    { id: 'a', durable: true, store: counted, signal, notify: () => {}, input: 1 },
    () => agent.run('nested', () => agent.waitForApproval('go')),
    (run, rest) => {
      hand = { run, rest };
    },
  ).catch((error) => error);
  // Never begun, so a worker skips it.
  assert.deepEqual(await working, { is: 'over' });
  await enqueueRun(store, 'asks', { id: 'b' });
  const worked = workAt(
    'asks',
    { id: 'b', durable: true, store: counted, signal, notify: () => {} },
    () => agent.run('asks', () => agent.waitForApproval('go')),
    (run, rest) => {
      hand = { run, rest };
    },
  );
  await until(() => hand?.run.isOnlyWaiting === true);
  // A second after its start, the run begins to check for a cancellation.
  const before = looks;
  await until(() => looks > before);
  hand?.rest();
  assert.deepEqual(await worked, { is: 'rested', dueAtMs: 'never' });
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  await until(() => watching === 0);
});

test('a run is not put to rest while a record is on its way to a slow store', async () => {
  const store = fresh();
  await enqueueRun(store, 'asks', { id: 'a' });
  let letThrough = () => {};
  const isThrough = new Promise<void>((resolve) => {
    letThrough = resolve;
  });
  let isHeldUp = false;
  const slow = changedStore(store, {
    open: (id, title) => {
      const handle = store.open(id, title);
      const append = async (kind: number, payload: string | Uint8Array, sync: boolean) => {
        if (Buffer.from(payload as string).includes('"version"')) {
          isHeldUp = true;
          await isThrough;
        }
        return handle.append(kind, payload, sync);
      };
      const { epoch, records, notes } = handle;
      return { epoch, records, notes, append, release: (rest) => handle.release(rest) };
    },
  });
  let run: DurableRun | undefined;
  let rest = () => {};
  const worked = workAt(
    'asks',
    { id: 'a', durable: true, store: slow, notify: () => {} },
    () => Promise.all([agent.waitForApproval('go'), agent.version('second')]),
    (given, putToRest) => {
      run = given;
      rest = putToRest;
    },
  );
  await until(() => isHeldUp && run?.waits.count === 1);
  assert.equal(run?.isOnlyWaiting, false);
  letThrough();
  await until(() => run?.isOnlyWaiting === true);
  rest();
  await worked;
});

test('an entry without a name gets it from its run, and stops nobody', async (t) => {
  const store = fresh();
  await enqueueRun(store, 'job', { id: 'nameless' });
  writeFileSync(join(store.place, '.open', 'nameless'), JSON.stringify({ run: 'nameless', dueAtMs: 0 }));
  mkdirSync(join(store.place, 'empty'));
  writeFileSync(join(store.place, '.open', 'empty'), JSON.stringify({ run: 'empty', dueAtMs: 0 }));
  const { ended } = work(t, { store, programs });
  await until(() => ended.has('nameless'));
  await until(() => store.findDue(['job', 'other'], 9).length === 0);
  await enqueueRun(store, 'foreign', { id: 'foreign' });
  writeFileSync(join(store.place, '.open', 'foreign'), JSON.stringify({ run: 'foreign', dueAtMs: 0 }));
  await until(() => store.findDue(['job'], 9).length === 0);
  assert.deepEqual(
    store.findDue(['foreign'], 9).map(({ name }) => name),
    ['foreign'],
  );
});

test('runs that nothing can be written of are named once and take no place from others', async (t) => {
  const store = fresh();
  for (const id of ['full1', 'full2']) await enqueueRun(store, 'job', { id, priority: 9 });
  await enqueueRun(store, 'job', { id: 'well' });
  const isFull = (id: string) => id.startsWith('full');
  const full = () => new AgentdumpError('unwritable', 'no space left', { reason: 'ENOSPC' });
  let tries = 0;
  const odd = changedStore(store, {
    open: (id, title) => {
      if (!isFull(id)) return store.open(id, title);
      tries++;
      throw full();
    },
    rest: (id, rest) => {
      if (isFull(id)) throw full();
      store.rest(id, rest);
    },
  });
  const { ended, lines } = work(t, { store: odd, programs, most: 1 });
  await until(() => ended.get('well') === 'well');
  // A loop would have tried thousands of times; a slow machine needs a few tries more.
  assert.ok(tries <= 50, `${tries} tries`);
  assert.deepEqual(lines.filter((line) => line.includes('no space')).toSorted(), [
    'run full1: no space left',
    'run full2: no space left',
  ]);
});

test('a folder that can not be read and an entry that is torn keep nobody from the others', async (t) => {
  const store = fresh();
  await enqueueRun(store, 'job', { id: 'well' });
  await enqueueRun(store, 'job', { id: 'torn' });
  writeFileSync(join(store.place, 'bad'), 'no folder');
  writeFileSync(
    join(store.place, '.open', 'bad'),
    JSON.stringify({ run: 'bad', name: 'job', priority: 9, dueAtMs: 0 }),
  );
  // As after a power cut.
  writeFileSync(join(store.place, '.open', 'torn'), '');
  const long = 'x'.repeat(300);
  await enqueueRun(store, 'job', { id: long });
  writeFileSync(join(store.folderOf(long), 'run-id'), '');
  rmSync(join(store.place, '.open', basename(store.folderOf(long))));
  const { ended, lines } = work(t, { store, programs, most: 1 });
  await until(() => ended.get('well') === 'well' && ended.get('torn') === 'well');
  await until(() => lines.some((line) => line.includes('bad')));
  await until(() => lines.some((line) => line.includes('xxx')));
  assert.equal(new Set(lines).size, lines.length);
  // A process that knows its id restores it.
  await agent.run('job', { id: long, durable: true, store, notify: () => {} }, programs.job);
  assert.ok(store.list().includes(long));
});

test('a schedule that is wrong is refused at once; one whose input can not be kept is named', async (t) => {
  const store = fresh();
  const start = (schedule: object) => () =>
    startWorker({ store, programs, schedules: [{ name: 'job', ...schedule }] });
  assert.throws(start({ cron: '61 * * * *' }), { code: 'usage' });
  assert.throws(start({}), { code: 'usage' });
  assert.throws(start({ everyMs: 60_000, graceMs: Number.NaN }), { code: 'usage' });
  const everyDay = { name: 'job', everyMs: 86_400_000, graceMs: 86_400_000 };
  assert.throws(() => startWorker({ store, programs, schedules: [everyDay, everyDay] }), /twice/);
  const schedules = [
    { ...everyDay, id: 'odd', input: () => 'a function' },
    { ...everyDay, id: 'good' },
  ];
  const { ended, lines } = work(t, { store, programs, schedules });
  await until(() => [...ended.keys()].some((id) => id.startsWith('good@')));
  await enqueueRun(store, 'job', { id: 'a' });
  await until(() => ended.has('a'));
  assert.equal(lines.filter((line) => line.startsWith('schedule odd: ')).length, 1);
});

test('schedules of one program are told apart: each slot is queued once', async (t) => {
  const store = fresh();
  const opens = new Map<string, number>();
  const counted = changedStore(store, {
    open: (id, title) => {
      opens.set(id, (opens.get(id) ?? 0) + 1);
      return store.open(id, title);
    },
  });
  const everyDay = { name: 'job', everyMs: 86_400_000, graceMs: 86_400_000 };
  const schedules = ['first', 'second'].map((id) => ({ ...everyDay, id }));
  const { ended } = work(t, { store: counted, programs, schedules });
  await until(() => ended.size >= 2);
  const began = Date.now();
  await until(() => Date.now() - began > 2_100);
  // Once by queuing it, and once by the worker that performs it.
  for (const [id, times] of opens) assert.ok(times <= 2, `${id}: ${times}`);
});

test('an error that onEnd throws is no failure of the run', async (t) => {
  const store = fresh();
  await enqueueRun(store, 'job', { id: 'a' });
  let ends = 0;
  const onEnd = () => {
    ends++;
    throw new Error('of the host');
  };
  const { lines } = work(t, { store, programs, onEnd });
  await until(() => lines.some((line) => line.includes('of the host')));
  await enqueueRun(store, 'job', { id: 'b' });
  await until(() => ends === 2);
  assert.deepEqual(store.findDue(['job'], 9), []);
});

test('a run that another program began is left to the workers that have that program', async (t) => {
  const store = fresh();
  const other = { job: () => agent.step('other', () => assert.fail('it is not in the records')) };
  const right = {
    job: async () => {
      await agent.step('work', () => 1);
      const { approved } = await agent.waitForApproval('go');
      return agent.step('end', () => approved);
    },
  };
  await enqueueRun(store, 'job', { id: 'a' });
  const first = work(t, { store, programs: right });
  const waits = async () => (await summarizeRun(store, 'a')).waitingFor[0];
  await until(async () => (await waits()) !== undefined);
  await first.worker.stop();
  // More of them than the number of resumes after which a run is given up.
  for (let index = 0; index < 12; index++) {
    const wrong = work(t, { store, programs: other });
    if (index === 0) await answerApproval(store, 'a', 'go', { approved: true });
    await until(() => wrong.ended.size > 0);
    assert.match(String(wrong.ended.get('a')), /other steps than its run has recorded/);
  }
  const last = work(t, { store, programs: right });
  await until(() => last.ended.size > 0);
  assert.equal(last.ended.get('a'), 'well');
  assert.equal((await summarizeRun(store, 'a')).state, 'finished');
});

test('a worker with another program soon opens its runs no more, and adds nothing to their records', async (t) => {
  const store = fresh();
  const right = {
    job: async () => {
      await agent.step('work', () => 1);
      const { approved } = await agent.waitForApproval('go');
      return agent.step('end', () => approved);
    },
  };
  await enqueueRun(store, 'job', { id: 'a' });
  const first = work(t, { store, programs: right });
  await until(async () => (await summarizeRun(store, 'a')).waitingFor.length > 0);
  await first.worker.stop();
  await answerApproval(store, 'a', 'go', { approved: true });
  let opens = 0;
  let reads = 0;
  const watched = changedStore(store, {
    open: (id, title) => {
      opens++;
      return store.open(id, title);
    },
    read: (id) => {
      reads++;
      return store.read(id);
    },
  });
  // Its pauses grow to five minutes.
  const now = Date.now;
  let passedMs = 0;
  t.mock.method(Date, 'now', () => now() + passedMs);
  const other = { job: () => agent.step('other', () => assert.fail('it is not in the records')) };
  const wrong = work(t, { store: watched, programs: other });
  await until(() => wrong.ended.has('a'));
  for (let looks = 0; looks < 8; looks++) {
    const before = reads;
    await until(() => {
      passedMs += 301_000;
      return reads > before;
    });
  }
  assert.equal(opens, 3);
  assert.equal(wrong.lines.filter((line) => /other steps than its run has recorded/.test(line)).length, 1);
  await wrong.worker.stop();
  const last = work(t, { store, programs: right });
  await until(() => last.ended.size > 0);
  assert.equal(last.ended.get('a'), 'well');
});

test('a run that is left again and again is given up like any other, after some hundred times', () => {
  const codec = new RecordCodec({});
  const { durableRun, durableStep } = recordKinds;
  const records: StoredRecord[] = [];
  const add = (kind: number, facts: object) =>
    records.push({ seq: records.length, kind, atMs: 0, payload: Buffer.from(codec.encode(facts)) });
  const visit = (times: number) => {
    for (let left = times; left > 0; left--) {
      add(durableRun, { event: 'open', attempt: 1 });
      add(durableRun, { event: 'left' });
    }
    return new RunLog(records, codec);
  };
  add(durableRun, { event: 'begin', schema: 1, run: 'r', name: 'job' });
  assert.equal(visit(100).opensWithoutProgress, 0);
  assert.ok(visit(300).opensWithoutProgress > 10);
  add(durableStep, { event: 'start', path: 'work', kind: 'step', attempt: 1 });
  const start = records.length - 1;
  add(durableStep, { event: 'end', of: start, status: 'finished' });
  // The last one was in progress when the step ended.
  add(durableRun, { event: 'left' });
  const log = visit(100);
  assert.deepEqual([log.opensWithoutProgress, log.lastWorkSeq], [0, start + 1]);
  add(durableRun, { event: 'open', attempt: 1 });
  assert.equal(new RunLog(records, codec).opensWithoutProgress, 1);
});
