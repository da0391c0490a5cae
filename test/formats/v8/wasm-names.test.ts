/** Names in WebAssembly modules: those of a hand-made module, and no harm from arbitrary bytes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readWasmNames } from '../../../src/formats/v8/frames/wasm-names.ts';

const section = (id: number, bytes: number[]) => [id, bytes.length, ...bytes];
const text = (word: string) => [word.length, ...Buffer.from(word)];
const header = [0, 97, 115, 109, 1, 0, 0, 0];
const read = (bytes: number[], longest = 1 << 20) =>
  readWasmNames((at, length) => Uint8Array.from(bytes.slice(at, at + length)), bytes.length, longest);

const everyImport = [
  ...[5, ...text('m'), ...text('f'), 0, 0],
  ...[...text('m'), ...text('t'), 1, 0x70, 1, 1, 9],
  ...[...text('m'), ...text('r'), 1, 0x63, 0x70, 0, 1],
  ...[...text('m'), ...text('g'), 3, 0x7f, 0],
  ...[...text('m'), ...text('h'), 0, 0],
];
const names = [...text('name'), ...section(0, text('tides')), ...section(1, [1, 3, ...text('named')])];
const module = [
  ...header,
  ...section(2, everyImport),
  ...section(7, [2, ...text('entry'), 0, 2, ...text('other'), 0, 3]),
  ...section(10, [0]),
  ...section(0, names),
];

test('imported functions are counted, and a function has its own name before that of its export', () => {
  const found = read(module);
  assert.equal(found.importedFunctions, 2);
  assert.equal(found.module, 'tides');
  assert.deepEqual([2, 3, 4].map(found.findFunction), ['entry', 'named', undefined]);
});

test('a section that is too long is left out', () => {
  assert.equal(read(module, 20).findFunction(3), 'other');
  assert.equal(read(module, 20).module, undefined);
});

test('what is no module ends in names or in a RangeError', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 200 }), (rest) => {
      try {
        read([...header, ...rest]);
      } catch (error) {
        assert.ok(error instanceof RangeError, String(error));
      }
    }),
  );
});
