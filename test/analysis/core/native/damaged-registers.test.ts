/** Walking a native stack ends, whatever the registers in a damaged core contain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type UnwindSpace, walkNativeStack } from '../../../../src/analysis/core/native/native-stack.ts';

const [programCounter, stackPointer, framePointer] = [16, 7, 6];

/** No module, and no memory except at the program counter. */
function emptySpace(): UnwindSpace {
  const none = () => undefined;
  return {
    machine: { programCounter, stackPointer, framePointer },
    modules: { find: none },
    memory: { findWord: none, peek: () => new Uint8Array(1), readBigWord: () => 0n },
    core: { segments: [] },
  } as unknown as UnwindSpace;
}

test('a stack pointer so large that adding eight to it changes nothing', () => {
  const registers = new Map([
    [programCounter, 0x1000n],
    [stackPointer, 0x4d00_0000_0000_0000n],
  ]);
  const { frames, stopped } = walkNativeStack(registers, emptySpace());
  assert.equal(frames.length, 1);
  assert.match(stopped ?? '', /frame pointer is not known/);
});

test('compiled code of no file was called by something: a stack does not end there, whether the caller or its frame is zero', () => {
  const words = new Map([
    [0x7000, 0x7100n],
    [0x7008, 0x2000n],
  ]);
  const space = (after: Map<number, bigint>): UnwindSpace => ({
    ...emptySpace(),
    machine: {
      ...emptySpace().machine,
      withoutSignature: (address: bigint) => address,
    },
    memory: {
      findWord: () => undefined,
      peek: () => new Uint8Array(1),
      readBigWord: (at: number) => words.get(at) ?? after.get(at) ?? 0n,
    } as unknown as UnwindSpace['memory'],
  });
  const registers = new Map([
    [programCounter, 0x1000n],
    [stackPointer, 0x6ff0n],
    [framePointer, 0x7000n],
  ]);
  const stoppedAt = (after: [number, bigint][]) => walkNativeStack(registers, space(new Map(after))).stopped;
  assert.equal(stoppedAt([[0x7100, 0x7200n]]), 'the return address is zero');
  assert.equal(stoppedAt([[0x7108, 0x3000n]]), 'the frame pointer is zero');
});
