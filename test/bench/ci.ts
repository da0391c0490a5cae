/**
 * What `agentdump ci` adds to a green test run of a real package, compared in pairs with the bare command: wall clock and
 * processor time of the whole process tree, as medians of the pairs' ratios with their 95 % bounds. `find-my-way` starts a
 * process for each of its 80 files of node:test, which is the most expensive case; the mocha suites have one process and many
 * short tests. An argument (`npm run bench:ci -- 'find-my-way'`, `-- 'ci;'`) selects the rows that contain it.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const runners = join(root, 'test', 'runners', 'node_modules');
const bin = join(root, 'bin', 'agentdump.js');
const pairs = Number(process.env['AGENTDUMP_BENCH_PAIRS'] ?? 7);
const scratch = mkdtempSync(join(tmpdir(), 'agentdump-bench-ci-'));

interface Suite {
  name: string;
  cwd: string;
  command: string[];
}

const findMyWay = join(runners, 'find-my-way');
/** A mocha file with twenty tests per suite. */
function writeMochaFile(name: string, suitesInIt: number): string {
  const path = join(scratch, name);
  writeFileSync(
    path,
    `const assert = require('node:assert');
for (let s = 0; s < ${suitesInIt}; s++) describe('suite ' + s, () => {
  for (let t = 0; t < 20; t++) it('test ' + t, async () => {
    const data = JSON.parse(JSON.stringify(Array.from({ length: 300 }, (_, i) => ({ i, s: String(i) }))));
    await null;
    assert.deepStrictEqual(data.length, 300);
  });
});
`,
  );
  return path;
}
const mochaCommand = (path: string): string[] => [
  process.execPath,
  join(runners, 'mocha', 'bin', 'mocha.js'),
  '--reporter=dot',
  path,
];
const suites: Suite[] = [
  {
    name: 'find-my-way, node:test, a process a file',
    cwd: findMyWay,
    command: [
      process.execPath,
      '--test',
      '--test-concurrency=2',
      ...readdirSync(join(findMyWay, 'test'))
        .filter((name) => name.endsWith('.test.js'))
        .map((name) => join('test', name)),
    ],
  },
  {
    name: 'mocha, one process, 2,000 tests',
    cwd: scratch,
    command: mochaCommand(writeMochaFile('short.cjs', 100)),
  },
  {
    name: 'mocha, one process, 20,000 tests',
    cwd: scratch,
    command: mochaCommand(writeMochaFile('long.cjs', 1_000)),
  },
];

interface Cost {
  wallMs: number;
  cpuMs: number;
}

/** Processor time of the whole process tree, as bash's `times` reports it for its children. */
function measure({ cwd, command }: Suite, prefix: string[]): Cost {
  const startedMs = performance.now();
  const run = spawnSync(
    'bash',
    ['-c', '"$@" > /dev/null; code=$?; times >&2; exit $code', 'bash', ...prefix, ...command],
    {
      cwd,
      encoding: 'utf8',
    },
  );
  if (run.status !== 0) throw new Error(`${command.join(' ')}: ${run.stderr.slice(-500)}`);
  const wallMs = performance.now() - startedMs;
  const [user = 0, system = 0] = [
    ...(run.stderr.trim().split('\n').at(-1) ?? '').matchAll(/(\d+)m([\d.]+)s/g),
  ].map(([, minutes, seconds]) => Number(minutes) * 60_000 + Number(seconds) * 1_000);
  return { wallMs, cpuMs: user + system };
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Bounds of the median by order statistics: it lies between these ranks with 95 %. */
function boundsOf(values: number[]): [number, number] {
  const sorted = [...values].sort((a, b) => a - b);
  const reach = 0.98 * Math.sqrt(sorted.length);
  const low = Math.max(0, Math.floor((sorted.length - 1) / 2 - reach));
  return [sorted[low] ?? Number.NaN, sorted[sorted.length - 1 - low] ?? Number.NaN];
}

const percent = (ratio: number): string => `${ratio < 1 ? '' : '+'}${((ratio - 1) * 100).toFixed(1)} %`;

function describe(ratios: number[]): string {
  const [low, high] = boundsOf(ratios);
  return `${percent(median(ratios))} (${percent(low)} to ${percent(high)})`;
}

const variants: Record<string, string[]> = { 'agentdump ci': [], 'agentdump ci --locals': ['--locals'] };
const wanted = process.argv[2] ?? '';
for (const suite of suites)
  for (const [name, options] of Object.entries(variants)) {
    if (!`${suite.name}; ${name};`.includes(wanted)) continue;
    const prefix = [process.execPath, bin, 'ci', '--report', join(scratch, 'report'), ...options, '--'];
    const wall: number[] = [];
    const cpu: number[] = [];
    const bare: number[] = [];
    for (let pair = 0; pair < pairs; pair++) {
      // The order alternates from pair to pair.
      const order = pair % 2 ? [prefix, []] : [[], prefix];
      const costs = order.map((words) => ({ words, cost: measure(suite, words) }));
      const without = costs.find(({ words }) => words.length === 0)?.cost as Cost;
      const withUs = costs.find(({ words }) => words.length > 0)?.cost as Cost;
      wall.push(withUs.wallMs / without.wallMs);
      cpu.push(withUs.cpuMs / without.cpuMs);
      bare.push(without.wallMs);
    }
    console.log(
      `${suite.name}; ${name}: wall ${describe(wall)}, processor ${describe(cpu)}; bare ${median(bare).toFixed(0)} ms, ${pairs} pairs, Node ${process.version}`,
    );
  }
rmSync(scratch, { recursive: true, force: true });
