/**
 * What dies on purpose in a green run is not reported: its bundles are removed and nothing is printed, because tests compare
 * what programs print.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { onlyWide } from '../../support/run/test-nodes.ts';
import { runUnderCi } from '../../support/runners/runner-matrix.ts';

const dies = `import { spawnSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';
const worker = new Worker('throw new Error("on purpose")', { eval: true });
await new Promise((done) => worker.once('error', done));
const { stderr } = spawnSync(process.execPath, ['-e', 'throw new Error("of a child")'], { encoding: 'utf8' });
console.log(stderr.split('\\n').filter((line) => line.startsWith('agentdump')).length, 'lines');
for (let turn = 0; turn < 12; turn++) process.emit('uncaughtException', new Error('handled'));
`;

function run(context: TestContext, end: string) {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-quiet-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'main.mjs'), `process.on('uncaughtException', () => {});\n${dies}${end}`);
  return runUnderCi({ folder, death: 'none', command: ['node', 'main.mjs'], env: { NODE_OPTIONS: '' } });
}

test('a green run prints what the program prints', async (context) => {
  const { code, output, report } = await run(context, '');
  assert.equal(output, '0 lines\n');
  assert.equal(code, 0);
  assert.equal(existsSync(report), false);
});

test('in a red run the report tells of them', { skip: onlyWide }, async (context) => {
  const { code, output, summary } = await run(context, 'process.exitCode = 3;');
  assert.equal(code, 3, output);
  assert.doesNotMatch(output, /read it with/);
  assert.ok(
    summary?.bundles.some(({ kind }) => kind === 'worker-death'),
    output,
  );
});
