/**
 * Children of a test live and die as they do without us: one without a handler dies of SIGUSR2, which tests of process managers
 * send. An end that the test expected is not a problem of the run.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { problemsOf } from '../../src/report/ci/wording.ts';
import { testNodes } from '../support/run/test-nodes.ts';
import { runnerCommands, runUnderCi, suitesFolder } from '../support/runners/runner-matrix.ts';

const text = `import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
describe('children', () => {
  it('is told to reload', (_, done) => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 100); setTimeout(() => console.log("up"), 1500)']);
    child.stdout.once('data', () => child.kill('SIGUSR2'));
    child.on('exit', (_, signal) => done(signal === 'SIGUSR2' ? undefined : new Error(\`ended with \${signal}\`)));
    setTimeout(() => child.kill('SIGKILL'), 20_000).unref();
  });
  it('reports its status', () => {
    assert.equal(spawnSync(process.execPath, ['-e', 'process.exit(42)']).status, 42);
  });
  it('fails', () => {
    throw new Error('the total is wrong');
  });
});
`;

for (const { name, path } of testNodes)
  test(`${name}: children that end as their test expects`, async (context) => {
    const folder = suitesFolder(context);
    writeFileSync(join(folder, 'node-test.mjs'), text);
    const command = runnerCommands['node:test'];
    const { summary, output } = await runUnderCi({ folder, death: 'none', command, node: path });
    assert.ok(summary, output);
    assert.deepEqual(
      problemsOf(summary).map(({ test }) => test),
      ['children › fails'],
      output,
    );
  });
