/** Numbers of Node's own go around the redactor, and everything else through it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withFigures, withoutFigures } from '../../../src/capture/fatal-path/own-figures.ts';

const data = {
  title: 'a secret',
  rss: 1234,
  heap: { used: 5, limit: 'unlimited', spaces: [{ name: 'old', bytes: 6 }, 7, 'text'] },
  none: null,
  isOn: true,
};

test('no number is given to the redactor, and every text is', () => {
  assert.deepEqual(withoutFigures(data), {
    title: 'a secret',
    heap: { limit: 'unlimited', spaces: [{ name: 'old' }, null, 'text'] },
    none: null,
    isOn: true,
  });
});

test('the numbers come back in their places, beside what was redacted', () => {
  const clean = withoutFigures(data) as { title: string; heap: { spaces: [{ name: string }] } };
  clean.title = '[redacted]';
  clean.heap.spaces[0].name = '[redacted]';
  const whole = withFigures(clean, data);
  assert.equal(
    JSON.stringify(whole),
    JSON.stringify({
      ...data,
      title: '[redacted]',
      heap: { ...data.heap, spaces: [{ name: '[redacted]', bytes: 6 }, 7, 'text'] },
    }),
  );
});

test('what the copy left out or renamed is not taken from the data', () => {
  assert.deepEqual(
    withFigures({ '[redacted]': 'x', '…': 'further entries left out' }, { 'sk-1': 'x', rest: 'y', n: 1 }),
    {
      n: 1,
      '[redacted]': 'x',
      '…': 'further entries left out',
    },
  );
  assert.equal(withFigures('[deeper levels left out]', { rest: 'y', n: 1 }), '[deeper levels left out]');
  assert.deepEqual(withFigures(['a', '[further entries left out]'], ['a', 'b', 'c']), [
    'a',
    '[further entries left out]',
  ]);
});
