/**
 * Runs of three small steps, many at once, on one PostgreSQL server, in turns: ours, performed by a worker from its queue;
 * DBOS, started directly (its own queue is polled once per second); and graphile-worker with a plain job per step, which adds
 * the next one. Prints runs per second, and transactions per step as counted by the server, queuing included. `npm run
 * bench:durable-throughput -- --workers N --runs N --rounds N`; needs dist, `npm ci --prefix test/durable-peers`, and
 * Debian's PostgreSQL.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { startPostgres, whyNoPostgres } from '../../support/system/postgres.ts';
import { dbosAvailable, load } from '../peers/durable-engines.ts';

const { agent } = (await import(
  new URL('../../../dist/index.js', import.meta.url).href
)) as typeof import('../../../src/index.ts');
const { enqueueRun, PostgresStore, startWorker } = (await import(
  new URL('../../../dist/durable/index.js', import.meta.url).href
)) as typeof import('../../../src/durable/index.ts');

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '8' },
    runs: { type: 'string', default: '250' },
    rounds: { type: 'string', default: '3' },
  },
});
const workers = Number(values.workers);
const runs = workers * Number(values.runs);
const rounds = Number(values.rounds);
const steps = ['one', 'two', 'three'];
const why = whyNoPostgres() ?? (dbosAvailable() ? undefined : 'npm ci --prefix test/durable-peers');
if (why) throw new Error(why);

const server = await startPostgres();
const client = new Client(server.url);
await client.connect();

async function countTransactions(database: string): Promise<number> {
  // A session reports its statistics after it was idle for a second.
  await sleep(1_500);
  const { rows } = await client.query(
    'select sum(xact_commit + xact_rollback)::integer as count from pg_stat_database where datname = $1',
    [database],
  );
  return rows[0].count;
}

interface Engine {
  name: string;
  database: string;
  /** Resolves when all runs of the round have ended. */
  perform(round: number): Promise<void>;
  stop(): Promise<void>;
}

async function startOurs(): Promise<Engine> {
  const store = await PostgresStore.connect(server.url);
  let ended = 0;
  let tell = () => {};
  const worker = startWorker({
    store,
    most: workers,
    options: { notify: () => {} },
    programs: {
      bench: async () => {
        for (const name of steps) await agent.step(name, async () => ({ name, text: 'a result' }));
      },
    },
    onEnd: () => {
      ended++;
      tell();
    },
  });
  return {
    name: 'ours, by its queue',
    database: 'postgres',
    perform: async (round) => {
      const wanted = ended + runs;
      await inParallel(runs, (index) => enqueueRun(store, 'bench', { id: `${round}-${index}` }));
      while (ended < wanted)
        await new Promise<void>((resolve) => {
          tell = resolve;
        });
    },
    stop: async () => {
      await worker.stop();
      await store.close();
    },
  };
}

async function startDbos(): Promise<Engine> {
  const { DBOS } = await load('@dbos-inc/dbos-sdk');
  await client.query('create database dbos');
  const systemDatabaseUrl = server.url.replace(/postgres$/, 'dbos');
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl, logLevel: 'error', runAdminServer: false });
  const workflow = DBOS.registerWorkflow(
    async () => {
      for (const name of steps) await DBOS.runStep(async () => ({ name, text: 'a result' }), { name });
    },
    { name: 'bench' },
  );
  await DBOS.launch();
  return {
    name: 'DBOS, started directly',
    database: 'dbos',
    perform: () => inParallel(runs, () => workflow()),
    stop: () => DBOS.shutdown(),
  };
}

async function startGraphile(): Promise<Engine> {
  const { run, makeWorkerUtils } = await load('graphile-worker');
  const connectionString = server.url;
  const utils = await makeWorkerUtils({ connectionString });
  await utils.migrate();
  let ended = 0;
  let tell = () => {};
  const runner = await run({
    connectionString,
    concurrency: workers,
    logger: new (await load('graphile-worker')).Logger(() => () => {}),
    taskList: {
      // biome-ignore lint/suspicious/noExplicitAny: a package of a benchmark
      bench: async (payload: any, helpers: any) => {
        if (payload.step < steps.length - 1) await helpers.addJob('bench', { step: payload.step + 1 });
        else {
          ended++;
          tell();
        }
      },
    },
  });
  return {
    name: 'graphile-worker, a job a step',
    database: 'postgres',
    perform: async () => {
      const wanted = ended + runs;
      await inParallel(runs, () => utils.addJob('bench', { step: 0 }));
      while (ended < wanted)
        await new Promise<void>((resolve) => {
          tell = resolve;
        });
    },
    stop: async () => {
      await runner.stop();
      await utils.release();
    },
  };
}

async function inParallel(many: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const go = async () => {
    while (next < many) await work(next++);
  };
  await Promise.all(Array.from({ length: workers }, go));
}

const rates = new Map<string, number[]>();
try {
  const engines = [await startOurs(), await startDbos(), await startGraphile()];
  console.log(
    `Node ${process.version}; ${rounds} rounds in turns of ${runs} runs of ${steps.length} steps, ${workers} at once`,
  );
  for (let round = 0; round < rounds; round++)
    for (const { name, database, perform } of engines) {
      const before = await countTransactions(database);
      const beganMs = performance.now();
      await perform(round);
      const rate = (runs * 1_000) / (performance.now() - beganMs);
      rates.set(name, [...(rates.get(name) ?? []), rate]);
      const each = ((await countTransactions(database)) - before) / (runs * steps.length);
      console.log(
        `round ${round + 1}: ${name.padEnd(30)} ${rate.toFixed(1).padStart(7)} runs/s, ${each.toFixed(2)} transactions a step`,
      );
    }
  const best = (name: string) => Math.max(...(rates.get(name) ?? []));
  const [ours, dbos, bare] = engines.map(({ name }) => best(name)) as [number, number, number];
  console.log(
    `best rounds: ours ${(ours / dbos).toFixed(2)} times DBOS, ${(ours / bare).toFixed(2)} times graphile-worker`,
  );
  for (const { stop } of engines) await stop();
} finally {
  // Some engines leave connections that fail when the server ends.
  process.on('uncaughtException', () => {});
  await client.end();
  await server.remove();
}
process.exit();
