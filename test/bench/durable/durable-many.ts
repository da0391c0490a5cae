/**
 * How soon an interrupted run is taken up while very many runs have ended and many are waiting: by a worker that is running,
 * and by one that is started, on files and on PostgreSQL. `npm run bench:durable-many -- --finished N --waiting N --rounds
 * N`; needs dist.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { DurableStore } from '../../../src/durable/index.ts';
import { startPostgres, whyNoPostgres } from '../../support/system/postgres.ts';

const { agent } = (await import(
  new URL('../../../dist/index.js', import.meta.url).href
)) as typeof import('../../../src/index.ts');
const { enqueueRun, FileStore, PostgresStore } = (await import(
  new URL('../../../dist/durable/index.js', import.meta.url).href
)) as typeof import('../../../src/durable/index.ts');

const { values } = parseArgs({
  options: {
    finished: { type: 'string', default: '100000' },
    waiting: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '5' },
  },
});
const [finished, waiting, rounds] = [values.finished, values.waiting, values.rounds].map(Number) as [
  number,
  number,
  number,
];
const program = fileURLToPath(new URL('../peers/durable-worker.mjs', import.meta.url));

interface Process {
  child: ChildProcess;
  /** When it first printed this line, in milliseconds since 1970. */
  said(line: string): Promise<number>;
}

function start(place: string, ...words: string[]): Process {
  const child = spawn(process.execPath, [program, place, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: { text: string; atMs: number }[] = [];
  const wake = new Set<() => void>();
  let rest = '';
  child.stdout?.on('data', (text) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) lines.push({ text: part, atMs: Date.now() });
    for (const tell of wake) tell();
  });
  const said = async (line: string) => {
    for (;;) {
      const at = lines.findIndex(({ text }) => text === line);
      if (at >= 0) return lines.splice(at, 1)[0]!.atMs;
      await new Promise<void>((resolve) => wake.add(resolve));
    }
  };
  return { child, said };
}

const end = ({ child }: Process) =>
  new Promise((resolve) => {
    child.once('exit', resolve);
    child.kill('SIGKILL');
  });

/** One finished run, and copies of its folder. */
async function finish(store: InstanceType<typeof FileStore>): Promise<void> {
  await agent.run('job', { id: 'f0', durable: true, store, plain: true }, () => agent.step('work', () => 1));
  const first = store.folderOf('f0');
  const files = readdirSync(first).map((name) => ({ name, bytes: readFileSync(join(first, name)) }));
  for (let index = 1; index < finished; index++) {
    const folder = store.folderOf(`f${index}`);
    mkdirSync(folder, { mode: 0o700 });
    for (const { name, bytes } of files) writeFileSync(join(folder, name), bytes);
  }
}

async function wait(store: DurableStore): Promise<void> {
  for (let index = 0; index < waiting; index++) {
    const id = `w${index}`;
    await enqueueRun(store, 'job', { id });
    const dueAtMs = index % 2 === 0 ? ('never' as const) : Date.now() + 3_600_000 + index;
    await store.rest?.(id, { isOver: false, dueAtMs });
  }
}

/** Milliseconds from the kill, and from the start of another worker, until the run continues. */
async function measure(what: string, place: string, store: DurableStore): Promise<void> {
  const [idle, started]: number[][] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const doomed = start(place, 'hang');
    await doomed.said('up');
    await enqueueRun(store, 'job', { id: `i${round} ${what}` });
    await doomed.said('begun 1');
    const there = start(place);
    await there.said('up');
    // A random moment, so that its search for runs without an entry is in progress too.
    await new Promise((resolve) => setTimeout(resolve, 500 + 1_000 * Math.random()));
    const killedAt = Date.now();
    await end(doomed);
    idle!.push((await there.said('begun 2')) - killedAt);
    await there.said('ended 2');
    await end(there);

    const second = start(place, 'hang');
    await second.said('up');
    await enqueueRun(store, 'job', { id: `s${round} ${what}` });
    await second.said('begun 1');
    await end(second);
    const startedAt = Date.now();
    const fresh = start(place);
    started!.push((await fresh.said('begun 2')) - startedAt);
    await fresh.said('ended 2');
    await end(fresh);
  }
  const tell = (list: number[]) => list.map((ms) => Math.round(ms)).join(', ');
  console.log(`${what}: ${finished} finished, ${waiting} waiting runs`);
  console.log(`  by a worker that is there, ms after the kill: ${tell(idle!)}`);
  console.log(`  by a worker that is started, ms after its start: ${tell(started!)}`);
}

const dir = mkdtempSync(join(tmpdir(), 'agentdump-many-'));
try {
  const store = new FileStore(dir);
  await finish(store);
  await wait(store);
  await measure('files', dir, store);
  const begunAt = performance.now();
  const before = performance.eventLoopUtilization();
  const found = await store.findUnlisted();
  const { active } = performance.eventLoopUtilization(before);
  console.log(
    `  search for runs without an entry: ${(performance.now() - begunAt).toFixed(0)} ms, ${active.toFixed(0)} of them busy, ${found.length} found`,
  );
  for (const name of readdirSync(store.place))
    if (name.startsWith('f')) rmSync(join(store.place, name, 'lease-00000001.over'), { force: true });
  await measure('files, none of the ends noted, as older releases left them', dir, store);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
if (!whyNoPostgres()) {
  const server = await startPostgres();
  try {
    const store = await PostgresStore.connect(server.url);
    await store.pool.query(
      `insert into agentdump_runs (run_id, epoch, lease_until, name, is_over)
       select 'f' || n, 1, now(), 'job', true from generate_series(1, $1::integer) n`,
      [finished],
    );
    // In parts, because a query has a time limit.
    for (let first = 1; first <= finished; first += 5_000)
      await store.pool.query(
        `insert into agentdump_records (run_id, seq, epoch, kind, at_ms, payload)
         select 'f' || n, seq, 1, 64, 0, '{}'
         from generate_series($1::integer, $2::integer) n, generate_series(0, 4) seq`,
        [first, Math.min(first + 4_999, finished)],
      );
    await wait(store);
    await measure('PostgreSQL', server.url, store);
    await store.close();
  } finally {
    await server.remove();
  }
}
process.exit();
