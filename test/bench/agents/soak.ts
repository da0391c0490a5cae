/**
 * An hour of an agent's work under `agentdump run` with the preload, beside the same work without both: does anything grow,
 * and what does it cost? `MINUTES=60 npm run soak`; needs dist. Both programs run all the time and work in turns; a pair is
 * the time of the same number of turns in each. Before the hour, bounded buffers of events are filled, and V8 compiles in
 * thousands of turns with a model that answers at once. The first fifth is warm-up and is not evaluated.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startMockModelServer } from '../../support/agents/mock-model-server.ts';
import { computeTrend, median, medianInterval } from '../trend.ts';

const minutes = Number(process.env['MINUTES'] ?? 60);
const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const program = fileURLToPath(new URL('./soak-agent.mjs', import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'agentdump-soak-'));
const dumps = join(dir, 'dumps');
/** Of each of the three agents, in a slice of about six seconds. */
const turnsPerSlice = 12;
const warmUpShare = 0.2;
/** Of each agent before the hour: V8 compiles and learns a program's shapes for that long. */
const turnsBefore = 3000;
/** A journal may grow to its bound, but not beyond. */
const journalBoundBytes = 33 * 2 ** 20;
const throughputTarget = 0.01;
const longestAnswerMs = 600_000;

let frameDelayMs = 0;
const script = () => ({
  text: Array.from({ length: 60 }, (_, i) => `word-${i}`).join(' '),
  frames: 20,
  frameDelayMs,
});

class Subject {
  readonly child: ChildProcess;
  readonly #answers: AsyncIterator<string>;
  pid = 0;

  constructor(words: string[], environment: Record<string, string>) {
    this.child = spawn(process.execPath, words, {
      cwd: dir,
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { PATH: process.env['PATH'] ?? '', HOME: dir, ...environment },
    });
    if (!this.child.stdout) throw new Error('no stdout');
    this.#answers = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }

  async ask(line: string): Promise<Record<string, number>> {
    this.child.stdin?.write(`${line}\n`);
    // A program that was restarted does not know the question.
    const timer = setTimeout(() => {
      console.error(`no answer to "${line}" in ${longestAnswerMs / 60_000} minutes: see ${dumps}`);
      process.exit(1);
    }, longestAnswerMs);
    for (;;) {
      const { value, done } = await this.#answers.next();
      if (done) throw new Error(`it ended while it was asked to ${line}`);
      if (!value.startsWith('@')) continue;
      clearTimeout(timer);
      const answer = JSON.parse(value.slice(1)) as Record<string, number>;
      this.pid = answer['pid'] ?? 0;
      return answer;
    }
  }
}

function countsOf(name: string, pid: number): Record<string, number> {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (label: string): number => Number(new RegExp(`^${label}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  return {
    [`${name}: resident, MB`]: field('VmRSS') / 1024,
    [`${name}: threads`]: field('Threads'),
    [`${name}: descriptors`]: readdirSync(`/proc/${pid}/fd`).length,
  };
}

function countFiles(): { files: number; bytes: number; segments: number } {
  const names = existsSync(dumps) ? readdirSync(dumps, { recursive: true, encoding: 'utf8' }) : [];
  const found = names
    .map((name) => join(dumps, name))
    .filter((path) => existsSync(path) && statSync(path).isFile());
  const segments = found.filter((path) => path.endsWith('.journal'));
  const bytes = found.reduce((sum, path) => sum + statSync(path).size, 0);
  return { files: found.length - segments.length, bytes, segments: segments.length };
}

async function sampleOf(name: string, subject: Subject): Promise<Record<string, number>> {
  const { heapBytes = 0, externalBytes = 0 } = await subject.ask('sample');
  return {
    [`${name}: heap after gc, MB`]: heapBytes / 2 ** 20,
    [`${name}: external, MB`]: externalBytes / 2 ** 20,
    ...countsOf(name, subject.pid),
  };
}

const server = await startMockModelServer(script);
// The server's log of calls is an oracle for other tests; here it would only grow.
server.events.on('end', () => server.calls.splice(0, Math.max(0, server.calls.length - 64)));
const environment = (port: number) => ({ MODEL_URL: server.url, HEALTH_PORT: String(port) });
const [portWith, portWithout] = [await freePort(), await freePort()];
const words = ['--expose-gc', program];
const supervisor = [
  ...[agentdump, 'run', '--dir', dumps, '--restart=on-failure', '--hang=10000', '--memory-limit=4G'],
  ...[`--health-url=http://127.0.0.1:${portWith}/`, '--', process.execPath, ...words],
];
const supervised = new Subject(supervisor, environment(portWith));
const bare = new Subject(words, environment(portWithout));

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  return port;
}

const rows: { atMs: number; values: Record<string, number> }[] = [];
const pairs: { atMs: number; wall: number; cpuMs: number; bareCpuMs: number; turns: number }[] = [];
const slice = `turns ${turnsPerSlice}`;

async function runPair(round: number): Promise<void> {
  // The order alternates.
  const first = round % 2 === 0 ? supervised : bare;
  const one = await first.ask(slice);
  const other = await (first === bare ? supervised : bare).ask(slice);
  const [own, plain] = first === bare ? [other, one] : [one, other];
  const figure = (of: Record<string, number>, name: string): number => of[name] ?? Number.NaN;
  pairs.push({
    atMs: performance.now(),
    wall: figure(own, 'wallMs') / figure(plain, 'wallMs') - 1,
    cpuMs: figure(own, 'cpuMs') - figure(plain, 'cpuMs'),
    bareCpuMs: figure(plain, 'cpuMs'),
    turns: figure(plain, 'turns'),
  });
}

async function takeSample(): Promise<void> {
  const own = await sampleOf('agent', supervised);
  const plain = await sampleOf('bare agent', bare);
  const { files, bytes, segments } = countFiles();
  rows.push({
    atMs: performance.now(),
    values: {
      ...own,
      ...countsOf('supervisor', supervised.child.pid ?? 0),
      ...plain,
      'files but the journal': files,
      'journal segments': segments,
      'bytes on disk, MB': bytes / 2 ** 20,
    },
  });
}

for (const subject of [supervised, bare]) {
  await subject.ask('fill');
  await subject.ask(`turns ${turnsBefore}`);
}
frameDelayMs = 10;
const until = performance.now() + minutes * 60_000;
for (let round = 0; performance.now() < until; round++) {
  await runPair(round);
  await takeSample();
}
for (const subject of [supervised, bare]) {
  const ended = once(subject.child, 'exit');
  await subject.ask('end');
  subject.child.stdin?.end();
  const [code] = await Promise.race([ended, delay(10_000, ['did not end'])]);
  if (code !== 0) console.log(`an agent ended with ${code}`);
}
const left = countFiles();
await server.close();
report();
rmSync(dir, { recursive: true, force: true });

/** Growth per hour below this is ignored: V8 and malloc cause it by themselves, as the bare agent shows. */
function tolerance(name: string, level: number): number {
  if (name.endsWith('resident, MB')) return Math.max(4, level * 0.04);
  return name.endsWith('MB') ? Math.max(0.5, level * 0.02) : 0;
}

function report(): void {
  const figure = (value: number): string => value.toFixed(2).padStart(9);
  const start = rows[0]?.atMs ?? 0;
  const end = rows.at(-1)?.atMs ?? 0;
  const judged = rows.filter(({ atMs }) => atMs - start >= (end - start) * warmUpShare);
  console.log(
    `${process.version}, ${((end - start) / 60_000).toFixed(0)} minutes, ${rows.length} samples, load ${loadavg()[0]?.toFixed(1)}`,
  );
  console.log(`${''.padEnd(32)}    first      last   an hour   95 %: from     to`);
  let grown = 0;
  for (const name of Object.keys(judged[0]?.values ?? {})) {
    const points = judged.map(({ atMs, values }) => ({ atMs, value: values[name] ?? Number.NaN }));
    const trend = computeTrend(points);
    const isBounded = name.startsWith('bytes') || name.startsWith('journal');
    const grows = isBounded
      ? trend.last * (name.startsWith('bytes') ? 2 ** 20 : 0) > journalBoundBytes
      : trend.low > 0 && trend.slope > tolerance(name, trend.first) && trend.last > trend.first;
    if (grows && !name.startsWith('bare')) grown++;
    const figures = [trend.first, trend.last, trend.slope, trend.low, trend.high].map(figure).join(' ');
    console.log(`${name.padEnd(32)}${figures}${grows ? '  GROWS' : isBounded ? '  bounded' : ''}`);
  }
  const walls = pairs.map(({ wall }) => wall);
  const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;
  const [low, high] = medianInterval(walls).map(percent);
  const perTurn = (pick: (pair: (typeof pairs)[number]) => number): string =>
    `${median(pairs.map((pair) => pick(pair) / pair.turns)).toFixed(2)} ms`;
  console.log(
    `throughput: ${percent(median(walls))} less, paired median of ${pairs.length} (95 %: ${low} to ${high}; target 1 %)`,
  );
  console.log(
    `CPU: ${perTurn(({ cpuMs }) => cpuMs)} more a turn, bare ${perTurn(({ bareCpuMs }) => bareCpuMs)}`,
  );
  console.log(`left behind after a good end: ${left.files + left.segments} files`);
  const verdict = grown === 0 ? 'nothing grows' : `${grown} of these grow`;
  console.log(
    `verdict: ${verdict}; throughput ${median(walls) <= throughputTarget ? 'within' : 'beyond'} its target`,
  );
}
