/**
 * The database is killed and restarted, and workers and the database are stopped (SIGSTOP) for longer than every lease, while
 * runs continue: at the end each run has finished, each effect took place, and each repetition of an effect was named in
 * doubt. AGENTDUMP_ROUNDS sets the number of rounds.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { enqueueRun } from '../../../src/durable/dispatch/act-on-run.ts';
import { summarizeRun } from '../../../src/durable/inspect.ts';
import { PostgresStore } from '../../../src/durable/stores/postgres-store.ts';
import { type PostgresServer, startPostgres, whyNoPostgres } from '../../support/system/postgres.ts';
import { until } from '../until.ts';
import { WorkerProcesses } from './worker-processes.ts';

const rounds = Number(process.env['AGENTDUMP_ROUNDS'] ?? 3);
const skip = whyNoPostgres() ?? false;
const leaseMs = 1_500;
const runsInRound = 6;
const folder = mkdtempSync(join(tmpdir(), 'agentdump-partitions-'));
const processes = new WorkerProcesses('steady-worker.mjs');
after(() => rmSync(folder, { recursive: true, force: true }));

const begin = (server: PostgresServer, truth: string) => processes.begin(server.url, truth, String(leaseMs));

interface Effect {
  run: string;
  name: string;
  attempt: number;
  inDoubt: boolean;
}

/** `disturb` is called once per round, while runs are being performed. */
async function suffer(disturb: (server: PostgresServer, workers: ChildProcess[]) => Promise<void>) {
  const truth = join(folder, `truth-${process.hrtime.bigint()}`);
  const server = await startPostgres();
  const store = await PostgresStore.connect(server.url, { leaseMs });
  try {
    const workers = [await begin(server, truth), await begin(server, truth)];
    const ids: string[] = [];
    for (let round = 0; round < rounds; round++) {
      for (let index = 0; index < runsInRound; index++) {
        ids.push(`r${round}-${index}`);
        await enqueueRun(store, 'job', { id: ids.at(-1) });
      }
      await sleep(Math.random() * 150);
      await disturb(server, workers);
    }
    await until(async () => {
      const states = await Promise.all(ids.map(async (id) => (await summarizeRun(store, id)).state));
      await sleep(100);
      return states.every((state) => state === 'finished');
    });
    const effects = readFileSync(truth, 'utf8').split('\n').filter(Boolean);
    const known = effects.map((line): Effect => JSON.parse(line));
    for (const id of ids)
      for (const name of ['one', 'two', 'three', 'four']) {
        const own = known.filter((effect) => effect.run === id && effect.name === name);
        assert.ok(own.length > 0, `${name} of ${id} never took place`);
        const unnamed = own.filter(({ inDoubt }) => !inDoubt);
        assert.equal(unnamed.length, 1, `${name} of ${id}: ${JSON.stringify(own)}`);
      }
  } finally {
    await processes.killAll();
    await store.close();
    await server.remove();
  }
}

test('the database dies and comes back', { skip }, () =>
  suffer(async (server) => {
    await server.kill();
    await sleep(Math.random() * 500);
    await server.start();
  }),
);

test('a worker stands still beyond its lease, and goes on', { skip }, () =>
  suffer(async (_, workers) => {
    const worker = workers[Math.floor(Math.random() * workers.length)]!;
    worker.kill('SIGSTOP');
    await sleep(leaseMs * 2);
    worker.kill('SIGCONT');
  }),
);

test('the database stands still beyond every lease, and goes on', { skip }, () =>
  suffer(async (server) => {
    server.pause();
    await sleep(leaseMs * 2);
    server.goOn();
  }),
);
