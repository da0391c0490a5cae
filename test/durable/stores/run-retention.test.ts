/** Which runs are removed: finished ones by age, number and size; never one that can be continued. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { defaultRunLimits, pruneRuns } from '../../../src/durable/runs/run-retention.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-retention-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const dayMs = 24 * 3_600_000;
const unlimited = { maxRuns: 1000, maxBytes: 1024 ** 3, maxDays: 30 };
let count = 0;

interface Wanted {
  id: string;
  days: number;
  fails?: boolean;
}

/** Creates runs that ended this many days ago. */
async function recorded(runs: Wanted[]): Promise<FileStore> {
  const dir = join(folder, `dumps-${count++}`);
  const store = new FileStore(dir);
  for (const { id, fails } of runs) {
    const run = agent.run('job', { id, durable: true, store }, async () => {
      await agent.step('work', () => 'x'.repeat(5000));
      if (fails) throw new Error('no more');
    });
    await (fails ? assert.rejects(run) : run);
  }
  for (const { id, days } of runs) age(store, id, days);
  return store;
}

function age(store: FileStore, id: string, days: number): void {
  const then = new Date(Date.now() - days * dayMs);
  const run = store.folderOf(id);
  for (const name of readdirSync(run)) utimesSync(join(run, name), then, then);
}

test('by age: old finished runs go, failed ones and those of today stay', async () => {
  const store = await recorded([
    { id: 'old', days: 31 },
    { id: 'old-failed', days: 31, fails: true },
    { id: 'young', days: 29 },
  ]);
  const dry = pruneRuns(store, unlimited, { dryRun: true });
  assert.deepEqual(dry.removed, ['old']);
  assert.deepEqual(store.list(), ['old', 'old-failed', 'young']);
  assert.deepEqual(pruneRuns(store, unlimited), dry);
  assert.deepEqual(store.list(), ['old-failed', 'young']);
});

test('by number and size: the oldest finished ones, but none of the last day', async () => {
  const runs = [5, 4, 3, 2, 0.5].map((days) => ({ id: `d${days}`, days }));
  const store = await recorded(runs);
  assert.deepEqual(pruneRuns(store, { ...unlimited, maxRuns: 3 }).removed, ['d5', 'd4']);
  const { bytes } = pruneRuns(store, unlimited);
  assert.deepEqual(pruneRuns(store, { ...unlimited, maxBytes: bytes - 1 }).removed, ['d3']);
  assert.deepEqual(pruneRuns(store, { ...unlimited, maxBytes: 1 }).removed, ['d2']);
  assert.deepEqual(store.list(), ['d0.5']);
});

test('one that somebody works at stays, and a removal that was killed is ended', async () => {
  const store = await recorded([{ id: 'held', days: 40 }]);
  const held = store.open('held');
  age(store, 'held', 40);
  assert.deepEqual(pruneRuns(store, unlimited).removed, []);
  held.release();
  const grave = join(store.place, '.removed-1-1');
  mkdirSync(grave);
  assert.deepEqual(store.list(), ['held']);
  age(store, 'held', 40);
  assert.deepEqual(pruneRuns(store, unlimited).removed, ['held']);
  assert.equal(existsSync(grave), false);
});

test('the end of a run looks after the others, once an hour', async () => {
  const store = await recorded([{ id: 'old', days: 31 }]);
  const finish = (id: string) => agent.run('job', { id, durable: true, store }, async () => 1);
  await finish('one');
  assert.deepEqual(store.list(), ['old', 'one'], 'it was looked at when the run before ended');
  const then = new Date(Date.now() - 2 * 3_600_000);
  utimesSync(join(store.place, '.looked-at'), then, then);
  await finish('two');
  assert.deepEqual(store.list(), ['one', 'two']);
});

test('limits from the environment; a bad one is the default', () => {
  assert.deepEqual(
    defaultRunLimits({
      AGENTDUMP_MAX_RUNS: '5',
      AGENTDUMP_MAX_RUN_BYTES: '2 MB',
      AGENTDUMP_MAX_RUN_DAYS: 'x',
    }),
    { maxRuns: 5, maxBytes: 2 * 1024 ** 2, maxDays: 30 },
  );
});

test('`agentdump prune` takes a folder for the store of runs, as everybody else does', async () => {
  const store = await recorded([{ id: 'old', days: 31 }]);
  const dir = join(store.place, '..');
  const elsewhere = mkdtempSync(join(folder, 'elsewhere-'));
  const bin = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [bin, 'prune', '--dir', elsewhere], {
    encoding: 'utf8',
    env: { ...process.env, AGENTDUMP_RUN_STORE: dir },
  });
  assert.equal(status, 0, stderr);
  assert.deepEqual(store.list(), []);
});
