/**
 * The accuracy of the estimated cost of a heap snapshot, on heaps of different kinds, to half of which its constants were not
 * fitted: memory and CPU time of writing the part (V8, redactor, gzip) beside the estimates. `npm run bench:heap-estimate [--
 * --mb 20 --nodes 20,24]`. Each heap has its own process. Linux only, for the peak of its memory.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { fittedMakes } from './heap-estimate-makes.ts';

const here = dirname(fileURLToPath(import.meta.url));
const others = [
  'Maps of Maps',
  'private fields',
  'sparse arrays',
  'big strings',
  'ropes',
  'ArrayBuffers',
  'Sets and WeakMaps',
  'JSON trees',
  'compiled code',
  'symbols and accessors',
  'pending promises',
  'one cache by key',
  'dictionaries',
  'caches without a prototype',
  'short words of JSON',
  'tiny words of JSON',
  'a Map by string',
  'objects by number',
  'small WeakMaps',
  'many objects of few keys',
];
const { values } = parseArgs({
  options: {
    mb: { type: 'string', default: '12' },
    nodes: { type: 'string', default: '20,24,26' },
    only: { type: 'string' },
  },
});

const folder = mkdtempSync(join(tmpdir(), 'agentdump-bench-estimate-'));
const victim = join(folder, 'victim.cjs');
await build({
  entryPoints: [join(here, 'heap-estimate-victim.ts')],
  outfile: victim,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20.19',
});
try {
  for (const node of values.nodes.split(',')) measure(node);
} finally {
  rmSync(folder, { recursive: true });
}

function measure(node: string): void {
  const program = join(here, '..', '..', 'nodes', 'node_modules', `node-${node}`, 'bin', 'node');
  console.log(
    `\nNode ${node}             MB said   taken  said/taken   CPU s said   taken  said/taken   count s  names s  highest/taken  upper/taken`,
  );
  for (const make of values.only ? values.only.split(',') : [...fittedMakes, 'mixed', ...others]) {
    const out = execFileSync(program, [victim, make, values.mb], { encoding: 'utf8', timeout: 120_000 });
    const { saidMb, takenMb, saidMs, takenMs, countMs, namesMs, highestMb, upperMb } = JSON.parse(out);
    const cells = [
      make.padEnd(18),
      saidMb.toFixed(0).padStart(8),
      takenMb.toFixed(0).padStart(7),
      (saidMb / takenMb).toFixed(2).padStart(11),
      (saidMs / 1000).toFixed(2).padStart(12),
      (takenMs / 1000).toFixed(2).padStart(7),
      (saidMs / takenMs).toFixed(2).padStart(11),
      (countMs / 1000).toFixed(2).padStart(9),
      (namesMs / 1000).toFixed(2).padStart(8),
      (highestMb / takenMb).toFixed(2).padStart(14),
      (upperMb / takenMb).toFixed(1).padStart(12),
    ];
    console.log(cells.join(' '));
  }
}
