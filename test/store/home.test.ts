/** Which stacks count as the same stack in more or less detail. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minifiedPart } from '../../src/analysis/signature-frames.ts';
import { isSameStack } from '../../src/store/grouping/home.ts';

const stack = (...frames: string[]): string[] => ['error:Error', ...frames.map((frame) => `frame:${frame}`)];
const pay = stack('check@check.js', 'pay@pay.js', 'run@run.js');

const cases: [title: string, a: string[], b: string[], isSame: boolean][] = [
  ['itself', pay, pay, true],
  ['callers are missing', stack('check@check.js'), pay, true],
  ['a caller more', stack('check@check.js', 'pay@pay.js', 'run@run.js', 'start@main.js'), pay, true],
  ['one put into another by a minifier', stack('pay@pay.js', 'run@run.js'), pay, true],
  ['without a name, in a file of it', stack('(anonymous)@pay.js'), pay, true],
  ['without a name, in another file', stack('(anonymous)@other.js'), pay, false],
  ['another caller of the same helper', stack('check@check.js', 'refund@refund.js'), pay, false],
  ['in another order', stack('pay@pay.js', 'check@check.js'), pay, false],
  ['all names are lost', ['error:Error', minifiedPart], pay, true],
  ['all in the file of a bundle', stack('check@(main)', 'pay@(main)'), pay, true],
  ['another caller in the file of a bundle', stack('check@(main)', 'refund@(main)'), pay, false],
  ['put into its caller by a minifier', stack('pay@check.js'), pay, true],
  ['another one put into a caller of that name', stack('pay@other.js'), pay, false],
  ['exits without names', ['exit:3', minifiedPart], ['exit:3', 'frame:check@check.js'], false],
  ['no stack at all', ['error:Error'], pay, false],
];

for (const [title, a, b, isSame] of cases)
  test(title, () => {
    assert.equal(isSameStack(a, b), isSame);
    assert.equal(isSameStack(b, a), isSame, 'the other way round');
  });
