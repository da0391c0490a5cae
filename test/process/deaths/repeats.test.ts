/** A program that lives on and fails at every request: one bundle, and few lines on its standard error. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { nodesInTurn } from '../../support/run/test-nodes.ts';
import { bundlesIn, preload, temporaryFolder } from '../../support/victims/run-victim.ts';

const program = `
process.on('uncaughtException', () => {});
let left = 25;
const error = new Error('at every request');
const timer = setInterval(() => {
  if (--left === 0) clearInterval(timer);
  throw error;
}, 1);`;

for (const node of nodesInTurn)
  test(`${node.name}: the same handled error again and again`, (t) => {
    const dir = temporaryFolder(t);
    const dumps = join(dir, 'dumps');
    const { status, stderr } = spawnSync(node.path, ['--require', preload, '-e', program], {
      cwd: dir,
      encoding: 'utf8',
      env: { HOME: dir, AGENTDUMP_DIR: dumps },
    });
    assert.equal(status, 0, stderr);
    assert.equal(bundlesIn(dir).length, 1);
    const lines = stderr.trim().split('\n');
    assert.match(lines[0] ?? '', /^agentdump: uncaught-exception \(handled by the program\): /);
    assert.deepEqual(
      lines.slice(1).map((line) => /again, (\d+) in the last minute/.exec(line)?.[1]),
      ['1', '10'],
      stderr,
    );
  });

const differentFaults = `
process.on('unhandledRejection', () => {});
Promise.reject({ code: 'E_LIMIT', message: 'too many' });
setTimeout(() => Promise.reject({ code: 'E_LIMIT', message: 'too many' }), 50);
setTimeout(() => Promise.reject({ code: 'E_AUTH', message: 'who are you' }), 100);
setTimeout(() => Promise.reject({ status: 500 }), 150);`;

test('objects that say different things, and have no stack, are different faults', (t) => {
  const dir = temporaryFolder(t);
  const { status, stderr } = spawnSync(process.execPath, ['--require', preload, '-e', differentFaults], {
    cwd: dir,
    encoding: 'utf8',
    env: { HOME: dir, AGENTDUMP_DIR: join(dir, 'dumps') },
  });
  assert.equal(status, 0, stderr);
  assert.equal(bundlesIn(dir).length, 3, stderr);
});
