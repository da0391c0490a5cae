/**
 * The cost of a death with the default settings: an uncaught throw at heaps of several sizes and shapes, without and with the
 * preload, in pairs, one table per Node. `npm run bench:death [-- --pairs 5 --sizes 10,120 --shapes objects,maps <node
 * binary> …]`. CPU and wall time are counted from the throw; the peak is VmHWM, which the kernel reports of a child as
 * ru_maxrss.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    pairs: { type: 'string', default: '5' },
    sizes: { type: 'string', default: '10,50,120,300,800' },
    shapes: { type: 'string', default: 'objects,strings,closures,maps' },
    /** The kind of death: by `throw`, or by a heap that is `full`. */
    heap: { type: 'string', default: '' },
  },
});
const preload = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'dist', 'register.cjs');
const nodes = positionals.length > 0 ? positionals : [process.execPath];
const pairs = Number(values.pairs);
const timeTool = '/usr/bin/time';
const targets = { ms: 250, mb: 64 };
const dir = mkdtempSync(join(tmpdir(), 'agentdump-bench-'));
process.on('exit', () => rmSync(dir, { recursive: true, force: true }));

/** Each fills `kept` with this many bytes, and prints at the throw how much time it has used. */
const victim = `
const [, , shape, megabytes] = process.argv;
const makes = {
  objects: (i) => ({ id: i, role: 'user', at: { x: i, y: i + 1 } }),
  strings: (i) => ('text of message number ' + i + ' and some words more').split('').join(''),
  closures: (i) => { const own = { i }; return () => own; },
  maps: (i) => new Map([[i, 'one'], ['key', i]]),
};
const make = makes[shape];
const kept = [];
const { getHeapStatistics } = require('node:v8');
const before = getHeapStatistics().used_heap_size;
// The last gigabyte of room is V8's own: what is garbage is not what was asked for.
for (let i = 0; getHeapStatistics().used_heap_size - before < megabytes * 1e6 || i % 20000 !== 0; ) {
  for (let n = 0; n < 1000; n++, i++) (kept[i >> 14] ??= []).push(make(i));
  if (i % 20000 === 0 && globalThis.gc) globalThis.gc();
}
globalThis.kept = kept;
setTimeout(() => {
  const { user, system } = process.cpuUsage();
  require('node:fs').writeSync(1, JSON.stringify({ usedMs: (user + system) / 1000, atMs: Date.now() }) + '\\n');
  throw new Error('dies');
}, 20);
`;

interface Death {
  cpuMs: number;
  wallMs: number;
  peakMb: number;
}

function die(node: string, file: string, shape: string, megabytes: number, isLoaded: boolean): Death {
  const dumps = join(dir, 'dumps');
  rmSync(dumps, { recursive: true, force: true });
  const figures = join(dir, 'figures');
  const flags = ['--max-old-space-size=6000', ...(isLoaded ? ['--require', preload] : [])];
  const heap = values.heap === '' ? {} : { AGENTDUMP_HEAP: values.heap };
  const result = spawnSync(
    timeTool,
    ['-q', '-f', '%U %S %M', '-o', figures, node, ...flags, file, shape, String(megabytes)],
    { encoding: 'utf8', env: { PATH: process.env['PATH'] ?? '', HOME: dir, AGENTDUMP_DIR: dumps, ...heap } },
  );
  const goneAtMs = Date.now();
  if (result.status !== 1 || !result.stdout.startsWith('{'))
    throw new Error(`it did not die as it should (${timeTool} is needed): ${result.error ?? result.stderr}`);
  if (isLoaded && readdirSync(dumps).every((name) => !name.endsWith('.agentdump')))
    throw new Error(`no sealed bundle: ${result.stderr}`);
  const { usedMs, atMs } = JSON.parse(result.stdout) as { usedMs: number; atMs: number };
  const [user = NaN, system = NaN, kilobytes = NaN] = readFileSync(figures, 'utf8')
    .trim()
    .split(' ')
    .map(Number);
  return { cpuMs: (user + system) * 1000 - usedMs, wallMs: goneAtMs - atMs, peakMb: kilobytes / 1024 };
}

const median = (all: number[]): number => all.sort((a, b) => a - b)[all.length >> 1] ?? Number.NaN;

function benchRow(node: string, file: string, shape: string, megabytes: number): boolean {
  const runs = Array.from({ length: pairs }, (_, at) => {
    // The order alternates, so that neither always finds the caches warm.
    const first = die(node, file, shape, megabytes, at % 2 === 1);
    const second = die(node, file, shape, megabytes, at % 2 === 0);
    return at % 2 === 1 ? { loaded: first, bare: second } : { loaded: second, bare: first };
  });
  const bare = (name: keyof Death): number => median(runs.map((run) => run.bare[name]));
  const more = (name: keyof Death): number => median(runs.map((run) => run.loaded[name] - run.bare[name]));
  const isWithin = more('wallMs') <= targets.ms && more('peakMb') <= targets.mb;
  const cells = (['wallMs', 'cpuMs', 'peakMb'] as const).flatMap((name) => [bare(name), more(name)]);
  console.log(
    `| ${shape} | ${megabytes} | ${cells.map((cell) => Math.round(cell)).join(' | ')} | ${isWithin ? 'yes' : 'NO'} |`,
  );
  return isWithin;
}

const file = join(dir, 'victim.cjs');
writeFileSync(file, victim);
let isWithin = true;
for (const node of nodes) {
  console.log(
    `\n${spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()}, AGENTDUMP_HEAP ${values.heap || 'not set'}, ` +
      `${pairs} pairs, medians; "more" is the difference of the pair (target: ${targets.ms} ms, ${targets.mb} MB)\n`,
  );
  console.log('| heap of | MB | wall ms | more | CPU ms | more | peak MB | more | within |');
  console.log('|---|---|---|---|---|---|---|---|---|');
  for (const shape of values.shapes.split(','))
    for (const megabytes of values.sizes.split(',').map(Number))
      isWithin = benchRow(node, file, shape, megabytes) && isWithin;
}
process.exitCode = isWithin ? 0 : 1;
