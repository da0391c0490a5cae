/** The run's private folder is removed during the run, by some program that empties /dev/shm. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { onlyWide } from '../support/run/test-nodes.ts';
import { type Death, type MatrixRun, runUnderCi } from '../support/runners/runner-matrix.ts';

const takeAway = `require('node:fs').rmSync(process.env.AGENTDUMP_CI, { recursive: true });`;
const wait = `${takeAway}
require('node:fs').appendFileSync(process.env.AGENTDUMP_TEST_READY, 'ready');
setInterval(() => {}, 1000);`;

function runLost(context: TestContext, death: Death, main: string) {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-lost-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'main.cjs'), main);
  return runUnderCi({ folder, death, command: ['node', 'main.cjs'], env: { NODE_OPTIONS: '' } });
}

function check({ output, summary, code }: MatrixRun, expected: { code: number | null; kind: string }): void {
  assert.equal(code, expected.code, output);
  assert.doesNotMatch(output, /while The run/);
  assert.match(output, /^agentdump: the run's private folder \S+ was removed/m);
  assert.match(summary?.gaps?.join('\n') ?? '', /private folder/);
  assert.deepEqual(
    summary?.bundles.map(({ kind }) => kind),
    [expected.kind],
  );
}

test('a crash: the run ends as its command did, with its bundle, and says what is not known', async (context) => {
  const run = await runLost(
    context,
    'none',
    `${takeAway}
process.on('exit', () => { process.exitCode = 7; });
throw new Error('the disk is gone');`,
  );
  check(run, { code: 7, kind: 'uncaught-exception' });
});

test('a cancel: what waits is dumped and ended all the same', async (context) => {
  check(await runLost(context, 'cancel', wait), { code: null, kind: 'terminated' });
});

test('a hang: it is seen, dumped and ended all the same', { skip: onlyWide }, async (context) => {
  check(await runLost(context, 'hang', wait), { code: 124, kind: 'no-progress' });
});
