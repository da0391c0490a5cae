/** The classes of a heap whose sizes were not computed: unknown values have no column, and an estimate is marked as one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderText } from '../../src/report/text.ts';
import { synthAccount } from '../support/synth/synth-account.ts';

const memoryOf = (memory: object): string => {
  const text = renderText({ ...synthAccount(), memory }, { columns: 100 });
  return /^Memory\n([\s\S]*?)\n\n/m.exec(text)?.[1] ?? '';
};

test('counts without sizes have no columns for them, and those of a sample say how many objects they are from', () => {
  const classes = [{ name: 'Session', count: 2_932 }];
  assert.equal(
    memoryOf({ classes, sample: { lookedAt: 2_118, reason: 'only what was reached from the modules' } }),
    '  class    objects\n  Session  2,932\n  Estimated from 2,118 objects: only what was reached from the modules.',
  );
  const sizes = { selfSizeBytes: 1_024, retainedSizeBytes: 4_096 };
  assert.equal(
    memoryOf({ classes: [{ ...classes[0], ...sizes }] }),
    '  class    objects  self   retained\n  Session  2,932    1 KiB  4 KiB',
  );
});
