/**
 * The store at the size of a fleet, on its own PostgreSQL server: the time of the list and of an issue's page with a million
 * deaths of 2,000 faults in the index, and the number of small bundles per second that four senders add. `npm run
 * bench:store`; `npm run bench:store ingest` for the last one only.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Query } from '../../src/store/index/database.ts';
import { recount } from '../../src/store/index/recount.ts';
import { listIssues, showIssue } from '../../src/store/issues.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { sendBundles } from '../../src/store/sending/send.ts';
import { writeDeath } from '../store/synth-death.ts';
import { startPostgres } from '../support/system/postgres.ts';

const [deaths, faults, senders, bundlesEach] = [1_000_000, 2_000, 4, 250];
/** Sent before, so that no module is loaded while the others are timed. */
const warmUp = 32;
const [, , role, place = '', dumps = ''] = process.argv;

if (role === 'sender') await sendAll();
else await measure();

/** A few faults cause most deaths, over ninety days, thirty releases and two hundred hosts. */
async function fill(query: Query): Promise<void> {
  await query(
    `insert into agentdump_issues (id) select lpad(to_hex(n), 16, '0') from generate_series(1, ${faults}) as n`,
  );
  await query(
    `insert into agentdump_signatures (id, version, parts, link, kind, title, program, issue, count,
       bundles, runs, first_seen, first_release, last_seen, last_release)
     select lpad(to_hex(n), 16, '0'), 3, '["kind:thrown", "error:Error", "message:no", "frame:pay@pay.js"]'::jsonb, 'link-' || n,
       'uncaught-exception', 'Error: fault ' || n, 'shop-' || n % 20, lpad(to_hex(n), 16, '0'), 0, 0, 0, now(), '', now(), ''
     from generate_series(1, ${faults}) as n`,
  );
  await query(
    `insert into agentdump_deaths
       (bundle, digest, blob, bytes, signature, kind, title, at, program, host, node, release, runs, repeats)
     select lpad(to_hex(n), 16, '0'), md5(n::text), lpad(to_hex(n), 16, '0') || '.agentdump.zip', 20000,
       lpad(to_hex(fault), 16, '0'), 'uncaught-exception', 'Error: fault ' || fault,
       timestamptz '2026-11-25T00:00:00Z' - interval '1 second' * (n * 7.7),
       'shop-' || fault % 20, 'web-' || n % 200, 'v24.' || n % 9 || '.0', '1.' || n % 30 || '.0', 0, 0
     from (select n, 1 + floor(power(random(), 3) * ${faults})::integer as fault from generate_series(1, ${deaths}) as n) as made`,
  );
  await query(
    `insert into agentdump_releases select program, release, min(at) from agentdump_deaths group by program, release`,
  );
  const began = performance.now();
  await recount(query);
  console.log(`all counted again in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  await query('vacuum analyze');
}

/** With a client without a time limit, because a million rows take long. */
async function fillAt(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await fill(async (text, values) => (await client.query(text, values)).rows);
  } finally {
    await client.end();
  }
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-bench-store-'));
  const server = await startPostgres();
  const at = `${server.url} ${join(folder, 'blobs')}`;
  const store = await openStore(at);
  try {
    console.log(`${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}`);
    await ingest(store, at, folder);
    if (role === 'ingest') return;
    for (const table of ['alerts', 'deaths', 'signatures', 'issues', 'spans', 'hours', 'names', 'releases'])
      await store.index.query(`delete from agentdump_${table}`);
    await fillAt(server.url);
    const issues = await listIssues(store);
    const sum = issues.reduce((total, { count }) => total + count, 0);
    console.log(`${sum} deaths of ${issues.length} faults`);
    const rare = issues.reduce((a, b) => (b.count < a.count ? b : a));
    const worst = issues.reduce((a, b) => (b.count > a.count ? b : a));
    await time(store, 'list', () => listIssues(store));
    await time(store, `page of the worst, ${worst.count} deaths`, () => showIssue(store, worst.id));
    await time(store, `page of the rarest, ${rare.count} deaths`, () => showIssue(store, rare.id));
    await time(store, 'select 1', () => store.index.query('select 1'));
  } finally {
    await store.close();
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `select 1`, which does nothing, shows what the machine adds. */
async function time(store: Store, name: string, work: () => Promise<unknown>): Promise<void> {
  const took: number[] = [];
  const rounds = 30;
  const before = process.cpuUsage();
  const databaseBefore = await processorTimeOf(store);
  for (let n = 0; n < rounds; n++) {
    const began = performance.now();
    await work();
    took.push(performance.now() - began);
  }
  const { user, system } = process.cpuUsage(before);
  const databaseMs = (await processorTimeOf(store)) - databaseBefore;
  took.sort((a, b) => a - b);
  const share = (part: number) => (took[Math.floor(part * (took.length - 1))] ?? 0).toFixed(1);
  const each = (ms: number) => `${(ms / rounds).toFixed(1)} ms`;
  console.log(
    `${name}: median ${share(0.5)} ms, p95 ${share(0.95)} ms; processor time ${each((user + system) / 1000)}, and ${each(databaseMs)} in the database`,
  );
}

/** On a machine that has other work, the processor time says more than the rate. */
async function ingest(store: Store, at: string, folder: string): Promise<void> {
  const children = Array.from({ length: senders }, (_, n) => {
    const own = join(folder, `dumps-${n}`);
    mkdirSync(own, { mode: 0o700 });
    return fork(fileURLToPath(import.meta.url), ['sender', at, own], { stdio: 'inherit' });
  });
  const answerOf = async (child: ChildProcess): Promise<number> => {
    const isOver = once(child, 'exit').then(() => {
      throw new Error('a sender ended');
    });
    return Number((await Promise.race([once(child, 'message'), isOver]))[0]);
  };
  const answers = () => Promise.all(children.map(answerOf));
  await answers();
  const began = performance.now();
  const answered = answers();
  for (const child of children) child.send('go');
  const spentMs = (await answered).reduce((sum, ms) => sum + ms, 0);
  const seconds = (performance.now() - began) / 1000;
  const databaseMs = await processorTimeOf(store);
  const exits = children.map((child) => once(child, 'exit'));
  for (const child of children) child.send('end');
  await Promise.all(exits);
  const count = senders * bundlesEach;
  console.log(
    `${count} bundles by ${senders} senders: ${Math.round(count / seconds)} a second; processor time of each ${(spentMs / count).toFixed(1)} ms, and ${(databaseMs / count).toFixed(1)} ms in the database`,
  );
}

/** Of the database's connections, in milliseconds, since they were made. */
async function processorTimeOf({ index }: Store): Promise<number> {
  const rows = await index.query<{ pid: number }>(
    "select pid from pg_stat_activity where backend_type = 'client backend'",
  );
  const ticks = rows.map(({ pid }) => {
    const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').slice(11, 13);
    return Number(user) + Number(system);
  });
  return ticks.reduce((sum, one) => sum + one, 0) * 10;
}

async function sendAll(): Promise<void> {
  const paths = Array.from({ length: warmUp + bundlesEach }, (_, n) =>
    writeDeath(dumps, {
      message: `fault ${'abcdefghij'[n % 10]}`,
      release: `1.${n % 5}.0`,
      host: `web-${n % 7}`,
    }),
  );
  const store = await openStore(place);
  const sendThem = async (some: readonly string[]) => {
    for (const { path, outcome, because } of await sendBundles(store, some))
      if (outcome !== 'stored') throw new Error(`${path}: ${outcome} ${because ?? ''}`);
  };
  await sendThem(paths.slice(0, warmUp));
  process.send?.(0);
  await once(process, 'message');
  const before = process.cpuUsage();
  await sendThem(paths.slice(warmUp));
  const { user, system } = process.cpuUsage(before);
  const end = once(process, 'message');
  process.send?.((user + system) / 1000);
  await end;
  await store.close();
  process.disconnect();
}
