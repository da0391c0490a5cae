/**
 * Heaps of eight shapes: our core (parse, dominators, retained sizes) beside DevTools' own code on the same file, and what
 * `suspects` and the comparison of two snapshots cost over that core. Prints the worst ratio of each at the end. CPU time, since
 * the machine may have other work; each tool in its own process. `npm run bench:heap-shapes [-- --scale 10] [--only lists]`:
 * scale 10 makes files of 20 to 75 MB. DevTools is left out where it is not installed: npm ci --prefix test/oracles.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { scale: { type: 'string', default: '10' }, only: { type: 'string', default: '' } },
});
const local = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const shapes = ['wide', 'lists', 'maps', 'arrays', 'strings', 'classes', 'closures', 'tree'];
/** At least so many times faster than DevTools; at most so many times the core, and the size of the file. */
const goals = { devTools: 9, suspects: 1.5, diff: 2.5, peak: 0.9, peakOfRules: 1 };
const hasDevTools = existsSync(local('../../oracles/node_modules/chrome-devtools-frontend'));

interface Sample {
  cpuMs: number;
  peakBytes: number;
}

const worst = { devTools: Number.POSITIVE_INFINITY, suspects: 0, diff: 0, peak: 0, peakOfRules: 0 };
const folder = mkdtempSync(join(tmpdir(), 'agentdump-bench-shapes-'));
const [first, second] = ['a', 'b'].map((name) => join(folder, `${name}.heapsnapshot`)) as [string, string];

try {
  console.log(`${process.version}, scale ${values.scale}, CPU time, load ${loadavg()[0]?.toFixed(1)}\n`);
  console.log(
    'shape      file MB   core s   peak/file   DevTools / core   suspects / core (peak)   diff / core (peak)',
  );
  for (const shape of shapes.filter((name) => name.includes(values.only))) measure(shape);
  const { devTools, suspects, diff, peak, peakOfRules } = worst;
  const faster = hasDevTools ? `${devTools.toFixed(1)} x DevTools (goal ${goals.devTools}), ` : '';
  console.log(
    `\nworst: ${faster}peak ${peak.toFixed(2)} (${goals.peak}), suspects ${suspects.toFixed(2)} (${goals.suspects}), diff ${diff.toFixed(2)} (${goals.diff}), peak of these ${peakOfRules.toFixed(2)} (${goals.peakOfRules})`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function measure(shape: string): void {
  const maker = ['--max-old-space-size=20000', local('heap-shapes-maker.mjs'), shape, values.scale];
  const { status, stderr } = spawnSync(process.execPath, [...maker, first, second], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${shape}: ${stderr.slice(-500)}`);
  const bytes = statSync(second).size;
  const core = run('core 1 thread', second);
  const devTools = hasDevTools ? run('DevTools 1 thread', second) : undefined;
  const suspects = run('suspects', second);
  const diff = run('diff', first, second);
  const ratio = (sample: Sample | undefined): number => (sample ? sample.cpuMs / core.cpuMs : Number.NaN);
  if (devTools) worst.devTools = Math.min(worst.devTools, ratio(devTools));
  worst.suspects = Math.max(worst.suspects, ratio(suspects));
  worst.diff = Math.max(worst.diff, ratio(diff));
  worst.peak = Math.max(worst.peak, core.peakBytes / bytes);
  worst.peakOfRules = Math.max(worst.peakOfRules, suspects.peakBytes / bytes, diff.peakBytes / bytes);
  const withPeak = (sample: Sample): string =>
    `${ratio(sample).toFixed(2)} (${(sample.peakBytes / bytes).toFixed(2)})`;
  const cells = [
    shape.padEnd(10),
    (bytes / 1e6).toFixed(0).padStart(7),
    (core.cpuMs / 1000).toFixed(2).padStart(8),
    (core.peakBytes / bytes).toFixed(2).padStart(11),
    (devTools ? ratio(devTools).toFixed(1) : '-').padStart(17),
    withPeak(suspects).padStart(24),
    withPeak(diff).padStart(20),
  ];
  console.log(cells.join(' '));
}

function run(tool: string, ...files: string[]): Sample {
  const words = ['--max-old-space-size=16000', local('heap-tool.mjs'), tool, ...files];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${tool}: ${stderr.slice(-500)}`);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}
