/** What an isolate refers to through memory that it owns, in memory that is built here by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesSource } from '../../../src/bytes/byte-source.ts';
import { ProcessMemory } from '../../../src/bytes/memory.ts';
import { findIsolateRoots } from '../../../src/formats/v8/graph/native/isolate-roots.ts';
import { MallocChunks } from '../../../src/formats/v8/graph/native/malloc-chunks.ts';
import type { HeapObjects } from '../../../src/formats/v8/graph/objects/heap-objects.ts';

const isolate = 0x1_0000_0000;
const arena = 0x5555_0000_0000;
const chunkSize = 0x40;
const chunkCount = 100;
const array = arena + 16;
const room = (chunkSize - 8) / 8;
/** The addresses of objects are below this, so that the high half of a word is 0. */
const objectAt = (low: number, high: number): number => (high === 0 && low > 0 && low < 0x1000 ? low : -1);
const tagged = 0x101;

const extentOf = (start: number, bytes: Buffer) => ({
  start,
  end: start + bytes.length,
  source: bytesSource(bytes),
  offset: 0,
});

/** The objects that are roots if these words are in the isolate, and an array of seven references fills a chunk. */
function rootsOf(words: readonly number[]): number[] {
  const own = Buffer.alloc(1 << 17);
  for (const [at, word] of words.entries()) own.writeBigUInt64LE(BigInt(word), at * 8);
  const bytes = Buffer.alloc((chunkCount + 1) * chunkSize);
  for (let at = 0; at < chunkCount; at++) bytes.writeBigUInt64LE(BigInt(chunkSize | 1), at * chunkSize + 8);
  for (let at = 0; at < room; at++) bytes.writeBigUInt64LE(BigInt(tagged + 8 * at), 16 + at * 8);
  const memory = new ProcessMemory([extentOf(isolate - (1 << 16), own), extentOf(arena, bytes)]);
  const native = [[arena, arena + bytes.length]] as const;
  const objects = { words: { objectAt }, typeOf: () => 0x100 } as unknown as HeapObjects;
  const found = findIsolateRoots(
    objects,
    { memory, heaps: [isolate], native, stacks: [] },
    {
      chunks: new MallocChunks(memory, native),
      handles: { has: () => false } as never,
      buffers: new Set(),
      isListed: () => false,
    },
  );
  return found.map(({ target }) => target);
}

test('an array that fills its chunk is read, whatever stands behind its length', () => {
  assert.equal(rootsOf([array, room, 0]).length, room);
  assert.equal(rootsOf([array, room, 0x123456]).length, room);
});

test('of a vector only its elements are read, not what is left over behind them', () => {
  assert.equal(rootsOf([array, room, 2]).length, 2);
  assert.equal(rootsOf([array, array + 16, array + room * 8]).length, 2);
  assert.equal(rootsOf([array, array, array + room * 8]).length, 0);
});
