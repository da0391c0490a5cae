/** Which memory of C++ belongs to an object, with objects and chunks that are made up here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Names } from '../../../src/formats/v8/graph/names.ts';
import type { MallocChunks } from '../../../src/formats/v8/graph/native/malloc-chunks.ts';
import { NativeMemory } from '../../../src/formats/v8/graph/native/native-memory.ts';
import type { ObjectKinds } from '../../../src/formats/v8/graph/object-kinds.ts';
import type { HeapObjects } from '../../../src/formats/v8/graph/objects/heap-objects.ts';
import type { V8Heap } from '../../../src/formats/v8/heap/heap.ts';

const wordsOfObject = 4;
const firstChunk = 0x1000_0000;
const step = 0x100;

/** Objects that each have the address of a chunk in their only field; every chunk has the address of a further one. */
function nativeOf(count: number, chunkSize: number) {
  let searched = 0;
  const memory = {
    peek(at: number, length: number) {
      searched += length;
      const bytes = Buffer.alloc(Math.min(length, 8));
      bytes.writeBigUInt64LE(BigInt(at + step / 2));
      return bytes;
    },
  };
  const objects = {
    sizeOf: () => wordsOfObject,
    words: { low: (at: number) => firstChunk + step * Math.floor(at / wordsOfObject), high: () => 0 },
  };
  const chunks = { sizeAt: (at: number) => (at % (step / 2) === 0 ? chunkSize : 0) };
  const found = new NativeMemory(
    { layout: { line: 1306 } } as V8Heap,
    objects as unknown as HeapObjects,
    {} as ObjectKinds,
    new Names(undefined),
    { memory: memory as never, chunks: chunks as unknown as MallocChunks, isGlobalHandle: () => false },
    0,
    [],
    Array.from({ length: count }, (_, at) => at * wordsOfObject),
    { classOf: () => 0, nodeOf: () => 0, isHeld: () => false },
  );
  return { count: found.count, isCut: found.isCut, searched };
}

test('the chunk behind an object, and the one that only this chunk refers to', () => {
  assert.deepEqual(nativeOf(10, 0x48), { count: 20, isCut: false, searched: 10 * 0x40 });
});

test('chunks that claim more memory than there can be are not searched, and that is told', () => {
  const { count, isCut, searched } = nativeOf(100, 1 << 26);
  assert.equal(searched, 0);
  assert.ok(isCut);
  assert.equal(count, 100);
});
