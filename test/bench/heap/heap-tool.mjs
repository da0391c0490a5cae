/**
 * One tool over one snapshot (or two), in a process of its own: `heap-tool.mjs <tool> <file> [<later file>]`. Prints a line of JSON: wall time and
 * CPU time of the work in milliseconds (the tool's own loading aside), and the process's peak memory. Plain JavaScript, so
 * that no loader of TypeScript is in the memory that is measured.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compareHeaps } from '../../../dist/analysis/memory/growth/compare-heaps.js';
import { openHeap } from '../../../dist/analysis/memory/heap.js';
import { computeSuspects } from '../../../dist/analysis/memory/suspects/suspects.js';
import { readHeapSnapshot } from '../../../dist/formats/heapsnapshot/index.js';

const require = createRequire(import.meta.url);

/** Parse, dominators, retained sizes as DevTools has them. */
async function core(file, threads) {
  const heap = await openHeap(file, { threads });
  if (threads > 1) await heap.prepare(['ownerOfPart']);
  heap.retained[heap.root];
}

/** And what DevTools shows after a load: distances, classes and their sums, locations. */
async function everything(file, threads) {
  const heap = await openHeap(file, { threads });
  if (threads > 1) await heap.prepare();
  heap.retained[heap.root];
  heap.distances[heap.root];
  heap.aggregates.count[0];
}

async function suspects(file) {
  computeSuspects(await openHeap(file));
}

/** One graph at a time, as the command does it. */
async function diff(...files) {
  const open = async (at) => ({ heap: await openHeap(files[at]), close() {} });
  await compareHeaps({ count: files.length, limit: 30, open, opensAgain: true });
}

/** A peer is loaded before its time begins. */
async function loadPeer(name) {
  if (name === 'memlab') return require('../peers/node_modules/@memlab/heap-analysis');
  if (name === 'heapsnapshot-parser') return require('../../oracles/node_modules/heapsnapshot-parser');
  if (!name.startsWith('DevTools')) return undefined;
  const { tsImport } = await import('tsx/esm/api');
  const peer = await tsImport('../../oracles/devtools.ts', import.meta.url);
  await peer.devTools();
  return peer;
}

async function devTools(file, threads) {
  const snapshot = await peer.loadWithDevTools(file, threads);
  snapshot.aggregatesWithFilter({});
}

async function memlab(file) {
  const { getFullHeapFromFile } = peer;
  const heap = await getFullHeapFromFile(file);
  if (!(heap.nodes.get(0).retainedSize > 0)) throw new Error('no retained size');
}

const tools = {
  'parse 1 thread': (file) => readHeapSnapshot(file),
  'parse 2 threads': (file) => readHeapSnapshot(file, { threads: 2 }),
  'core 1 thread': (file) => core(file, 1),
  'core 2 threads': (file) => core(file, 2),
  'everything 1 thread': (file) => everything(file, 1),
  'everything 2 threads': (file) => everything(file, 2),
  suspects,
  diff,
  'JSON.parse': (file) => JSON.parse(readFileSync(file, 'utf8')),
  'heapsnapshot-parser': (file) => peer.parse(readFileSync(file, 'utf8')),
  'DevTools 1 thread': (file) => devTools(file, 1),
  'DevTools 2 threads': (file) => devTools(file, 2),
  memlab,
};

const [name = '', ...files] = process.argv.slice(2);
const peer = await loadPeer(name);
const startedAt = performance.now();
const cpuBefore = process.cpuUsage();
await tools[name]?.(...files);
const cpu = process.cpuUsage(cpuBefore);
console.log(
  JSON.stringify({
    wallMs: performance.now() - startedAt,
    cpuMs: (cpu.user + cpu.system) / 1000,
    peakBytes: process.resourceUsage().maxRSS * 1024,
  }),
);
process.exit(0);
