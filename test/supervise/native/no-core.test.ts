/** A native death without a core from the kernel, with half of one, or with a core that stays: it is said, with advice that helps. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { noCores, nodes, victims } from '../../support/cores/core-victims.ts';
import { onlyWide } from '../../support/run/test-nodes.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'agentdump-no-core-'));
after(() => rmSync(root, { recursive: true }));
const isPlain =
  process.platform === 'linux' && /^core\s*$/.test(readFileSync('/proc/sys/kernel/core_pattern', 'utf8'));
const skip = noCores || (isPlain ? false : 'no core of the name core here');
/** With it the supervisor raises the soft limit to the hard one. */
const noRaise = spawnSync('prlimit', ['--version']).error ? 'no prlimit (util-linux)' : false;

/** Dies under `agentdump run`, with a shell's limits set before. */
function dieOf(signal: NodeJS.Signals, death: string, limits: string, ...options: string[]) {
  const cwd = mkdtempSync(join(root, 'dies-'));
  const dir = join(cwd, 'dumps');
  const program = [nodes[0]?.path ?? '', join(victims, 'deaths.cjs'), death];
  const words = [process.execPath, agentdump, 'run', '--dir', dir, ...options, '--', ...program];
  const run = spawnSync('sh', ['-c', `${limits} && exec "$0" "$@"`, ...words], { cwd, encoding: 'utf8' });
  assert.equal(run.signal, signal, run.stderr);
  const told = spawnSync(process.execPath, [agentdump, 'analyze', 'latest', '--dir', dir, '--json'], {
    encoding: 'utf8',
  });
  const { verdict, gaps } = JSON.parse(told.stdout);
  return {
    cwd,
    evidence: JSON.stringify(verdict.evidence),
    steps: verdict.nextSteps.join('\n'),
    gaps: JSON.stringify(gaps),
  };
}

const die = (limits: string, ...options: string[]) => dieOf('SIGSEGV', 'read-null', limits, ...options);

test('under a hard limit of 0: what raises it, and no word of --core', { skip }, () => {
  const { cwd, evidence, steps } = die('ulimit -c 0');
  assert.match(evidence, /There is no core: the hard limit on core files is 0\./);
  assert.match(steps, /hard limit on core files has to be raised from outside.*--hold/);
  assert.doesNotMatch(steps, /--core|run -- /);
  assert.deepEqual(readdirSync(cwd), ['dumps']);
});

test('an abort: the same, and no word of --hold, which holds no abort', { skip: skip || onlyWide }, () => {
  const { evidence, steps } = dieOf('SIGABRT', 'abort', 'ulimit -c 0', '--core');
  assert.match(evidence, /There is no core: the hard limit on core files is 0\./);
  assert.match(steps, /hard limit on core files has to be raised from outside/);
  assert.doesNotMatch(steps, /--core|run -- |--hold/);
});

test('with --no-core: that it was not wanted', { skip }, () => {
  const { cwd, evidence, steps } = die('ulimit -S -c 0', '--no-core');
  assert.deepEqual(readdirSync(cwd), ['dumps']);
  assert.doesNotMatch(evidence, /mini-core/);
  assert.match(evidence, /none was wanted \(--no-core\)/);
  assert.match(steps, /Without `--no-core`/);
});

test('under a hard limit that cuts the core off: a gap, though its mini core holds all that was there', {
  skip: skip || noRaise,
}, () => {
  const { evidence, gaps } = dieOf('SIGABRT', 'abort', 'ulimit -S -c 0 && ulimit -H -c 4000');
  assert.match(evidence, /mini-core\.gz/);
  assert.match(gaps, /the kernel's core: the file is cut off: \d+ bytes of memory that it names are missing/);
});

test('a core that would be there without us stays, and that is said', { skip }, () => {
  const { cwd, steps } = die('ulimit -S -c unlimited');
  const core = readdirSync(cwd).find((name) => name.startsWith('core'));
  assert.ok(core);
  assert.ok(
    steps.includes(`The kernel’s core is ${join(cwd, core)}: it holds the memory in the clear`),
    steps,
  );
});
