/** Strings that a damaged snapshot refers to and does not have. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RandomBytes } from '../../../src/formats/heapsnapshot/scan/byte-source.ts';
import { StringTable } from '../../../src/formats/heapsnapshot/sections/string-table.ts';

test('a string that is not there is no number, and nothing is read for it', () => {
  const bytes = {
    read() {
      throw new Error('read');
    },
  } as unknown as RandomBytes;
  // Larger than what is read as a whole.
  const table = new StringTable(Float64Array.of(0, 2 ** 24), [], bytes, 0);
  for (const index of [1, 2, 2 ** 31]) assert.ok(Number.isNaN(table.numberAt(index)), String(index));
});
