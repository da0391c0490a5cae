/** The file store: the conformance tests, and faults that only files can have. */
import assert from 'node:assert/strict';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import type { DurableRunWork } from '../../../src/durable/options.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import { recordKinds } from '../../../src/journal/layout/records.ts';
import { testStore } from './store-conformance.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-file-store-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const fresh = () => new FileStore(join(folder, `dumps-${count++}`));

/** As if the holder were on another machine, and had been silent for a minute. */
function expire(runFolder: string): void {
  const path = leaseIn(runFolder);
  const facts = JSON.parse(readFileSync(path, 'utf8'));
  facts.process.bootId = 'another boot';
  writeFileSync(path, JSON.stringify(facts));
  silence(runFolder);
}

function silence(runFolder: string): void {
  const then = new Date(Date.now() - 60_000);
  utimesSync(leaseIn(runFolder), then, then);
}

function newEvent(): { promise: Promise<void>; happen(): void } {
  let happen = () => {};
  const promise = new Promise<void>((resolve) => {
    happen = resolve;
  });
  return { promise, happen };
}

function leaseIn(runFolder: string): string {
  const names = readdirSync(runFolder).filter((one) => one.endsWith('.json'));
  return join(runFolder, names.at(-1) ?? '');
}

testStore({
  name: 'files',
  open: async () => fresh(),
  expire: async (store, runId) => expire((store as FileStore).folderOf(runId)),
});

const kind = recordKinds.durableStep;
const texts = (records: readonly { payload: Uint8Array }[]) =>
  records.map(({ payload }) => Buffer.from(payload).toString());

test('torn at every byte of the last record: all before it stays, the tear is named, and the run goes on', () => {
  const store = fresh();
  const run = store.open('torn');
  for (const text of ['one', 'two']) run.append(kind, text, false);
  const source = store.folderOf('torn');
  const segment = join(source, '00000000.journal');
  const start = statSync(segment).size;
  run.append(kind, 'three', false);
  const whole = readFileSync(segment);
  run.release();
  for (let size = start; size < whole.length; size++) {
    const copy = store.folderOf(`torn-${size}`);
    cpSync(source, copy, { recursive: true });
    writeFileSync(join(copy, '00000000.journal'), whole.subarray(0, size));
    const resumed = store.open(`torn-${size}`);
    assert.deepEqual(texts(resumed.records), ['one', 'two']);
    assert.equal(resumed.notes.length, size === start ? 0 : 1, `${resumed.notes}`);
    resumed.append(kind, 'again', false);
    resumed.release();
    assert.deepEqual(texts(store.read(`torn-${size}`).records).slice(0, 3), ['one', 'two', 'again']);
  }
});

test('a segment that a death left empty or with half a header', () => {
  for (const bytes of [0, 60, 128]) {
    const store = fresh();
    const run = store.open('r');
    run.append(kind, 'one', false);
    const source = store.folderOf('r');
    const header = readFileSync(join(source, '00000000.journal')).subarray(0, bytes);
    run.release();
    writeFileSync(join(source, '00000001.journal'), header);
    const resumed = store.open('r');
    resumed.append(kind, 'two', false);
    resumed.release();
    assert.deepEqual(
      texts(store.read('r').records).filter((text) => /one|two/.test(text)),
      ['one', 'two'],
    );
  }
});

test('a copied folder is nobody’s, although its first holder lives', () => {
  const store = fresh();
  const run = store.open('here');
  run.append(kind, 'one', false);
  const elsewhere = fresh();
  cpSync(store.place, elsewhere.place, { recursive: true });
  const copy = elsewhere.open('here');
  assert.deepEqual(texts(copy.records), ['one']);
  copy.release();
  assert.throws(() => store.open('here'), { code: 'held' });
  run.release();
});

test('a worker thread that was terminated holds its run for no longer than its lease', async () => {
  const store = fresh();
  const program = new URL('../programs/thread.mjs', import.meta.url);
  const worker = new Worker(program, { workerData: dirname(store.place) });
  const { threadId } = worker;
  await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  assert.throws(() => store.open('r'), {
    code: 'held',
    message: new RegExp(`process ${process.pid}.*thread ${threadId}`),
  });
  await worker.terminate();
  silence(store.folderOf('r'));
  const heir = store.open('r');
  assert.ok(texts(heir.records).some((text) => text.includes('two')));
  heir.release();
});

test('who was taken over hears of it: its records are refused at once, and its steps are called off', async () => {
  const store = fresh();
  const reasons: unknown[] = [];
  const begun = newEvent();
  const takenOver = newEvent();
  const run = agent.run('program', { id: 'r', durable: true, store, notify() {} }, (work: DurableRunWork) => {
    work.signal.addEventListener('abort', () => reasons.push(work.signal.reason));
    const long = agent.step('long', ({ signal }) => {
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    return Promise.all([
      long,
      agent.step('short', () => {
        begun.happen();
        return takenOver.promise;
      }),
    ]);
  });
  await begun.promise;
  expire(store.folderOf('r'));
  const heir = store.open('r');
  takenOver.happen();
  await assert.rejects(run, { code: 'held' });
  assert.deepEqual(
    reasons.map((reason) => (reason as { code: string }).code),
    ['held'],
  );
  heir.append(kind, 'the heir goes on', false);
  heir.release();
  assert.equal(texts(store.read('r').records).at(-1), 'the heir goes on');
});

test('folders and files are the owner’s alone', () => {
  const store = fresh();
  const run = store.open('r');
  run.append(kind, 'one', false);
  store.answer('r', 'x', Buffer.from('y'));
  run.release();
  const source = store.folderOf('r');
  assert.equal(statSync(source).mode & 0o777, 0o700);
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true }))
    assert.equal(statSync(join(entry.parentPath ?? entry.path, entry.name)).mode & 0o077, 0, entry.name);
});
