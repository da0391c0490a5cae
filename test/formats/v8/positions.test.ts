import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BytecodeSizes } from '../../../src/formats/v8/frames/code.ts';
import { decodePositions, findPosition, VlqReader } from '../../../src/formats/v8/frames/positions.ts';
import '../../support/run/fuzz-runs.ts';

/** Encodes a number in groups of seven bits, the low ones first. */
function vlq(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) + 128);
  }
}
const zigzag = (value: number) => (value >= 0 ? value * 2 : -value * 2 - 1);

interface Row {
  codeOffset: number;
  position: number;
  inliningId: number;
  isStatement: boolean;
}

/** Encodes rows as V8 does: as deltas. The code delta of an expression is -delta - 1, or in V8 14 has a flag. */
function encode(rows: Row[], unsignedDeltas: boolean): Uint8Array {
  const bytes: number[] = [];
  let code = -1;
  let raw = 0;
  for (const { codeOffset, position, inliningId, isStatement } of rows) {
    const delta = codeOffset - code;
    const place = (inliningId + 1) * 2 ** 31 + (position + 1) * 2;
    bytes.push(
      ...vlq(unsignedDeltas ? delta * 4 + (isStatement ? 1 : 0) : zigzag(isStatement ? delta : -delta - 1)),
      ...vlq(zigzag(place - raw)),
    );
    code = codeOffset;
    raw = place;
  }
  return Uint8Array.from(bytes);
}

const rowsArbitrary = fc
  .array(
    fc.record({
      step: fc.integer({ min: 0, max: 5000 }),
      position: fc.integer({ min: -1, max: 2 ** 29 }),
      inliningId: fc.integer({ min: -1, max: 300 }),
      isStatement: fc.boolean(),
    }),
    { maxLength: 30 },
  )
  .map((list) => {
    let codeOffset = -1;
    return list.map(({ step, ...row }, i) => {
      codeOffset += i === 0 ? step : step + 1;
      return { codeOffset, ...row };
    });
  });

for (const unsignedDeltas of [false, true])
  test(`a table that was written is read back, ${unsignedDeltas ? 'as V8 14 writes it' : 'as before'}`, () => {
    fc.assert(
      fc.property(rowsArbitrary, (rows) => {
        const read = [...decodePositions(encode(rows, unsignedDeltas), unsignedDeltas)];
        assert.deepEqual(
          read,
          rows.map(({ isStatement, ...row }) => row),
        );
      }),
    );
  });

test('the place of an offset is the last row at or before it', () => {
  const rows = [
    { codeOffset: -1, position: 5, inliningId: -1, isStatement: false },
    { codeOffset: 10, position: 20, inliningId: -1, isStatement: true },
    { codeOffset: 30, position: 12, inliningId: 2, isStatement: false },
  ];
  const table = encode(rows, false);
  assert.equal(findPosition(table, 9, false)?.position, 5);
  assert.equal(findPosition(table, 10, false)?.position, 20);
  assert.deepEqual(findPosition(table, 99, false), { codeOffset: 30, position: 12, inliningId: 2 });
});

test('hostile: any bytes end, with numbers', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, unsigned) => {
      let rows = 0;
      for (const { codeOffset } of decodePositions(bytes, unsigned)) {
        assert.ok(Number.isFinite(codeOffset));
        rows++;
      }
      assert.ok(rows <= bytes.length);
    }),
  );
});

test('a number without an end is broken', () => {
  const reader = new VlqReader(Uint8Array.from(Array(12).fill(0xff)));
  reader.unsigned();
  assert.equal(reader.isBroken, true);
});

test('lengths of bytecodes, with their prefixes', () => {
  // Three rows of four bytecodes: Wide, ExtraWide, and two others.
  const sizes = new BytecodeSizes(Uint8Array.from([1, 1, 3, 2, 1, 1, 5, 3, 1, 1, 9, 5]));
  assert.equal(sizes.at(Uint8Array.from([2, 0, 0]), 0), 3);
  assert.equal(sizes.at(Uint8Array.from([0, 2]), 0), 6);
  assert.equal(sizes.at(Uint8Array.from([1, 3]), 0), 6);
  assert.equal(sizes.at(Uint8Array.from([]), 7), 2);
});
