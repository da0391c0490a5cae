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

test('a number below a name that may be a secret, and one that JSON has not, go through the redactor', () => {
  const odd = {
    ghp_abcdefghijklmnopqrstuvwxyz0123456789: 7,
    load: Number.NaN,
    loads: [1, Number.POSITIVE_INFINITY],
  };
  const sought = withoutFigures(odd);
  assert.deepEqual(sought, { ...odd, loads: [null, Number.POSITIVE_INFINITY] });
  assert.deepEqual(withFigures({ '[redacted]': 7, load: 'NaN', loads: [null, 'Infinity'] }, odd), {
    load: 'NaN',
    loads: [1, 'Infinity'],
    '[redacted]': 7,
  });
});

test('the mark of what was cut stays in a list of numbers', () => {
  assert.deepEqual(withFigures([null, '[further entries left out]'], [1, 2, 3]), [
    1,
    '[further entries left out]',
  ]);
});

test('__proto__ is a name like others, and what is no plain object is left to the redactor', () => {
  const own = JSON.parse('{"__proto__":{"n":1,"text":"x"},"z":2}');
  assert.equal(JSON.stringify(withoutFigures(own)), '{"__proto__":{"text":"x"}}');
  assert.equal(JSON.stringify(withFigures(withoutFigures(own), own)), JSON.stringify(own));
  const at = new Date(0);
  assert.equal((withoutFigures({ at }) as { at: Date }).at, at);
});
