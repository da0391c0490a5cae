/** What masks hide, and what they keep. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Mask, masking, maskValue } from '../../../src/agent/calls/masks.ts';

const masked = (text: string, ...masks: Mask[]) => masking(masks)(text);

test('times are masked in the forms that programs print, and other numbers are not', () => {
  for (const time of [
    '2026-11-26T10:00:00.123Z',
    '2026-11-26 10:00:00',
    '2026-11-26T10:00+01:00',
    new Date(0).toISOString(),
    new Date(1e12).toUTCString(),
    String(Date.now()),
  ])
    assert.equal(masked(`at ${time}, then`, 'time'), 'at [masked], then');
  for (const other of ['2026-11-26', '11:45', '12345', '1.1234567890123', '91234567890123'])
    assert.equal(masked(`at ${other}, then`, 'time'), `at ${other}, then`);
});

test('random ids are masked, and words are not', () => {
  for (const id of [
    crypto.randomUUID(),
    '01ARZ3NDEKTSV4RRFFQ69G5FAV',
    '9aee42eeadad3e99',
    'A'.repeat(15) + 7,
  ])
    assert.equal(masked(`order ${id}.`, 'id'), 'order [masked].');
  for (const other of ['deadbeef', 'facadefacadefacade', 'order-17', '1234'])
    assert.equal(masked(`order ${other}.`, 'id'), `order ${other}.`);
});

test('a pattern masks its groups, or all that it matches', () => {
  assert.equal(masked('attempt 3 of 5', '/attempt (\\d+) of (\\d+)/'), 'attempt [masked] of [masked]');
  assert.equal(masked('Attempt 3 of 5', /attempt \d+/iy), '[masked] of 5');
  assert.equal(masked('a12b34', '/(?:a(\\d+))?b((\\d)\\d)/'), 'a[masked]b[masked]');
  assert.equal(masked('abc', '/x*/'), 'abc');
});

test('strings and numbers of a value are masked, keys are not', () => {
  const mask = masking(['time', '/^n-\\d+$/']);
  assert.deepEqual(maskValue({ 'n-1': ['n-2', 7, null, { at: 1_700_000_000_000 }], ok: true }, mask), {
    'n-1': ['[masked]', 7, null, { at: '[masked]' }],
    ok: true,
  });
});

test('a mask that is not valid is an error of usage', () => {
  for (const mask of ['times', 'toString', '/(/', '//'])
    assert.throws(() => masking([mask as Mask]), { code: 'usage', message: /is not valid/ });
});
