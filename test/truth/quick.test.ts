/** Some of the table's deaths, for `npm test`; all.wide.test.ts has every one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWideRun, sampleOf } from '../support/run/test-nodes.ts';
import { testTruth } from './check-truth.ts';
import { truths } from './truths.ts';

const quick = truths.filter((truth) => truth.quick);

test('the table names deaths for the quick run', () => {
  assert.ok(quick.length >= 20, `${quick.length} are not enough`);
});

for (const truth of isWideRun ? [] : sampleOf(quick, 3)) testTruth(truth);
