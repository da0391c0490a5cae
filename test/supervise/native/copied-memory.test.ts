/** A copy of memory whose parts are moved to where a reader needs them: the same bytes, in memory once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesSource } from '../../../src/bytes/byte-source.ts';
import { ProcessMemory } from '../../../src/bytes/memory.ts';
import { CopiedMemory, makeBlock } from '../../../src/supervise/native/copied-memory.ts';

const size = 1000;

/** Bytes that tell their place. */
const byteAt = (offset: number) => 1 + (offset % 251);

/** Pieces at [0, 100), [100, 300), [300, 420), a hole, [500, 900): the second and third share a block. */
function makeCopy() {
  const fill = (bytes: Uint8Array, offset: number) => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = byteAt(offset + i);
  };
  const [first, second, third] = [makeBlock(100), makeBlock(320), makeBlock(400)];
  const kept = [
    { bytes: first, offset: 0 },
    { bytes: second.subarray(0, 200), offset: 100 },
    { bytes: second.subarray(200), offset: 300 },
    { bytes: third, offset: 500 },
  ];
  for (const { bytes, offset } of kept) fill(bytes, offset);
  return { copy: new CopiedMemory({ kept, size }), blocks: [first, second, third] };
}

function allOf(copy: CopiedMemory): Uint8Array {
  const bytes = new Uint8Array(size).fill(0xff);
  assert.equal(copy.readInto(bytes, 0), size);
  return bytes;
}

const expected = Uint8Array.from({ length: size }, (_, i) =>
  i < 420 || (i >= 500 && i < 900) ? byteAt(i) : 0,
);

test('ranges over pieces, blocks and holes are moved, and what is left of a block stays readable', () => {
  const { copy, blocks } = makeCopy();
  assert.deepEqual(allOf(copy), expected);
  const ranges = [
    { offset: 560, into: new Uint8Array(100) },
    { offset: 250, into: new Uint8Array(280) },
    { offset: 660, into: new Uint8Array(40) },
  ];
  copy.move(ranges);
  assert.deepEqual(allOf(copy), expected);
  for (const { offset, into } of ranges)
    assert.deepEqual(into, expected.slice(offset, offset + into.length), `from ${offset}`);
  // The first block has no part of a range, and is where it was.
  assert.deepEqual(
    blocks.map(({ length }) => length),
    [100, 0, 0],
  );
  assert.equal(copy.view(260, 40)?.buffer, ranges[1]!.into.buffer);
  assert.equal(copy.view(240, 40), undefined);
});

test('what was moved can be moved again', () => {
  const { copy } = makeCopy();
  copy.move([{ offset: 250, into: new Uint8Array(280) }]);
  const again = new Uint8Array(200);
  copy.move([{ offset: 150, into: again }]);
  assert.deepEqual(again, expected.slice(150, 350));
  assert.deepEqual(allOf(copy), expected);
});

test('a dropped copy takes no memory', () => {
  const { copy, blocks } = makeCopy();
  copy.drop();
  assert.ok(blocks.every(({ length }) => length === 0));
  assert.deepEqual(allOf(copy), new Uint8Array(size));
});

test('memory that was read before is read from its new place, and what cannot be moved is copied', () => {
  const { copy } = makeCopy();
  const file = bytesSource(Uint8Array.of(7, 7, 7, 7));
  const memory = new ProcessMemory([
    { start: 4096, end: 4096 + 420, source: copy, offset: 0 },
    { start: 4096 + 420, end: 4096 + 424, source: file, offset: 0 },
    { start: 4096 + 500, end: 4096 + 900, source: copy, offset: 500 },
  ]);
  assert.equal(memory.canMove(4096), true);
  assert.equal(memory.canMove(4096 + 421), false);
  assert.equal(memory.readUint8(4096 + 410), byteAt(410));
  const into = new Uint8Array(200);
  memory.move([{ address: 4096 + 400, into }]);
  assert.deepEqual([...into.subarray(18, 26)], [byteAt(418), byteAt(419), 7, 7, 7, 7, 0, 0]);
  assert.equal(into[150], byteAt(550));
  // Written where it is now: nothing reads the old place.
  into[10] = 99;
  assert.equal(memory.readUint8(4096 + 410), 99);
});
