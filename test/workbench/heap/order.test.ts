/** Radix sort: the same order as a stable comparison sort, for whole numbers below 2^48. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import '../../support/run/fuzz-runs.ts';
import { listOf, sortByNumber, splitIntoLists } from '../../../src/workbench/heap/order.ts';

test('any numbers, upwards and downwards; equal ones keep their order', () => {
  const numbers = fc.array(
    fc.oneof(
      fc.nat(3),
      fc.nat(0x1_0001),
      fc.maxSafeNat().map((n) => n % 2 ** 48),
    ),
    {
      maxLength: 200,
    },
  );
  fc.assert(
    fc.property(numbers, fc.boolean(), (values, isUp) => {
      const nodes = Uint32Array.from(values, (_, n) => n * 3);
      const numberOf = (node: number): number => values[node / 3]!;
      const expected = [...nodes].sort((a, b) =>
        isUp ? numberOf(a) - numberOf(b) || a - b : numberOf(b) - numberOf(a) || a - b,
      );
      const sorted = sortByNumber(nodes, numberOf, isUp ? 'ascending' : 'descending');
      assert.deepEqual([...sorted], expected);
      assert.deepEqual(
        [...nodes],
        [...nodes].sort((a, b) => a - b),
        'what was given stays as it was',
      );
    }),
  );
});

test('lists: each node in its own, in the order in which it came; some in none', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(5), { nil: undefined })), (lists) => {
      const nodes = Uint32Array.from(lists, (_, n) => n);
      const split = splitIntoLists(nodes, 6, (node) => lists[node]);
      for (let list = 0; list < 6; list++)
        assert.deepEqual(
          [...listOf(split, list)],
          [...nodes].filter((node) => lists[node] === list),
        );
    }),
  );
});
