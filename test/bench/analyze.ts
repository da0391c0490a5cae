/**
 * The time of `agentdump analyze` from shell to prompt, alternating with a bare `node -e 0`; the target is 300 ms for a
 * bundle without a heap. Prints medians, their ratio, and the share of each format. `npm run bench:analyze`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { synthParts, writeBundle } from '../support/synth/synth-analysis-bundle.ts';

const bin = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'bin', 'agentdump.js');
const runs = Number(process.argv[2] ?? 21);
const targetMs = 300;

const dir = mkdtempSync(join(tmpdir(), 'agentdump-bench-'));
const bundle = join(dir, '20261121T030405.678Z-agent-uncaught-exception-00112233.agentdump');
writeBundle(bundle, bigParts());

const commands: Record<string, string[]> = {
  'node -e 0': ['-e', '0'],
  'agentdump --version': [bin, '--version'],
  'agentdump analyze': [bin, 'analyze', bundle],
  'agentdump analyze --json': [bin, 'analyze', bundle, '--json'],
  'agentdump analyze --markdown': [bin, 'analyze', bundle, '--markdown'],
};
const times: Record<string, number[]> = {};
for (let run = 0; run <= runs; run++)
  for (const [name, words] of Object.entries(commands)) {
    const from = performance.now();
    const { status, stderr } = spawnSync(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    if (status !== 0 && status !== 1) throw new Error(`${name} ended with ${status}: ${stderr}`);
    // The first round warms the file cache.
    if (run > 0) times[name] = [...(times[name] ?? []), performance.now() - from];
  }
rmSync(dir, { recursive: true, force: true });

const median = (list: number[] = []) =>
  [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN;
const bare = median(times['node -e 0']);
for (const name of Object.keys(commands)) {
  const ms = median(times[name]);
  console.log(`${name.padEnd(30)} ${ms.toFixed(0).padStart(5)} ms   ${(ms / bare).toFixed(2)} × node -e 0`);
}
const analyze = median(times['agentdump analyze']);
console.log(
  `target ${targetMs} ms: ${analyze <= targetMs ? 'met' : 'MISSED'} (${process.version}, ${runs} runs)`,
);

/** As many scripts, packages, objects and descriptors as a real agent has. */
function bigParts() {
  const scripts = Array.from({ length: 400 }, (_, i) => ({
    scriptId: String(i),
    url: `file:///srv/agent/node_modules/p${i % 90}/lib/${i}.js`,
    hash: 'ab'.repeat(32),
    isModule: true,
    lengthChars: 12_000,
  }));
  const packages = Array.from({ length: 90 }, (_, i) => ({
    name: `p${i}`,
    version: `1.${i}.0`,
    path: `/srv/agent/node_modules/p${i}`,
    scripts: 4,
  }));
  const { 'scripts.json': own } = synthParts() as { 'scripts.json': { scripts: object[] } };
  return synthParts({
    'scripts.json': { scripts: [...own.scripts, ...scripts] },
    'packages.json': { packages },
    'handles.json': {
      resources: { TCPSocketWrap: 40, Timeout: 12 },
      descriptors: Array.from({ length: 120 }, (_, fd) => ({ fd, kind: 'socket', target: `socket:[${fd}]` })),
      descriptorCount: 120,
      sockets: [],
      timers: [],
      children: [],
    },
  });
}
