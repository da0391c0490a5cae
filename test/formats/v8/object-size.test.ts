/** The size of compiled instructions, which V8 rounds up by machine: the memory after them may be an object of the difference. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesSource } from '../../../src/bytes/byte-source.ts';
import { ProcessMemory } from '../../../src/bytes/memory.ts';
import { V8Heap } from '../../../src/formats/v8/heap/heap.ts';
import { onArm64, type V8Layout } from '../../../src/formats/v8/heap/object-layout.ts';
import { findObjectSize } from '../../../src/formats/v8/heap/object-size.ts';

const at = 0x7000_0000_0000;
const instructionStream = 0x103;
const onX64 = {
  types: { instructionStream, context: [0, 0] },
  map: { instanceSizeInWords: 0 },
  string: {},
  bigInt: {},
  descriptors: {},
  bytecode: {},
  code: { streamCode: 8, streamStart: 32, instructionSize: 0, alignments: [64, 32] },
} as unknown as V8Layout;

/** Of 40 bytes of instructions; anything that is a multiple of 32 may be the start of an object. */
function sizeOn(layout: V8Layout): number {
  const bytes = Buffer.alloc(0x400);
  bytes.writeInt32LE(40, 24);
  const memory = new ProcessMemory([
    { start: at, end: at + bytes.length, source: bytesSource(bytes), offset: 0 },
  ]);
  const around = { isBoundary: (end: number) => end % 32 === 0, wallBehind: () => at + bytes.length };
  return findObjectSize(new V8Heap(memory, layout), at, at + 0x201, instructionStream, around);
}

test('to 64 bytes on x86-64, and to 32 on arm64', () => {
  assert.equal(sizeOn(onX64), 128);
  assert.equal(sizeOn(onArm64(onX64)), 96);
});
