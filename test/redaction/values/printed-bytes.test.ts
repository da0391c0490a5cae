/**
 * A buffer as JSON and util.inspect print it, on one line and on several, and each of these inside a JSON string, encoded
 * once or twice.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { redact } from '../../../src/redaction/index.ts';

const secret = 'Sommerregen-1987!';
const bytes = Buffer.from(secret);
/** Matches some consecutive numbers of it. */
const piece = [...bytes.subarray(4, 8)].join('\\D+');
const wrap = (text: string, times: number): string =>
  times === 0 ? text : wrap(JSON.stringify({ log: text }, null, times), times - 1);

for (const indent of [0, 2, 4, '\t'])
  for (const times of [0, 1, 2])
    test(`JSON indented by ${JSON.stringify(indent)}, in ${times} strings`, () => {
      for (const [value, known] of [
        [{ password: bytes }, []],
        [{ a: { b: { password: bytes } } }, []],
        [{ payload: { body: bytes } }, [secret]],
      ] as const) {
        const shown = redact(wrap(JSON.stringify(value, null, indent), times), { known });
        assert.doesNotMatch(shown, new RegExp(piece));
        JSON.parse(shown);
      }
    });

for (const times of [0, 1, 2])
  test(`a typed array as util.inspect prints it, in ${times} strings`, () => {
    const shown = redact(wrap(inspect({ body: new Uint8Array(bytes) }), times), { known: [secret] });
    assert.doesNotMatch(shown, new RegExp(piece));
  });

test('lists of other numbers stay', () => {
  const text = wrap(
    JSON.stringify({ data: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], sizes: [100, 200, 100, 101, 102] }, null, 2),
    1,
  );
  assert.equal(redact(text, { known: [secret] }), text);
});
