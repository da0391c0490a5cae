/** A thread at its first instruction, inside of the `clone` that its creator called: a whole stack of one frame. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Machine } from '../../../../src/analysis/core/native/machine.ts';
import { makeArm64 } from '../../../../src/analysis/core/native/machine-arm64.ts';
import { x64 } from '../../../../src/analysis/core/native/machine-x64.ts';
import { ModuleMap } from '../../../../src/analysis/core/native/module-map.ts';
import { type UnwindSpace, walkNativeStack } from '../../../../src/analysis/core/native/native-stack.ts';
import { AbsentMemory } from '../../../../src/bytes/memory.ts';
import { moduleOfCode } from '../../../support/cores/module-of-code.ts';

const [base, size, stack] = [0x10_0000, 0x1000, 0x7f00_0000];

/** A module of one function without tables, and no memory that could be read. */
function spaceOf(machine: Machine, name: string): UnwindSpace {
  const module = moduleOfCode('/lib/libc.so.6', base, size, {
    findFunction: () => ({ name, address: 0, size, type: 2 }),
  });
  const absent = (address: number) => {
    throw new AbsentMemory(address);
  };
  const memory = { has: () => false, findWord: () => undefined, peek: () => undefined, readBigWord: absent };
  return {
    machine,
    modules: new ModuleMap([module]),
    memory,
    core: { segments: [] },
  } as unknown as UnwindSpace;
}

for (const [name, machine] of [
  ['x86-64', x64],
  ['arm64', makeArm64(undefined)],
] as [string, Machine][]) {
  const walk = (fn: string, result: bigint) =>
    walkNativeStack(
      new Map([
        [0, result],
        [machine.programCounter, BigInt(base + 0x59)],
        [machine.stackPointer, BigInt(stack)],
        [machine.framePointer, BigInt(stack + 64)],
      ]),
      spaceOf(machine, fn),
    );

  for (const fn of ['clone3', '__clone3', 'clone', '__clone'])
    test(`${name}, ${fn} that returned 0: the thread has just begun, and nothing is missing`, () => {
      const { frames, stopped } = walk(fn, 0n);
      assert.deepEqual([frames.length, stopped], [1, undefined]);
    });

  test(`${name}: its creator, which has the new thread's number, is not mistaken for it; nor is another function`, () => {
    assert.notEqual(walk('clone3', 4711n).stopped, undefined);
    assert.notEqual(walk('close', 0n).stopped, undefined);
  });
}
