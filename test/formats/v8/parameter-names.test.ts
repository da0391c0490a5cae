import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { measureParameters, parseParameterNames } from '../../../src/formats/v8/frames/parameter-names.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';

const cases: [string, string[]][] = [
  ['(a, b) { return a; }', ['a', 'b']],
  ['() => 1', []],
  ['x => x', ['x']],
  ['async x => x', ['x']],
  ['async (x, y) => x', ['x', 'y']],
  ['(a = [1, (2)], {b, c: {d}} = {}, [e], ...rest) {}', ['a', '{…}', '[…]', '...rest']],
  ['(a /* , no */, // b,\n c = "),(", d = `),`) {}', ['a', 'c', 'd']],
  ['(żółw, $_1) {}', ['żółw', '$_1']],
  ['class {}', []],
  ['', []],
  ['(', []],
];
for (const [source, names] of cases)
  test(JSON.stringify(source), () => {
    assert.deepEqual(parseParameterNames(source), names);
  });

test('hostile: any text gives a list, and the same one from the part that is measured', () => {
  const pieces = fc.constantFrom(
    '(',
    ')',
    '{',
    '}',
    '[',
    ']',
    ',',
    '`',
    '"',
    "'",
    '/*',
    '*/',
    '//',
    '\n',
    '...',
    'a',
    '\\',
    '=>',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 60 }), (list) => {
      const source = list.join('');
      const names = parseParameterNames(source);
      assert.ok(Array.isArray(names));
      const measured = source.slice(0, measureParameters(source)).padEnd(source.length);
      assert.deepEqual(parseParameterNames(measured), names);
    }),
    { numRuns: fuzzRuns(3000) },
  );
});
