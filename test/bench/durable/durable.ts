/**
 * The cost of a durable step, compared with the system calls that it can't avoid and, if they are installed (`npm ci --prefix
 * test/durable-peers`), with DBOS on PostgreSQL and LangGraph on SQLite. All in one run, in turns; on a shared machine, p50
 * is the reliable figure. `npm run bench:durable`; needs dist and, for DBOS, Debian's PostgreSQL.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  cpSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DurableRunOptions } from '../../../src/durable/options.ts';
import { startPostgres, whyNoPostgres } from '../../support/system/postgres.ts';
import { dbosAvailable, langGraphAvailable, timeDbos, timeLangGraph } from '../peers/durable-engines.ts';

const { agent } = (await import(
  new URL('../../../dist/index.js', import.meta.url).href
)) as typeof import('../../../src/index.ts');
const dir = mkdtempSync(join(tmpdir(), 'agentdump-bench-'));
let count = 0;

export function quantile(times: number[], q: number): number {
  return times.sort((a, b) => a - b)[Math.floor(times.length * q)] ?? 0;
}

/** Microseconds of each step of one run; each step is awaited. */
async function timeSteps(steps: number, more: Partial<DurableRunOptions>): Promise<number[]> {
  const times: number[] = [];
  await agent.run('bench', { id: `r${count++}`, durable: true, dir, ...more }, async () => {
    for (let index = 0; index < steps; index++) {
      const start = process.hrtime.bigint();
      await agent.step('work', async () => ({ index, text: 'a result' }));
      times.push(Number(process.hrtime.bigint() - start) / 1000);
    }
  });
  return times;
}

/** The same two records per step, written with plain system calls. */
function timeFloor(steps: number, sync: boolean): number[] {
  const fd = openSync(join(dir, `floor${count++}`), 'wx');
  const [first, second] = [Buffer.alloc(80, 120), Buffer.alloc(140, 120)];
  const times: number[] = [];
  for (let index = 0; index < steps; index++) {
    const start = process.hrtime.bigint();
    for (const record of [first, second]) {
      writeSync(fd, record);
      if (sync) fdatasyncSync(fd);
    }
    times.push(Number(process.hrtime.bigint() - start) / 1000);
  }
  closeSync(fd);
  return times;
}

function tell(what: string, times: number[]): number {
  const total = times.reduce((sum, one) => sum + one, 0);
  const p50 = quantile(times, 0.5);
  const rate = Math.round((times.length * 1e6) / total).toLocaleString('en');
  console.log(
    `${what.padEnd(46)} p50 ${p50.toFixed(1).padStart(8)} µs  p99 ${quantile(times, 0.99).toFixed(1).padStart(9)} µs  ${rate} steps/s`,
  );
  return p50;
}

async function inTurns(rounds: number, one: () => Promise<number[]> | number[]): Promise<number[]> {
  const all: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const times = await one();
    if (round > 0) all.push(...times);
  }
  return all;
}

const sealed = { key: randomBytes(32) };
const [plainTimes, sealedTimes, scannedTimes, bareTimes]: number[][] = [[], [], [], []];
for (let round = 0; round < 6; round++) {
  const times = [
    await timeSteps(20_000, { plain: true }),
    await timeSteps(20_000, sealed),
    await timeSteps(20_000, {}),
    timeFloor(20_000, false),
  ];
  if (round > 0)
    for (const [at, list] of [plainTimes, sealedTimes, scannedTimes, bareTimes].entries())
      for (const one of times[at]!) list!.push(one);
}
console.log(`Node ${process.version}; two records a step, not synced`);
const plain = tell('durable step, values in the clear', plainTimes!);
tell('durable step, sealed by a key', sealedTimes!);
tell('durable step, no key, searched for secrets', scannedTimes!);
tell('floor: two writeSync of the same bytes', bareTimes!);

const [syncedTimes, syncFloorTimes]: number[][] = [[], []];
for (let round = 0; round < 12; round++) {
  const [ours, floor] = [await timeSteps(100, { plain: true, fsync: 'step' }), timeFloor(100, true)];
  if (round > 0) syncedTimes!.push(...ours);
  if (round > 0) syncFloorTimes!.push(...floor);
}
console.log('\nfdatasync of each record');
const synced = tell('durable step', syncedTimes!);
const syncFloor = tell('floor: two writeSync + fdatasync', syncFloorTimes!);
console.log(`${' '.repeat(46)} ratio of p50 ${(synced / syncFloor).toFixed(2)} (aim ≤ 1.2)`);

const message = 'x'.repeat(2000);
await agent.run('chat', { id: 'chat', durable: true, dir, plain: true }, async () => {
  for (let index = 0; index < 300; index++)
    await agent.step('turn', async () => ({ role: 'user', content: `${index} ${message}` }));
});
const chat = join(dir, 'runs', 'chat');
const bytes = readdirSync(chat).reduce((sum, name) => sum + statSync(join(chat, name)).size, 0);
console.log(`\n300 messages of 2 KB: ${(bytes / 1e6).toFixed(3)} MB on disk (aim ≤ 0.8)`);

/** The time within which a death causes a returned step to be repeated. Measured after a wait, when the code is cold. */
function timeWindow(): void {
  const program = fileURLToPath(new URL('../peers/durable-window.mjs', import.meta.url));
  const windows: number[] = [];
  for (let round = 0; round < 15; round++) {
    const env = { ...process.env, AGENTDUMP_DIR: join(dir, `window${round}`) };
    windows.push(...JSON.parse(spawnSync(process.execPath, [program], { env, encoding: 'utf8' }).stdout));
  }
  const [middle, most] = [quantile(windows, 0.5), quantile(windows, 0.9)];
  console.log(
    `from a step's return until its record is written, after a wait: p50 ${middle.toFixed(0)} µs, 90 % within ${most.toFixed(0)}`,
  );
}
timeWindow();

/**
 * From the start of the process to its first new step, in a run with 100 finished steps; compared with a Node that does
 * nothing.
 */
function timeResume(): void {
  const program = fileURLToPath(new URL('../peers/durable-resume.mjs', import.meta.url));
  const resumed: number[] = [];
  const copied: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < 15; round++) {
    const [here, there] = [join(dir, `resume${round}`), join(dir, `copied${round}`)];
    spawnSync(process.execPath, [program], { env: { ...process.env, AGENTDUMP_DIR: here } });
    cpSync(here, there, { recursive: true });
    for (const [times, place] of [
      [resumed, here],
      [copied, there],
    ] as const) {
      const env = { ...process.env, AGENTDUMP_DIR: place };
      times.push(Number(spawnSync(process.execPath, [program], { env, encoding: 'utf8' }).stdout));
    }
    bare.push(Number(spawnSync(process.execPath, ['-p', 'performance.now()'], { encoding: 'utf8' }).stdout));
  }
  const [ours, elsewhere, node] = [resumed, copied, bare].map((times) => quantile(times, 0.5));
  console.log(
    `resume of a killed run, 100 steps behind it: first new step ${ours?.toFixed(0)} ms after the process began, from a copied folder ${elsewhere?.toFixed(0)}, of which Node ${node?.toFixed(0)} (aim ≤ 100)`,
  );
}
timeResume();

console.log('\npeers, small results');
if (langGraphAvailable()) {
  const small = tell(
    'LangGraph, SqliteSaver, durability sync',
    await inTurns(4, () => timeLangGraph(join(dir, `lg${count++}`), 200)),
  );
  console.log(`${' '.repeat(46)} ${(small / plain).toFixed(0)} times ours (aim ≥ 30)`);
} else console.log('LangGraph: not installed (npm ci --prefix test/durable-peers)');
if (dbosAvailable() && !whyNoPostgres()) {
  const server = await startPostgres();
  try {
    const dbos = tell('DBOS on a local PostgreSQL', await timeDbos(server.url, 300));
    console.log(`${' '.repeat(46)} ${(dbos / plain).toFixed(0)} times ours (aim ≥ 20)`);
    const { PostgresStore } = (await import(
      new URL('../../../dist/durable/index.js', import.meta.url).href
    )) as typeof import('../../../src/durable/index.ts');
    const store = await PostgresStore.connect(server.url);
    tell('ours on the same PostgreSQL', await inTurns(3, () => timeSteps(150, { plain: true, store })));
    await store.close();
  } finally {
    await server.remove();
  }
} else console.log('DBOS: not installed, or no PostgreSQL');
rmSync(dir, { recursive: true, force: true });
process.exit();
