/**
 * The cost of the preload: at the start, while the program runs, and at the death. Each figure is a paired comparison with
 * the same program without it, in one run; medians, because machines are noisy. `npm run bench:preload [-- <node binary>]`.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const preload = join(root, 'dist', 'register.cjs');
const node = process.argv[2] ?? process.execPath;
const dir = mkdtempSync(join(tmpdir(), 'agentdump-bench-'));
process.on('exit', () => rmSync(dir, { recursive: true, force: true }));

const ranked = (values: number[]): number[] => [...values].sort((a, b) => a - b);
const median = (values: number[]): number => ranked(values)[values.length >> 1] ?? Number.NaN;
const percent = (part: number, whole: number): string => `${((part / whole) * 100).toFixed(2)} %`;

interface Figures {
  [name: string]: number;
}

/** Runs a program that prints one JSON line of figures. */
function measure(args: string[], isLoaded: boolean): Figures {
  const flags = isLoaded ? ['--require', preload] : [];
  const result = spawnSync(node, [...flags, ...args], {
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: dir,
      AGENTDUMP_DIR: join(dir, 'dumps'),
      AGENTDUMP_HEAP: 'off',
    },
  });
  const line = result.stdout.trim().split('\n').pop() ?? '';
  if (!line.startsWith('{')) throw new Error(`no figures from ${args.join(' ')}: ${result.stderr}`);
  return JSON.parse(line) as Figures;
}

/** Medians of the bare runs and of the paired differences, and the bounds of the differences' true median. */
function compare(
  args: string[],
  pairs: number,
): { bare: Figures; difference: Figures; least: Figures; most: Figures } {
  const runs = Array.from({ length: pairs }, (_, i) => {
    // The order alternates, so that neither always finds the caches warm.
    const first = measure(args, i % 2 === 1);
    const second = measure(args, i % 2 === 0);
    return i % 2 === 1 ? { bare: second, loaded: first } : { bare: first, loaded: second };
  });
  const names = Object.keys(runs[0]?.bare ?? {});
  const of = (rank: number, pick: (run: (typeof runs)[number], name: string) => number): Figures =>
    Object.fromEntries(names.map((name) => [name, ranked(runs.map((run) => pick(run, name)))[rank] ?? NaN]));
  const more = (run: (typeof runs)[number], name: string): number =>
    (run.loaded[name] ?? Number.NaN) - (run.bare[name] ?? Number.NaN);
  // The binomial bounds of a median at 95 %: this many ranks to either side of the middle.
  const middle = pairs >> 1;
  const aside = Math.ceil(0.98 * Math.sqrt(pairs));
  return {
    bare: of(middle, (run, name) => run.bare[name] ?? Number.NaN),
    difference: of(middle, more),
    least: of(Math.max(0, middle - aside), more),
    most: of(Math.min(pairs - 1, middle + aside), more),
  };
}

function benchStart(): void {
  const figures = `
    const used = process.cpuUsage();
    const rollup = require('fs').readFileSync('/proc/self/smaps_rollup', 'utf8');
    const kb = (name) => Number(new RegExp('^' + name + ': +(\\\\d+)', 'm').exec(rollup)[1]);
    console.log(JSON.stringify({ cpuMs: (used.user + used.system) / 1000, privateKb: kb('Private_Dirty') + kb('Private_Clean') }));`;
  const { bare, difference } = compare(['-e', figures], 41);
  console.log('start: node -e, 41 pairs');
  console.log(
    `  CPU      ${bare['cpuMs']?.toFixed(1)} ms bare, ${difference['cpuMs']?.toFixed(2)} ms more (target 5)`,
  );
  console.log(`  private  ${bare['privateKb']} kB bare, ${difference['privateKb']} kB more (target 2048)`);
}

/**
 * An agent's day: requests to its own server, promises, timers, JSON. The server waits for 10 ms, far less than any model:
 * this measures an agent, not a loop over fetch.
 */
const agentLoad = `
const http = require('node:http');
const reply = JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'x'.repeat(2000) } }] });
const server = http.createServer((request, response) => { request.resume().on('end', () => setTimeout(() => response.end(reply), 10)); });
server.listen(0, '127.0.0.1', async () => {
  const url = 'http://127.0.0.1:' + server.address().port;
  const turn = async (messages) => {
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(messages) });
    const data = await response.json();
    await new Promise((resolve) => setTimeout(resolve, 0));
    for (let i = 0; i < 500; i++) await null;
    return data.choices[0].message;
  };
  const history = [];
  // The recorder and the watchdog begin within two seconds, once; what they cost from then on is measured.
  for (let i = 0; i < 30 || performance.now() < 3500; i++) history[i % 20] = await turn(history);
  const cpu = process.cpuUsage();
  const start = performance.now();
  for (let i = 0; i < 200; i++) history[i % 20] = await turn(history);
  const ms = performance.now() - start;
  const used = process.cpuUsage(cpu);
  console.log(JSON.stringify({ ms, turnCpuUs: (used.user + used.system) / 200 }));
  server.closeAllConnections();
  server.close();
});`;

/** Runs differ by one and a half percent, bare ones too: with fewer pairs, one percent could not be detected. */
const steadyPairs = 31;

function benchSteady(): void {
  const file = join(dir, 'agent-load.cjs');
  writeFileSync(file, agentLoad);
  const { bare, difference, least, most } = compare([file], steadyPairs);
  const share = (figures: Figures): string => percent(figures['ms'] ?? NaN, bare['ms'] ?? NaN);
  console.log(`steady: 200 turns of fetch, promises, timers, JSON; ${steadyPairs} pairs`);
  console.log(
    `  wall     ${bare['ms']?.toFixed(0)} ms bare, ${difference['ms']?.toFixed(1)} ms more: ${share(difference)} ` +
      `(95 %: ${share(least)} to ${share(most)}; target 1 %)`,
  );
  const perTurn = [bare['turnCpuUs'], difference['turnCpuUs']].map((us) => us?.toFixed(0));
  console.log(`  CPU      ${perTurn[0]} µs a turn bare, ${perTurn[1]} µs more`);
}

/** A program with 300 modules that dies and prints when it threw. */
function writeLargeProgram(): string {
  const folder = join(dir, 'large');
  mkdirSync(folder);
  for (let i = 0; i < 300; i++)
    writeFileSync(
      join(folder, `module-${i}.js`),
      `exports.name = 'module ${i}';\n${`exports.f${i} = (x) => x + ${i};\n`.repeat(40)}`,
    );
  const requires = Array.from({ length: 300 }, (_, i) => `require('./module-${i}.js');`).join('\n');
  const end = `require('node:fs').writeSync(1, JSON.stringify({ thrownAtMs: Date.now() }) + '\\n'); throw new Error('dies');`;
  writeFileSync(join(folder, 'main.js'), `${requires}\nsetTimeout(() => { ${end} }, 20);`);
  return join(folder, 'main.js');
}

function benchDeath(): void {
  const file = writeLargeProgram();
  const dumps = join(dir, 'dumps');
  const sealed: number[] = [];
  const gone: Record<'bare' | 'loaded', number[]> = { bare: [], loaded: [] };
  for (let i = 0; i < 15; i++)
    for (const kind of ['bare', 'loaded'] as const) {
      rmSync(dumps, { recursive: true, force: true });
      const { thrownAtMs } = measure([file], kind === 'loaded');
      gone[kind].push(Date.now() - (thrownAtMs ?? Number.NaN));
      if (kind === 'loaded') sealed.push(readTookMs(dumps));
    }
  console.log('death: uncaught exception, 300 modules, no heap; 15 pairs');
  console.log(`  crash to sealed bundle  ${median(sealed)} ms (target 150)`);
  console.log(
    `  throw to process gone   ${median(gone.loaded)} ms, bare ${median(gone.bare)} ms (target 250)`,
  );
}

function readTookMs(dumps: string): number {
  const [name] = readdirSync(dumps).filter((entry) => entry.endsWith('.agentdump'));
  if (name === undefined) throw new Error('the program left no bundle');
  return (JSON.parse(readFileSync(join(dumps, name, 'manifest.json'), 'utf8')) as { tookMs: number }).tookMs;
}

console.log(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim());
benchStart();
benchSteady();
benchDeath();
