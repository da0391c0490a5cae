import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Names } from '../../../src/formats/v8/graph/names.ts';

test('indexes of the largest arrays have numbers, each its own, and cost no room for those between', () => {
  const names = new Names();
  const indexes = [0, 4095, 4096, 2 ** 27, 2 ** 31 - 10, 1];
  const numbers = indexes.map((index) => names.ofIndex(index));
  assert.deepEqual(numbers, [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(
    indexes.map((index) => names.ofIndex(index)),
    numbers,
  );
  assert.deepEqual([...names.all()], indexes.map(String));
  assert.equal(names.of('4095'), 6);
});
