/** `--leak-check` on ava, which starts all tests of a file at once and ends them together. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { runLeaky, testLeak } from '../support/leaky-suites.ts';
import { canRun } from '../support/runner-matrix.ts';

testLeak('ava', 'map');

test('ava: each test holds much until the last has ended, and nothing is kept', {
  skip: canRun(),
}, async (context) => {
  const { code, report, output } = await runLeaky(context, 'ava', 'held for a moment');
  assert.equal(code, 0, output);
  assert.equal(existsSync(report), false, 'a green run leaves nothing');
});
