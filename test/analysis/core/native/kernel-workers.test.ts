/** A worker of io_uring, which the kernel runs as a thread of the process: it has no stack of the program. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CoreDump } from '../../../../src/analysis/core/core-dump.ts';
import { x64 } from '../../../../src/analysis/core/native/machine-x64.ts';
import { describeThread } from '../../../../src/analysis/core/thread-stack.ts';
import { AbsentMemory } from '../../../../src/bytes/memory.ts';
import type { CoreThread } from '../../../../src/formats/elf-core/core-contents.ts';
import type { Gap } from '../../../../src/model/verdict.ts';

const absent = (address: number) => {
  throw new AbsentMemory(address);
};

/** A core without memory. */
const empty = {
  machine: x64,
  modules: { find: () => undefined },
  memory: { findWord: () => undefined, peek: () => undefined, has: () => false, readBigWord: absent },
  core: { segments: [] },
} as unknown as CoreDump;

function describe(registers: Record<string, bigint>) {
  const gaps: Gap[] = [];
  const thread = { tid: 7, signal: 0, registers } as unknown as CoreThread;
  return { ...describeThread(empty, thread, { v8: undefined, crashed: false, values: false, gaps }), gaps };
}

test('a thread with registers of zero is named, and nothing is missing of it', () => {
  const { name, frames, gaps } = describe({ rip: 0n, rsp: 0n, rax: 1n });
  assert.equal(name, "the kernel's worker of io_uring");
  assert.deepEqual([frames, gaps], [[], []]);
});

test('a thread that jumped to zero has a stack, and a gap says that it could not be read', () => {
  const { frames, gaps } = describe({ rip: 0n, rsp: 0x7000n, rax: 1n });
  assert.equal(frames.length, 1);
  assert.equal(gaps.length, 1);
});
