/**
 * Entries of runs in the file store: a look costs as much as there are open runs, not suspended or finished ones; timers;
 * folders of older releases; what killed processes leave.
 */
import assert from 'node:assert/strict';
import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { enqueueRun, sendSignal } from '../../../src/durable/dispatch/act-on-run.ts';
import { registerPrograms } from '../../../src/durable/dispatch/known-programs.ts';
import { rollBack, summarizeRun } from '../../../src/durable/inspect.ts';
import { FileBoard } from '../../../src/durable/stores/file-board.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import { startWorker } from '../../../src/durable/worker.ts';
import { until } from '../until.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-file-board-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const fresh = () => new FileStore(join(folder, `dumps-${count++}`));
const idsOf = (runs: readonly { id: string }[]) => runs.map(({ id }) => id).toSorted();
const hourMs = 3_600_000;

/** The number of synchronous functions of `node:fs` that this process calls meanwhile. */
async function countCalls(work: () => unknown): Promise<number> {
  const functions = fs as unknown as Record<string, unknown>;
  const names = Object.keys(functions).filter((name) => name.endsWith('Sync'));
  const real = new Map(names.map((name) => [name, functions[name] as (...given: unknown[]) => unknown]));
  let calls = 0;
  for (const [name, call] of real)
    functions[name] = (...given: unknown[]) => {
      calls++;
      return call(...given);
    };
  syncBuiltinESMExports();
  try {
    await work();
    return calls;
  } finally {
    for (const [name, call] of real) functions[name] = call;
    syncBuiltinESMExports();
  }
}

async function filled({ finished, waiting }: { finished: number; waiting: number }): Promise<FileStore> {
  const store = fresh();
  for (let index = 0; index < finished; index++)
    await agent.run('job', { id: `f${index}`, durable: true, store }, () => 1);
  for (let index = 0; index < waiting; index++) {
    const title = { name: 'job', ...(index % 2 === 0 && { dueAtMs: Date.now() + hourMs }) };
    const handle = store.open(`w${index}`, title);
    if (index % 2 === 1) handle.release({ isOver: false, dueAtMs: 'never' });
    else handle.release();
  }
  // Its worker has died.
  store.open('interrupted', { name: 'job', isWork: true }).release();
  return store;
}

test('a look costs what is open, not what rests or has ended', async () => {
  const few = await filled({ finished: 2, waiting: 2 });
  const many = await filled({ finished: 60, waiting: 60 });
  const look = (store: FileStore) =>
    countCalls(() => assert.deepEqual(store.findDue(['job'], 9), [{ id: 'interrupted', name: 'job' }]));
  assert.equal(await look(many), await look(few));
});

test('what has no entry is looked for without a look into what has ended', async () => {
  const store = await filled({ finished: 40, waiting: 0 });
  const empty = await filled({ finished: 0, waiting: 0 });
  const search = (where: FileStore) =>
    countCalls(async () => assert.deepEqual(await where.findUnlisted(), []));
  // One call per finished run, which lists its files.
  assert.equal((await search(store)) - (await search(empty)), 40);
  // The mark of an end is void once somebody has taken the run, even if the mark is written late.
  const held = store.open('f1', { name: 'job', isWork: true });
  writeFileSync(join(store.folderOf('f1'), 'lease-00000001.over'), '');
  rmSync(join(store.place, '.open', 'f1'));
  held.release();
  assert.deepEqual(await store.findUnlisted(), ['f1']);
});

test('a worker takes up an interrupted run among many that have ended or wait, also one without an entry', async (t) => {
  const store = await filled({ finished: 80, waiting: 40 });
  await enqueueRun(store, 'job', { id: 'lost' });
  rmSync(join(store.place, '.open', 'lost'));
  await enqueueRun(store, 'job', { id: 'listed' });
  const ended: string[] = [];
  const worker = startWorker({
    store,
    programs: { job: ({ id }) => agent.step('work', () => id) },
    options: { notify: () => {} },
    onEnd: (id) => ended.push(id),
  });
  t.after(() => worker.stop());
  await until(() => ended.includes('lost') && ended.includes('listed'));
  assert.deepEqual(ended.toSorted(), ['listed', 'lost']);
});

test('timers: due when the time has come, once; one that was overtaken goes', () => {
  const store = fresh();
  const board = new FileBoard(store.place);
  const rest = (id: string, dueAtMs: number | 'never') =>
    store.open(id, { name: 'job' }).release({ isOver: false, dueAtMs });
  const timers = () => readdirSync(join(store.place, '.timers'));
  const due = (nowMs = Date.now()) => board.findDue(['job'], nowMs).map(({ run }) => run);
  const later = Date.now() + hourMs;
  rest('a', later);
  rest('b', later + hourMs);
  rest('b', 'never');
  assert.equal(timers().length, 1);
  assert.deepEqual(due(), []);
  assert.deepEqual(due(later + 1), ['a']);
  assert.deepEqual(timers(), []);
  // Left by a process that died in between.
  writeFileSync(join(store.place, '.timers', '0000000000000001+b'), '');
  writeFileSync(join(store.place, '.timers', '0000000000000001+gone'), '');
  assert.deepEqual(due(later + 1), ['a']);
  assert.deepEqual(timers(), []);
  rest('a', later);
  store.open('a').release({ isOver: true });
  assert.deepEqual([timers(), due(later + 1)], [[], []]);
});

test('a folder of an older release, whose entries are all in one place, means the same', async () => {
  const store = fresh();
  for (const id of ['due', 'later', 'never', 'ended']) await enqueueRun(store, 'job', { id });
  const write = (id: string, facts: object) =>
    writeFileSync(join(store.place, '.open', id), JSON.stringify({ run: id, name: 'job', ...facts }));
  const later = Date.now() + hourMs;
  write('due', { dueAtMs: 0 });
  write('later', { dueAtMs: later, answers: 0 });
  write('never', { dueAtMs: 'never', answers: 0 });
  rmSync(join(store.place, '.open', 'ended'));
  const other = new FileStore(join(store.place, '..'));
  assert.deepEqual(idsOf(other.findDue(['job'], 9)), ['due']);
  const board = new FileBoard(store.place);
  assert.deepEqual(
    board
      .findDue(['job'], later + 1)
      .map(({ run }) => run)
      .toSorted(),
    ['due', 'later'],
  );
  other.answer('never', 'x', Buffer.from('y'));
  assert.deepEqual(idsOf(other.findDue(['job'], 9)), ['due', 'never']);
  // Nothing marks it as finished, so it has to be read.
  assert.deepEqual(await other.findUnlisted(), ['ended']);
  other.open('never').release({ isOver: false, dueAtMs: 'never' });
  assert.deepEqual(readdirSync(join(store.place, '.resting')), ['never']);
});

test('a signal to a run that was queued for later makes it no earlier due, and is there when it begins', async () => {
  const store = fresh();
  const startAt = new Date(Date.now() + hourMs);
  await enqueueRun(store, 'job', { id: 'a', startAt });
  await sendSignal(store, 'a', 'news', { value: 1 });
  assert.deepEqual(store.findDue(['job'], 9), []);
  assert.deepEqual(await store.findUnlisted(), []);
  const job = () => agent.waitForSignal('news');
  registerPrograms({ job });
  const given = await agent.run('job', { id: 'a', durable: true, store }, job);
  assert.equal(given?.value, 1);
});

test('a signal to a run that is begun again after a pause does not cut the pause', async (t) => {
  const store = fresh();
  let tries = 0;
  const programs = {
    job: async () => {
      tries++;
      await agent.step('fail', () => {
        throw new Error('no');
      });
    },
  };
  await enqueueRun(store, 'job', { id: 'a', retry: { attempts: 2, delayMs: hourMs } });
  const worker = startWorker({ store, programs, everyMs: 20, options: { notify: () => {} } });
  t.after(() => worker.stop());
  await until(async () => {
    const { state, holder } = await summarizeRun(store, 'a');
    return state === 'retrying' && holder === undefined;
  });
  await sendSignal(store, 'a', 'news');
  assert.deepEqual(store.findDue(['job'], 9), []);
  // A rollback requests that the run continues now.
  await worker.stop();
  await rollBack(store, 'a', 'fail');
  assert.equal(store.findDue(['job'], 9).length, 1);
  assert.equal(tries, 1);
});

test('drafts that killed processes left are removed when they are old', async () => {
  const store = fresh();
  const run = () => agent.run('job', { id: 'a', durable: true, store }, () => 1);
  await run();
  const answers = join(store.folderOf('a'), 'answers');
  mkdirSync(answers);
  const drafts = [
    ...['.open', '.resting', '.timers'].map((name) => join(store.place, name, '.draft-1-2')),
    ...['.lease-1-2', '.draft-1-2', 'run-id-1-2'].map((name) => join(store.folderOf('a'), name)),
    join(answers, '.draft-1-2'),
  ];
  const write = (path: string) => {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, 'half');
  };
  drafts.forEach(write);
  await store.findUnlisted();
  await run();
  assert.deepEqual(drafts.filter(existsSync), drafts);
  const then = new Date(Date.now() - 2 * hourMs);
  for (const path of drafts) utimesSync(path, then, then);
  await store.findUnlisted();
  await run();
  assert.deepEqual(drafts.filter(existsSync), []);
});
