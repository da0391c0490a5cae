/** The table of known values, if what builds it is ended in the middle, as a deadline does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPolicy } from '../../../src/redaction/index.ts';

const values = (from: number): string[] =>
  Array.from({ length: 40 }, (_, at) => `${(from + at) ** 5 * 7919}-kestrel`);

/** Ends the first search at the n-th entry of the table. */
function endAt(n: number, search: () => void): void {
  const { set } = Map.prototype;
  let left = n;
  Map.prototype.set = function (key, value) {
    if (typeof key === 'number' && --left === 0) throw new Error('ended');
    return set.call(this, key, value) as typeof this;
  };
  try {
    assert.throws(search, /ended/);
  } finally {
    Map.prototype.set = set;
  }
}

for (const n of [1, 2, 25, 40])
  test(`ended at entry ${n}: the next search knows all values`, () => {
    const policy = createPolicy({ known: values(100) });
    endAt(n, () => policy.text('nothing is in here, at all'));
    for (const value of values(100)) assert.ok(!policy.text(`a ${value} b`).includes(value), value);
    for (const value of [...values(500), 'wren']) policy.addKnown(value);
    endAt(n, () => policy.text('nothing is in here either'));
    for (const value of [...values(100), ...values(500), 'wren'])
      assert.ok(!policy.text(`a ${value} b`).includes(value), value);
  });
