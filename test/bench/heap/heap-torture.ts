/**
 * Shapes that break naive analysis, at full size, each in its own process: parsing, dominators, retained sizes, distances,
 * classes, suspects, and the path to the last node. Prints time, memory, and whether the result is right. `npm run
 * bench:heap-torture`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { snapshotOf } from '../../support/synth/synth-large-heapsnapshot.ts';

const { openHeap } = (await import(
  new URL('../../../dist/analysis/memory/heap.js', import.meta.url).href
)) as typeof import('../../../src/analysis/memory/heap.ts');
const { pathText } = (await import(
  new URL('../../../dist/analysis/memory/questions/paths.js', import.meta.url).href
)) as typeof import('../../../src/analysis/memory/questions/paths.ts');
const { computeSuspects } = (await import(
  new URL('../../../dist/analysis/memory/suspects/suspects.js', import.meta.url).href
)) as typeof import('../../../src/analysis/memory/suspects/suspects.ts');

type Heap = Awaited<ReturnType<typeof openHeap>>;

interface Shape {
  make(): Buffer;
  /** The bytes that this node must retain, and whether everything else is as expected. */
  retained: [node: number, bytes: number];
  isRight?(heap: Heap): boolean;
}

const links = 2_000_000;
const depth = 100_000;
const leaves = 10_000_000;
const wide = 5 * 2 ** 30;

const shapes: Record<string, Shape> = {
  'a list of 2,000,000 links': {
    make: () => snapshotOf(links, (node) => (node < links - 1 ? [node + 1] : [])),
    retained: [1, 16 * (links - 1)],
    isRight: (heap) => heap.distances[links - 1] === links - 1,
  },
  'a tree 100,000 deep': {
    make: () =>
      snapshotOf(2 * depth, (node) => {
        if (node >= depth) return [Math.max(1, node - depth)];
        return node < depth - 1 ? [depth + node, node + 1] : [depth + node];
      }),
    retained: [0, 2 * depth * 16],
    isRight: (heap) => heap.tree.dominator[2 * depth - 1] === depth - 1,
  },
  'one node with 10,000,000 edges': {
    make: () =>
      snapshotOf(leaves / 4 + 2, (node) => {
        if (node === 0) return [1];
        return node === 1 ? Array.from({ length: leaves }, (_, at) => 2 + (at % (leaves / 4))) : [];
      }),
    retained: [1, 16 * (leaves / 4 + 1)],
  },
  'a string of 100 MB': {
    make: () => {
      const bytes = snapshotOf(3, (node) => (node < 2 ? [node + 1] : []), [
        '',
        'Link',
        'next',
        'SHORT',
        'after',
      ]);
      return Buffer.from(bytes.toString('latin1').replace('SHORT', 'x'.repeat(100_000_000)), 'latin1');
    },
    retained: [1, 32],
    isRight: ({ snapshot }) => snapshot.strings.get(4) === 'after',
  },
  'objects of 5 GiB, five of them': {
    make: () => {
      const bytes = snapshotOf(6, (node) => (node < 5 ? [node + 1] : []));
      return Buffer.from(bytes.toString('latin1').replace(/(3,1,\d+,)16,/g, `$1${wide},`), 'latin1');
    },
    retained: [1, 5 * wide],
  },
};

const [, , wanted, file] = process.argv;
if (wanted && file) await analyse(shapes[wanted]!, file);
else runAll();

async function analyse({ retained: [node, bytes], isRight }: Shape, path: string): Promise<void> {
  const from = performance.now();
  const heap = await openHeap(path);
  heap.aggregates.count[0];
  const coreMs = performance.now() - from;
  computeSuspects(heap);
  pathText(heap, heap.nodeCount - 1);
  const right = heap.retained[node] === bytes && (isRight?.(heap) ?? true);
  const { user, system } = process.cpuUsage();
  const peak = process.resourceUsage().maxRSS * 1024;
  console.log(
    JSON.stringify({ coreMs, allMs: performance.now() - from, cpuMs: (user + system) / 1000, peak, right }),
  );
}

function runAll(): void {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-bench-torture-'));
  console.log(`${process.version}${' '.repeat(24)} file MB   load s   all s   CPU s   peak MB   right`);
  try {
    for (const [name, shape] of Object.entries(shapes)) {
      const path = join(folder, 'shape.heapsnapshot');
      writeFileSync(path, shape.make());
      const words = ['--import', 'tsx', fileURLToPath(import.meta.url), name, path];
      const { stdout, stderr, status } = spawnSync(process.execPath, words, { encoding: 'utf8' });
      if (status !== 0) throw new Error(stderr);
      const { coreMs, allMs, cpuMs, peak, right } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
      const cells = [
        name.padEnd(32),
        (statSync(path).size / 1e6).toFixed(0).padStart(6),
        (coreMs / 1000).toFixed(2).padStart(8),
        (allMs / 1000).toFixed(2).padStart(7),
        (cpuMs / 1000).toFixed(2).padStart(7),
        (peak / 1e6).toFixed(0).padStart(9),
        right ? '    yes' : '     NO',
      ];
      console.log(cells.join(' '));
      if (!right) process.exitCode = 1;
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}
