/** When colour is used. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wantsColour } from '../../src/cli/output/output.ts';

const cases: [boolean, Record<string, string>, boolean][] = [
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: '1' }, false],
  [true, { NO_COLOR: '' }, true],
  [true, { TERM: 'dumb' }, false],
  [false, { FORCE_COLOR: '1' }, true],
  [false, { FORCE_COLOR: '' }, true],
  [true, { FORCE_COLOR: '0' }, false],
  [true, { FORCE_COLOR: 'false' }, false],
  [true, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
];
for (const [isTerminal, environment, wanted] of cases)
  test(`${isTerminal ? 'terminal' : 'pipe'} ${JSON.stringify(environment)}`, () =>
    assert.equal(wantsColour({ isTerminal, environment }), wanted));
