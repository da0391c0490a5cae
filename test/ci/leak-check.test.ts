/** `--leak-check` on runners of one process: who holds what a suite leaks, and a suite that leaks nothing. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { runLeaky, testLeak } from '../support/leaky-suites.ts';
import { canRun } from '../support/runner-matrix.ts';

testLeak('node:test', 'array');
testLeak('mocha', 'map');

test('mocha: nothing', { skip: canRun() }, async (context) => {
  const { code, report, output } = await runLeaky(context, 'mocha', 'nothing');
  assert.equal(code, 0, output);
  assert.equal(existsSync(report), false, 'a green run leaves nothing');
});
