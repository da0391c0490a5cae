import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRecordWriter, plainWriter } from '../../../../src/analysis/core/graph/record-writer.ts';

/** On both sides of each power of ten, and the limits of the columns. */
const borders = (most: number) =>
  [0, most, ...Array.from({ length: 16 }, (_, i) => 10 ** i).flatMap((power) => [power - 1, power])].filter(
    (value) => value <= most,
  );

/** More records than the kernel takes at a time. */
const count = 20_000;
const cycle = (values: readonly number[]) =>
  Array.from({ length: count }, (_, i) => values[i % values.length]!);
const textOf = (pieces: Iterable<Uint8Array>) =>
  Array.from(pieces, (piece) => Buffer.from(piece).toString('latin1')).join('');

test('node records in WebAssembly are what TypeScript writes', () => {
  const batch = {
    count,
    types: Uint8Array.from(cycle([0, 9, 14, 255])),
    names: Uint32Array.from(cycle(borders(2 ** 32 - 1))),
    sizes: Float64Array.from(cycle(borders(2 ** 53 - 1))),
    edgeCounts: Uint32Array.from(cycle([...borders(2 ** 32 - 1), 7])),
  };
  for (const first of [0, 4_999_990, 2 ** 29]) {
    const text = textOf(createRecordWriter().nodes(batch, first));
    assert.equal(text, textOf(plainWriter.nodes(batch, first)));
    assert.equal(text.split(',').length - 1, count * 6);
    assert.ok(
      text.startsWith(`0,0,${2 * first + 1},0,0,0,9,${2 ** 32 - 1},${2 * first + 3},${2 ** 53 - 1},`),
    );
  }
});

test('edge records in WebAssembly are what TypeScript writes', () => {
  const batch = {
    count,
    packed: Uint32Array.from(cycle(borders(2 ** 29 - 1)), (target, i) => (((i % 7) << 29) | target) >>> 0),
    names: Uint32Array.from(cycle([...borders(2 ** 32 - 1), 7])),
  };
  const text = textOf(createRecordWriter().edges(batch));
  assert.equal(text, textOf(plainWriter.edges(batch)));
  assert.ok(text.startsWith(`0,0,0,1,${2 ** 32 - 1},${(2 ** 29 - 1) * 6},`));
});
