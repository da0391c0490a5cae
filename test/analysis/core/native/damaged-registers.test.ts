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
