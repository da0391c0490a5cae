/**
 * Heap snapshots: ours beside JSON.parse, heapsnapshot-parser, DevTools' own code and memlab, each in its own process, in
 * turns, in one run. `npm run bench:heap [-- --sizes S,M,L] [--runs 3]`. L has 1.1 GB and is written first (5 GB of memory).
 * Peers that are not installed are omitted: npm ci --prefix test/oracles; npm ci --prefix test/bench/peers.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const scales: Record<string, number> = { S: 1, M: 10, L: 88, XL: 270 };
/** Tools that are too slow at M to be run at L. */
const notForLarge = new Set(['JSON.parse', 'heapsnapshot-parser']);
const { values } = parseArgs({
  options: { sizes: { type: 'string', default: 'S,M' }, runs: { type: 'string', default: '3' } },
});
const folder = join(tmpdir(), 'agentdump-bench-heap');
const writer = join(here, '..', '..', 'nodes', 'node_modules', 'node-24', 'bin', 'node');

interface Sample {
  wallMs: number;
  cpuMs: number;
  peakBytes: number;
}

const tools = [
  'parse 1 thread',
  'parse 2 threads',
  'core 1 thread',
  'core 2 threads',
  'everything 1 thread',
  'everything 2 threads',
  'JSON.parse',
  'heapsnapshot-parser',
  'DevTools 1 thread',
  'DevTools 2 threads',
  'memlab',
].filter((tool) => {
  if (tool.startsWith('DevTools') || tool.startsWith('heapsnapshot'))
    return existsSync(join(here, '..', '..', 'oracles', 'node_modules'));
  return tool !== 'memlab' || existsSync(join(here, '..', 'peers', 'node_modules'));
});

for (const size of values.sizes.split(',')) measure(size);

function measure(size: string): void {
  const file = snapshotOf(size);
  const bytes = statSync(file).size;
  const samples = new Map<string, Sample[]>();
  for (let run = 0; run < Number(values.runs); run++)
    for (const tool of tools) {
      if (size.includes('L') && notForLarge.has(tool)) continue;
      const sample = runTool(tool, file);
      if (sample) samples.set(tool, [...(samples.get(tool) ?? []), sample]);
    }
  const load = loadavg()[0]?.toFixed(1);
  console.log(
    `\n${size}: ${(bytes / 1e6).toFixed(0)} MB, ${process.version}, ${values.runs} runs, load ${load}`,
  );
  console.log(
    '                          wall s    CPU s   peak/file   core 2 threads is faster by (wall, CPU)',
  );
  const own = median(samples.get('core 2 threads') ?? []);
  for (const [tool, list] of samples) print(tool, median(list), own, bytes);
  printGzip(file);
  if (size === 'S') printShell(file);
}

/** From shell to prompt: a whole command, Node's own start and a bare JSON.parse, in turns. */
function printShell(file: string): void {
  const bin = join(here, '..', '..', '..', 'bin', 'agentdump.js');
  const parse = `JSON.parse(require('node:fs').readFileSync(${JSON.stringify(file)}, 'utf8'))`;
  const lines: Record<string, string[]> = {
    'node -e 0': ['-e', '0'],
    'node, JSON.parse': ['-e', parse],
    'heap summary': [bin, 'heap', 'summary', file],
    'heap classes': [bin, 'heap', 'classes', file],
    'heap suspects': [bin, 'heap', 'suspects', file],
  };
  // Node 20 reads extra certificates at each start.
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: undefined };
  const times = new Map<string, number[]>();
  for (let run = 0; run < 2 * Number(values.runs) + 1; run++)
    for (const [name, words] of Object.entries(lines)) {
      const from = performance.now();
      spawnSync(process.execPath, words, { stdio: 'ignore', env });
      times.set(name, [...(times.get(name) ?? []), performance.now() - from]);
    }
  const [bare, json] = ['node -e 0', 'node, JSON.parse'].map((name) => middleOf(times.get(name)!)) as [
    number,
    number,
  ];
  console.log('\nshell to prompt              ms   x node -e 0   x JSON.parse');
  for (const [name, list] of times) {
    const ms = middleOf(list);
    console.log(
      `${name.padEnd(24)} ${ms.toFixed(0).padStart(6)} ${(ms / bare).toFixed(1).padStart(13)} ${(ms / json).toFixed(1).padStart(14)}`,
    );
  }
}

function print(tool: string, { wallMs, cpuMs, peakBytes }: Sample, own: Sample, bytes: number): void {
  const cells = [
    tool.padEnd(24),
    (wallMs / 1000).toFixed(2).padStart(8),
    (cpuMs / 1000).toFixed(2).padStart(8),
    `${(peakBytes / bytes).toFixed(2)} x`.padStart(11),
    `${(wallMs / own.wallMs).toFixed(1)} x`.padStart(12),
    `${(cpuMs / own.cpuMs).toFixed(1)} x`.padStart(8),
  ];
  console.log(cells.join(' '));
}

/** A compressed snapshot, compared with the time in which gzip alone unpacks it, in turns. */
function printGzip(file: string): void {
  const packed = `${file}.gz`;
  if (!existsSync(packed)) spawnSync('sh', ['-c', `gzip -1 -c "${file}" > "${packed}"`]);
  const alone: number[] = [];
  const own: number[] = [];
  for (let run = 0; run < Number(values.runs); run++) {
    const from = performance.now();
    spawnSync('sh', ['-c', `gzip -dc "${packed}" > /dev/null`]);
    alone.push(performance.now() - from);
    own.push(runTool('parse 1 thread', packed)?.wallMs ?? Number.NaN);
  }
  const [ours, gzips] = [middleOf(own), middleOf(alone)];
  console.log(
    `parse of the .gz ${(ours / 1000).toFixed(2)} s, gzip -dc alone ${(gzips / 1000).toFixed(2)} s: ${(ours / gzips).toFixed(2)} x`,
  );
}

function median(samples: Sample[]): Sample {
  const middle = (key: keyof Sample): number => middleOf(samples.map((sample) => sample[key]));
  return { wallMs: middle('wallMs'), cpuMs: middle('cpuMs'), peakBytes: middle('peakBytes') };
}

function runTool(tool: string, file: string): Sample | undefined {
  const words = ['--max-old-space-size=16000', join(here, 'heap-tool.mjs'), tool, file];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    encoding: 'utf8',
    timeout: 600_000,
  });
  if (status === 0) return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  console.log(`${tool} failed on ${file}: ${stderr.trim().split('\n').slice(-3).join(' ').slice(0, 200)}`);
  return undefined;
}

function snapshotOf(size: string): string {
  const file = join(folder, `${size}.heapsnapshot`);
  if (existsSync(file)) return file;
  mkdirSync(folder, { recursive: true });
  const words = ['--max-old-space-size=20000', join(here, 'heap-generator.mjs'), file, String(scales[size])];
  const { status } = spawnSync(writer, words, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`the snapshot ${size} could not be written`);
  return file;
}

function middleOf(numbers: number[]): number {
  return numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
