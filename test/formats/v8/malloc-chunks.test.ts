/** Which words of native memory are the start of what malloc handed out, in arenas that are built here by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesSource } from '../../../src/bytes/byte-source.ts';
import { ProcessMemory } from '../../../src/bytes/memory.ts';
import { MallocChunks } from '../../../src/formats/v8/graph/native/malloc-chunks.ts';

const heap = 0x5555_0000_0000;
const threadHeap = 0x7f00_0000_0000;
const [inUse, ownPages] = [1, 2];

/** Memory at `start` with sizes of chunks in it: [offset of the chunk, size with its flags]. */
function chunksIn(
  start: number,
  length: number,
  sizes: readonly (readonly [number, number])[],
): MallocChunks {
  const bytes = Buffer.alloc(length);
  for (const [at, size] of sizes) bytes.writeBigUInt64LE(BigInt(size), at + 8);
  const extent = { start, end: start + length, source: bytesSource(bytes), offset: 0 };
  return new MallocChunks(new ProcessMemory([extent]), [[start, start + length]]);
}

/** Consecutive chunks in use from an offset on. */
const row = (from: number, count: number, size = 0x40) =>
  Array.from({ length: count }, (_, i) => [from + i * size, size | inUse] as const);

test('each chunk of an arena, and no address within one, whatever looks like a size there', () => {
  const sizes = [...row(0, 100), [100 * 0x40, 0x100 | inUse] as const, ...row(100 * 0x40 + 0x100, 20)];
  // Within the large chunk: a size that leads to the start of a real one.
  const fake = 100 * 0x40 + 0x40;
  const chunks = chunksIn(heap, 0x4000, [...sizes, [fake, 0xc0 | inUse]]);
  assert.equal(chunks.sizeAt(heap + 16), 0x40);
  assert.equal(chunks.sizeAt(heap + 100 * 0x40 + 16), 0x100);
  assert.equal(chunks.sizeAt(heap + fake + 16), 0);
  assert.equal(chunks.sizeAt(heap + 24), 0);
});

test('what is free is none: the next chunk says so', () => {
  const sizes = row(0, 100).map(([at, size]) => [at, at === 0x80 ? size & ~inUse : size] as const);
  const chunks = chunksIn(heap, 0x4000, sizes);
  assert.equal(chunks.sizeAt(heap + 0x40 + 16), 0);
  assert.equal(chunks.sizeAt(heap + 0x80 + 16), 0x40);
});

test("a thread's arena begins behind its own data, and its last chunks count too", () => {
  const chunks = chunksIn(threadHeap, 0x8000, [...row(0x8d0, 70), [0x8d0 + 70 * 0x40, 0x5000 | inUse]]);
  assert.equal(chunks.sizeAt(threadHeap + 0x8d0 + 69 * 0x40 + 16), 0x40);
  // What is left of the arena.
  assert.equal(chunks.sizeAt(threadHeap + 0x8d0 + 70 * 0x40 + 16), 0);
});

for (const [what, size] of [
  ['a fencepost', 16 | inUse],
  ['a fencepost without a size', inUse],
] as const)
  test(`outside of an arena: the last chunk before ${what}`, () => {
    // Too few for an arena.
    const chunks = chunksIn(heap + 0x100, 0x2000, [...row(0x500, 3), [0x500 + 3 * 0x40, size]]);
    assert.equal(chunks.sizeAt(heap + 0x100 + 0x500 + 2 * 0x40 + 16), 0);
    assert.equal(chunks.sizeAt(heap + 0x100 + 0x500 + 0x40 + 16), 0x40);
  });

test('outside of an arena: a chunk before a large free one, and one before memory that was never written to', () => {
  const chunks = chunksIn(heap + 0x100, 0x3000, [...row(0x500, 2), [0x580, 0x8000_0000 + inUse]]);
  assert.equal(chunks.sizeAt(heap + 0x100 + 0x540 + 16), 0x40);
  const before = chunksIn(heap, 0x3000, [...row(0xf40, 1), ...row(0xf80, 2)]);
  assert.equal(before.sizeAt(heap + 0xf40 + 16), 0x40);
});

test('pages of its own, also with an alignment of its own', () => {
  const chunks = chunksIn(heap, 0x40000, [
    [0x10000, 0x21000 | ownPages],
    [0x35000, 0x3000 | ownPages],
    [0x3a100, 0x2f00 | ownPages],
  ]);
  assert.equal(chunks.sizeAt(heap + 0x10010), 0x21000);
  assert.equal(chunks.sizeAt(heap + 0x35010), 0x3000);
  assert.equal(chunks.sizeAt(heap + 0x3a110), 0);
  const bytes = Buffer.alloc(0x4000);
  bytes.writeBigUInt64LE(0x100n, 0x100);
  bytes.writeBigUInt64LE(BigInt(0x2f00 | ownPages), 0x108);
  const extent = { start: heap, end: heap + bytes.length, source: bytesSource(bytes), offset: 0 };
  const aligned = new MallocChunks(new ProcessMemory([extent]), [[heap, heap + bytes.length]]);
  assert.equal(aligned.sizeAt(heap + 0x110), 0x2f00);
});

test('pages of their own, as many side by side as there may be: the kernel makes one mapping of them', () => {
  for (const count of [50, 100]) {
    const size = 0x3000;
    const sizes = Array.from({ length: count }, (_, i) => [i * size, size | ownPages] as const);
    const chunks = chunksIn(heap, count * size, sizes);
    for (const [at] of sizes) assert.equal(chunks.sizeAt(heap + at + 16), size, `${count} at ${at}`);
  }
});

test('a hostile arena of sizes that lead far away takes no memory for what is not there', () => {
  const far = Array.from({ length: 200 }, (_, i) => [i * 0x20, 2 ** 35 + 0x20] as const);
  const chunks = chunksIn(heap, 0x4000, far);
  assert.equal(chunks.sizeAt(heap + 16), 0);
});
