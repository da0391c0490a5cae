/** The command line under a NODE_OPTIONS with the preload: it records the processes that it starts, and never itself. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { preload, temporaryFolder } from '../../support/victims/run-victim.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));

test('no bundle of ours is left, and none of our files is loaded: neither by its path nor by npm’s link', (t) => {
  const dir = temporaryFolder(t);
  const link = join(dir, 'agentdump');
  symlinkSync(agentdump, link);
  for (const script of [agentdump, link]) {
    const { status, stderr } = start(dir, [script, 'analyze', 'nothing-there'], { AGENTDUMP_EXITS: 'all' });
    assert.equal(status, 3);
    assert.match(stderr, /there is no bundle nothing-there/);
    assert.doesNotMatch(stderr, /exit:/);
  }
  assert.deepEqual(readdirSync(dir), ['agentdump']);
});

test('the program of `run` is recorded', (t) => {
  const dir = temporaryFolder(t);
  const words = ['run', '--', process.execPath, '-e', "throw new Error('x')"];
  assert.equal(start(dir, [agentdump, ...words]).status, 1);
  assert.equal(bundlesIn(dir).length, 1);
  assert.match(bundlesIn(dir)[0] ?? '', /uncaught-exception/);
});

test('a program that only has our name is recorded', (t) => {
  const dir = temporaryFolder(t);
  const { status } = start(dir, ['-e', "throw new Error('x')", 'agentdump']);
  assert.equal(status, 1);
  assert.equal(bundlesIn(dir).length, 1);
});

function start(dir: string, words: string[], more: Record<string, string> = {}) {
  return spawnSync(process.execPath, words, {
    cwd: dir,
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      HOME: dir,
      NODE_OPTIONS: `--require ${preload}`,
      AGENTDUMP_HEAP: 'off',
      ...more,
    },
  });
}

function bundlesIn(dir: string): string[] {
  return readdirSync(join(dir, '.agentdump')).filter((name) => name.endsWith('.agentdump'));
}
