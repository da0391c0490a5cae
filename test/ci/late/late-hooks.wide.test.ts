/**
 * What a hook leaves behind is never blamed on a test: a sample of `npm run trial:late`, whose suites record the expected
 * answer themselves.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lateCases } from '../../runners/late-cases.ts';
import { tryOne, type Verdict } from '../../runners/late-trial.ts';
import { canRun } from '../../support/runners/runner-matrix.ts';

const cases: Record<string, Verdict> = {
  'jest, a hook before each': 'right',
  'mocha, a hook after each': 'right',
  'ava, a hook after each': 'right',
  'vitest, a hook after all': 'unknown',
  'playwright, a hook before all': 'unknown',
};

for (const [name, expected] of Object.entries(cases))
  test(name, { skip: canRun() }, async () => {
    const found = lateCases.find((one) => one.name === name);
    assert.ok(found);
    const { verdict, told } = await tryOne(found, process.execPath);
    assert.equal(verdict, expected, told);
  });
