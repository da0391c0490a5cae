/**
 * Inputs of fixtures/hostile (all in the wide run, else a sample) through `agentdump analyze`: exit code 1 or 3 and never 4,
 * within five seconds of processor time and 512 MB, and nothing on the streams that could harm a terminal or a CI runner or
 * reveal a secret.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { type HostileInput, hostileInputs } from '../../support/hostile/synth-bundle-hostile.ts';
import { partInTurn, sampleOf } from '../../support/run/test-nodes.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const folder = join(root, 'fixtures', 'hostile');
const all = hostileInputs().filter(({ command }) => command === undefined);
const inputs = partInTurn(sampleOf(all, 32), 3);
const formats = [...new Set(inputs.map((input) => input.path.split('/')[0] ?? ''))];

interface Run {
  path: string;
  form: 'text' | 'json';
  exit: number;
  out: string;
  err: string;
  cpuMs: number;
  rssMb: number;
}

/** Analyzes all inputs of a format in one process, so that an input that corrupts its state shows in the next. */
async function analyzeAll(chosen: HostileInput[]): Promise<Run[]> {
  const program = join(import.meta.dirname, 'analyze-many.mjs');
  const child = spawn(process.execPath, [program], { cwd: root, env: { ...process.env, NO_COLOR: '1' } });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  child.stderr.pipe(process.stderr);
  child.stdin.end(chosen.map((input) => join(folder, input.path)).join('\n'));
  const timer = setTimeout(() => child.kill('SIGKILL'), 60_000 * chosen.length);
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  const lines = text.trim().split('\n');
  assert.equal(code, 0, `ended within ${lines.at(-1)?.slice(0, 300)}`);
  return lines.map((line) => JSON.parse(line) as Run).filter((run) => run.form !== undefined);
}

function checkRun(run: Run, input: HostileInput): void {
  const what = `${input.path} as ${run.form}`;
  const said = run.out + run.err;
  assert.equal(run.exit, input.exit, `${what}: ${run.err}`);
  if (input.says) assert.match(said, input.says, what);
  if (run.exit === 3) assert.match(run.err, /^agentdump: .+\n/, what);
  assert.ok(run.cpuMs < 5000, `${what} took ${run.cpuMs} ms of the processor`);
  assert.ok(run.rssMb < 512, `${what} took ${run.rssMb} MB`);
  assert.doesNotMatch(said, /root:x:0:0/, what);
  assert.doesNotMatch(
    said,
    /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/,
    `${what}: a control character`,
  );
  assert.doesNotMatch(said, /^\s*(?:::|##\[)|##\[command/m, `${what}: a workflow command`);
  if (run.form === 'json' && run.exit === 1) assert.equal(JSON.parse(run.out).schema, 'agentdump.analysis/1');
}

for (const half of [0, 1])
  test(`analyze, on half ${half + 1} of the formats`, { concurrency: true }, async (t) => {
    for (const format of formats.filter((_, i) => i % 2 === half))
      await t.test(format, async () => {
        const chosen = inputs.filter((input) => input.path.startsWith(`${format}/`));
        const runs = await analyzeAll(chosen);
        assert.equal(runs.length, chosen.length * 2);
        for (const [i, run] of runs.entries()) checkRun(run, chosen[i >> 1]!);
      });
  });

test('the command itself ends with the same codes', () => {
  for (const exit of [1, 3]) {
    const input = all.find((candidate) => candidate.exit === exit)!;
    const run = spawnSync(process.execPath, [
      join(root, 'bin', 'agentdump.js'),
      'analyze',
      join(folder, input.path),
    ]);
    assert.equal(run.status, exit);
  }
});
