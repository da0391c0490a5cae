/**
 * Runs of three small steps, many at once, on one PostgreSQL server, in turns: ours, performed by a worker from its queue, and in
 * the jobs of graphile-worker and pg-boss (of the latter 25 times as many at once, because it polls twice a second); DBOS, started directly (its own queue is polled once per second); and graphile-worker
 * and pg-boss with a plain job per step, which adds the next one. Prints runs per second, and transactions and statements per step
 * as counted by the server, queuing included. `npm run bench:durable-throughput -- --workers N --runs N --rounds N`; needs dist,
 * `npm ci --prefix test/durable-peers`, and Debian's PostgreSQL.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { startPostgres, whyNoPostgres } from '../../support/system/postgres.ts';
import { dbosAvailable, load } from '../peers/durable-engines.ts';

const { agent } = (await import(
  new URL('../../../dist/index.js', import.meta.url).href
)) as typeof import('../../../src/index.ts');
const { enqueueRun, forwardDueRuns, performDueRun, PostgresStore, startWorker } = (await import(
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

const server = await startPostgres([
  'shared_preload_libraries=pg_stat_statements',
  'pg_stat_statements.max=10000',
]);
const client = new Client(server.url);
await client.connect();
await client.query('create extension pg_stat_statements');

interface Count {
  transactions: number;
  statements: number;
}

async function count(): Promise<Count> {
  // A session reports its statistics after it was idle for a second.
  await sleep(1_500);
  const { rows } = await client.query(
    `select (select sum(xact_commit + xact_rollback) from pg_stat_database)::integer as transactions,
       (select sum(calls) from pg_stat_statements)::integer as statements`,
  );
  return rows[0];
}

interface Engine {
  name: string;
  /** Resolves when all runs of the round have ended. */
  perform(round: number): Promise<void>;
  stop(): Promise<void>;
}

/** Resolves `wait` when as many runs have ended as it wants. */
class Ends {
  #ended = 0;
  #tell = () => {};

  note(): void {
    this.#ended++;
    this.#tell();
  }

  async wait(more: number, begin: () => Promise<unknown>): Promise<void> {
    const wanted = this.#ended + more;
    await begin();
    while (this.#ended < wanted)
      await new Promise<void>((resolve) => {
        this.#tell = resolve;
      });
  }
}

const program = async () => {
  for (const name of steps) await agent.step(name, async () => ({ name, text: 'a result' }));
};
const options = { notify: () => {} };

async function startOurs(): Promise<Engine> {
  const store = await PostgresStore.connect(server.url);
  const ends = new Ends();
  const worker = startWorker({
    store,
    most: workers,
    options,
    programs: { bench: program },
    onEnd: () => ends.note(),
  });
  return {
    name: 'ours, by its queue',
    perform: (round) =>
      ends.wait(runs, () =>
        inParallel(runs, (index) => enqueueRun(store, 'bench', { id: `${round}-${index}` })),
      ),
    stop: async () => {
      await worker.stop();
      await store.close();
    },
  };
}

/** In the jobs of another queue. */
async function startOursIn(queue: string, startQueue: StartQueue): Promise<Engine> {
  const store = await PostgresStore.connect(server.url);
  const ends = new Ends();
  const name = `jobs-${queue}`;
  const jobs = await startQueue(name, async ({ id }) => {
    const { state } = await performDueRun(store, id, { programs: { [name]: program }, options });
    if (state === 'finished') ends.note();
  });
  const forwarder = forwardDueRuns({ store, names: [name], add: ({ id }) => jobs.add({ id }, id) });
  return {
    name: `ours, in jobs of ${queue}`,
    perform: (round) =>
      ends.wait(runs, () =>
        inParallel(runs, (index) => enqueueRun(store, name, { id: `${name}-${round}-${index}` })),
      ),
    stop: async () => {
      await forwarder.stop();
      await jobs.stop();
      await store.close();
    },
  };
}

/** A job per step, which adds the next one. */
async function startBare(queue: string, startQueue: StartQueue): Promise<Engine> {
  const ends = new Ends();
  const jobs = await startQueue('bare', async ({ step }) => {
    if (step < steps.length - 1) await jobs.add({ step: step + 1 });
    else ends.note();
  });
  return {
    name: `${queue}, a job a step`,
    perform: () => ends.wait(runs, () => inParallel(runs, () => jobs.add({ step: 0 }))),
    stop: async () => void (await jobs.stop()),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: packages of a benchmark
type Job = any;
interface Jobs {
  add(data: Job, key?: string): Promise<unknown>;
  stop(): Promise<unknown>;
}
type StartQueue = (name: string, perform: (data: Job) => Promise<void>) => Promise<Jobs>;

async function startGraphile(name: string, perform: (data: Job) => Promise<void>): Promise<Jobs> {
  const { Logger, makeWorkerUtils, run } = await load('graphile-worker');
  const common = { connectionString: server.url, logger: new Logger(() => () => {}) };
  const utils = await makeWorkerUtils(common);
  await utils.migrate();
  const runner = await run({ ...common, concurrency: workers, taskList: { [name]: perform } });
  return {
    add: (data, key) => utils.addJob(name, data, key === undefined ? {} : { jobKey: key }),
    stop: async () => {
      await runner.stop();
      await utils.release();
    },
  };
}

async function startBoss(name: string, perform: (data: Job) => Promise<void>): Promise<Jobs> {
  const Boss = (await load('pg-boss')).default;
  const boss = new Boss(server.url);
  boss.on('error', () => {});
  await boss.start();
  const isKeyed = name !== 'bare';
  await boss.createQueue(name, { name, policy: isKeyed ? 'short' : 'standard' });
  // It polls, at most twice a second, so that more jobs at once are all that helps.
  const work = (jobs: { data: Job }[]) => Promise.all(jobs.map(({ data }) => perform(data)));
  await boss.work(name, { batchSize: workers * 25, pollingIntervalSeconds: 0.5 }, work);
  return {
    add: (data, key) => boss.send(name, data, key === undefined ? {} : { singletonKey: key }),
    stop: () => boss.stop({ graceful: false }),
  };
}

let dbos: { workflow: () => Promise<void> } | undefined;

async function startDbos(): Promise<Engine> {
  const { DBOS } = await load('@dbos-inc/dbos-sdk');
  dbos ??= await registerAtDbos(DBOS);
  const { workflow } = dbos;
  await DBOS.launch();
  return {
    name: 'DBOS, started directly',
    perform: () => inParallel(runs, () => workflow()),
    stop: () => DBOS.shutdown(),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a package of a benchmark
async function registerAtDbos(DBOS: any) {
  await client.query('create database dbos');
  const systemDatabaseUrl = server.url.replace(/postgres$/, 'dbos');
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl, logLevel: 'error', runAdminServer: false });
  const workflow = DBOS.registerWorkflow(
    async () => {
      for (const name of steps) await DBOS.runStep(async () => ({ name, text: 'a result' }), { name });
    },
    { name: 'bench' },
  );
  return { workflow };
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
  // One after another: a queue that is polled costs the others its polling.
  const starts = [
    startOurs,
    startDbos,
    () => startBare('graphile-worker', startGraphile),
    () => startOursIn('graphile-worker', startGraphile),
    () => startBare('pg-boss', startBoss),
    () => startOursIn('pg-boss', startBoss),
  ];
  console.log(
    `Node ${process.version}; ${rounds} rounds in turns of ${runs} runs of ${steps.length} steps, ${workers} at once`,
  );
  for (let round = 0; round < rounds; round++)
    for (const start of starts) {
      const { name, perform, stop } = await start();
      const before = await count();
      const beganMs = performance.now();
      await perform(round);
      const rate = (runs * 1_000) / (performance.now() - beganMs);
      rates.set(name, [...(rates.get(name) ?? []), rate]);
      const after = await count();
      const each = (what: keyof Count) => ((after[what] - before[what]) / (runs * steps.length)).toFixed(2);
      console.log(
        `round ${round + 1}: ${name.padEnd(32)} ${rate.toFixed(1).padStart(7)} runs/s, a step: ${each('transactions')} transactions, ${each('statements')} statements`,
      );
      await stop();
    }
  const best = (name: string) => Math.max(...(rates.get(name) ?? []));
  const [ours, ...others] = [...rates.keys()] as [string, ...string[]];
  for (const other of others)
    console.log(`best rounds: ours ${(best(ours) / best(other)).toFixed(2)} times ${other}`);
} finally {
  // Some engines leave connections that fail when the server ends.
  process.on('uncaughtException', () => {});
  await client.end();
  await server.remove();
}
process.exit();
