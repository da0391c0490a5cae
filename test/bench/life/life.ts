/**
 * What the preload, with its default settings, adds to the CPU time of ordinary work and to resident memory. Each row is a
 * program that runs twice at once, without and with the preload, and does the same slices of work in turns, so that both meet
 * the same machine. CPU time is that of the whole process, user and system, of all threads. Each slice is compared with the
 * one beside it; a pair of processes yields the median of its slices, and the figure is the median of the pairs, each with
 * its own processes, with the minimum and maximum. Whatever starts once per process (the recorder, the watchdog) has started
 * before. `resident` is read from the kernel after the work of an hour: RSS, proportional and private; `idle` is a waiting
 * server. ROWS, NODES: which of them, separated by commas; PAIRS, SLICES: how many. Needs dist.
 */
import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { findNodes } from '../../support/victims/run-victim.ts';
import { median } from '../trend.ts';
import { openPlace, type Place, Subject } from './subject.ts';

const environmentList = (name: string): string[] | undefined => process.env[name]?.split(',');
const pairs = Number(process.env['PAIRS'] ?? 5);
const slices = Number(process.env['SLICES'] ?? 15);
/** The recorder starts after two seconds, the watchdog after one. */
const settledMs = 3000;
const warmUpSlices = 6;
/** Turns of an agent; each is about as much as one does in a minute of waiting for models. */
const hourTurns = 3000;

type Target = number | undefined;
interface Row {
  name: string;
  work: string;
  /** Operations per slice; a slice takes some tens of milliseconds. */
  count: number;
  /** The highest acceptable ratio to the bare program. */
  target: Target;
  output?: 'pipe' | 'file' | '/dev/null';
  /**
   * Variables of the process with the preload. With `against`, the other process has the preload too, and those variables.
   */
  env?: Record<string, string>;
  against?: Record<string, string>;
  /** Set for work that waits for its server: fewer slices. */
  slices?: number;
}

const token = (work: string): Row => ({
  name: `${work} (one write a token)`,
  work,
  count: 2000,
  target: 1.15,
});
const pacedToken = (work: string): Row => ({
  name: `${work} (4 × 100 tokens a second)`,
  work,
  count: 800,
  target: 1.15,
  slices: 5,
});
const logRow = (work: string, output: Row['output'], count: number): Row => ({
  name: `${work} to ${output}`,
  work,
  count,
  target: 1.03,
  ...(output && { output }),
});

const allRows: Row[] = [
  { name: 'http.get', work: 'http.get', count: 300, target: 1.03 },
  { name: 'fetch', work: 'fetch', count: 250, target: 1.03 },
  { name: 'serve', work: 'serve', count: 300, target: 1.03 },
  {
    name: 'promises, 130 a request served: AGENTDUMP_CONTEXT=always against off',
    work: 'serve-promises',
    count: 400,
    target: 1.03,
    env: { AGENTDUMP_CONTEXT: 'always' },
    against: { AGENTDUMP_CONTEXT: 'off' },
  },
  {
    name: 'Express, 10 awaits a request: AGENTDUMP_CONTEXT as it is by default against off',
    work: 'serve-express',
    count: 300,
    target: 1.03,
    env: {},
    against: { AGENTDUMP_CONTEXT: 'off' },
  },
  {
    name: 'Express, 10 awaits a request: AGENTDUMP_CONTEXT=always against off',
    work: 'serve-express',
    count: 300,
    target: 1.03,
    env: { AGENTDUMP_CONTEXT: 'always' },
    against: { AGENTDUMP_CONTEXT: 'off' },
  },
  logRow('console.log', 'pipe', 4000),
  logRow('console.log', 'file', 4000),
  logRow('console.log', '/dev/null', 6000),
  logRow('console.log-long', 'pipe', 2000),
  logRow('console.log-long', 'file', 2000),
  { name: 'process.emit', work: 'process.emit', count: 1_000_000, target: 1.05 },
  { name: 'process.emit, nobody listens', work: 'process.emit-unheard', count: 1_000_000, target: 1.05 },
  { name: 'process.emit of a tapped event', work: 'process.emit-tapped', count: 30_000, target: 1.05 },
  { name: 'process.on, and removed again', work: 'process.on', count: 30_000, target: undefined },
  { name: 'emitter.emit', work: 'emitter.emit', count: 2_000_000, target: 1.05 },
  ...['token-raw', 'token-parsed', 'token-http', 'token-openai', 'token-anthropic'].map(token),
  ...['paced-raw', 'paced-parsed', 'paced-http', 'paced-openai', 'paced-anthropic'].map(pacedToken),
  { name: 'await', work: 'await', count: 300_000, target: 1.03 },
  { name: 'setTimeout', work: 'setTimeout', count: 400, target: 1.03, slices: 9 },
  { name: 'setImmediate', work: 'setImmediate', count: 50_000, target: 1.03 },
];

/** The median ratio of one pair of processes, and the microseconds per operation without the preload. */
async function comparePair(node: string, row: Row, place: Place): Promise<{ ratio: number; bareUs: number }> {
  const bare = new Subject(node, { ...row, env: row.against }, place);
  const loaded = new Subject(node, { env: {}, ...row }, place);
  const started = performance.now();
  for (let i = 0; i < warmUpSlices || performance.now() - started < settledMs; i++) {
    await bare.work(row.count);
    await loaded.work(row.count);
  }
  const ratios: number[] = [];
  const bareMs: number[] = [];
  for (let i = 0; i < (row.slices ?? slices); i++) {
    // The order alternates.
    const first = i % 2 === 0 ? bare : loaded;
    const one = await first.work(row.count);
    const other = await (first === bare ? loaded : bare).work(row.count);
    const [plain, own] = first === bare ? [one, other] : [other, one];
    ratios.push(own / plain);
    bareMs.push(plain);
  }
  await Promise.all([bare.end(), loaded.end()]);
  return { ratio: median(ratios), bareUs: (median(bareMs) / row.count) * 1000 };
}

async function printRow(major: string, node: string, row: Row, place: Place): Promise<void> {
  const found = [];
  for (let i = 0; i < pairs; i++) found.push(await comparePair(node, row, place));
  const ratios = found.map(({ ratio }) => ratio);
  const [middle, least, most] = [median(ratios), Math.min(...ratios), Math.max(...ratios)].map((one) =>
    one.toFixed(3),
  );
  const target =
    row.target === undefined ? '' : Number(middle) <= row.target ? `≤ ${row.target}` : `MISSES ${row.target}`;
  const bareUs = median(found.map((one) => one.bareUs)).toFixed(2);
  console.log(`| ${major} | ${row.name} | ${bareUs} | ${middle} | ${least} to ${most} | ${target} |`);
}

/** Both run at once, so that the pages of the binary, which they share, don't count as private memory of either. */
async function printResident(major: string, node: string, place: Place): Promise<void> {
  const found: ReturnType<Subject['memory']>[] = [];
  for (let i = 0; i < Math.min(pairs, 3); i++) {
    const [bare, loaded] = [undefined, {}].map((env) => new Subject(node, { work: 'hour', env }, place)) as [
      Subject,
      Subject,
    ];
    for (let done = 0; done < hourTurns; done += 100) {
      await bare.work(100);
      await loaded.work(100);
    }
    await delay(settledMs);
    const [plain, own] = [bare.memory(), loaded.memory()];
    found.push({ rss: own.rss - plain.rss, pss: own.pss - plain.pss, private: own.private - plain.private });
    await Promise.all([bare.end(), loaded.end()]);
  }
  const mb = (name: keyof (typeof found)[number]): string => {
    const all = found.map((one) => one[name]);
    return `${median(all).toFixed(1)} (${all.map((one) => one.toFixed(1)).join(', ')})`;
  };
  console.log(
    `| ${major} | resident after ${hourTurns} turns, MB more | RSS ${mb('rss')} | PSS ${mb('pss')} | private ${mb('private')} | 10 |`,
  );
}

/**
 * Private memory of a waiting server: with the whole preload, without its thread, and with a thread in which nothing runs,
 * which is the least that a watchdog can take.
 */
async function printIdle(major: string, node: string, place: Place): Promise<void> {
  const found: Record<'loaded' | 'threadless' | 'thread', number>[] = [];
  const threadless = { AGENTDUMP_HANG_MS: '0', AGENTDUMP_SIGNALS: 'none' };
  for (let i = 0; i < Math.min(pairs, 3); i++) {
    const subjects = [
      new Subject(node, { work: 'serve', env: undefined }, place),
      new Subject(node, { work: 'serve-thread', env: undefined }, place),
      new Subject(node, { work: 'serve', env: threadless }, place),
      new Subject(node, { work: 'serve', env: {} }, place),
    ];
    await Promise.all(subjects.map((one) => one.work(10)));
    await delay(2 * settledMs);
    const [bare = 0, ...more] = subjects.map((one) => one.memory().private);
    const [thread, without, loaded] = more.map((one) => one - bare) as [number, number, number];
    found.push({ thread, threadless: without, loaded });
    await Promise.all(subjects.map((one) => one.end()));
  }
  const mb = (name: keyof (typeof found)[number]): string => {
    const all = found.map((one) => one[name]);
    return `${median(all).toFixed(1)} (${all.map((one) => one.toFixed(1)).join(', ')})`;
  };
  console.log(
    `| ${major} | idle server, private MB more | preload ${mb('loaded')} | without its thread ${mb('threadless')} | an empty thread ${mb('thread')} | 10 |`,
  );
}

const place = await openPlace();
const rows = environmentList('ROWS');
const majors = environmentList('NODES') ?? ['20', '22', '24', '26'];
console.log('| Node | work | bare, µs CPU | with / bare | pairs | target |\n|---|---|---|---|---|---|');
try {
  for (const { path: node } of findNodes()) {
    const version = spawnSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).stdout.trim();
    if (!majors.includes(version.split('.')[0] ?? '')) continue;
    for (const row of allRows)
      if (!rows || rows.some((part) => row.name.startsWith(part))) await printRow(version, node, row, place);
    if (!rows || rows.includes('idle')) await printIdle(version, node, place);
    if (!rows || rows.includes('resident')) await printResident(version, node, place);
  }
} finally {
  place.close();
}
