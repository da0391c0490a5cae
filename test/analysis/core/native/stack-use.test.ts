/**
 * How much of the stack functions use, by their instructions: of this Node's own code, whose unwinding tables say the same, and of
 * code laid out here.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { FileCode } from '../../../../src/analysis/core/native/module-code.ts';
import { decodeInstruction } from '../../../../src/analysis/core/native/x64-instruction.ts';
import { findUses, findUsesToReturn } from '../../../../src/analysis/core/native/x64-stack-use.ts';
import { FileSource } from '../../../../src/bytes/byte-source.ts';
import { computeFrameRow } from '../../../../src/formats/dwarf-cfi/frame-row.ts';
import { readElf } from '../../../../src/formats/elf/elf-file.ts';
import { findSymbolTable } from '../../../../src/formats/elf/symbols.ts';

const isHere = process.platform === 'linux' && process.arch === 'x64';
const [rbp, rsp] = [6, 7];
const longest = 8 << 10;

test('at each call of a function, it is what the unwinding tables say', {
  skip: !isHere && 'this Node is no program of Linux on x86-64',
}, (t) => {
  const source = new FileSource(process.execPath);
  const file = readElf(source);
  const code = new FileCode(file, undefined, () => source.close());
  const symbols = findSymbolTable(file, 'full') ?? findSymbolTable(file, 'dynamic');
  const counts = { same: 0, other: 0, unknown: 0 };
  for (let row = 0; row < (symbols?.count ?? 0); row += 397) {
    const { address, size, type } = symbols!.symbol(row);
    const frame = type === 2 && size > 0 && size < longest ? code.findFrame(address) : undefined;
    const bytes = frame?.start === address ? code.findBytes(address, frame.end - address) : undefined;
    if (!frame || !bytes) continue;
    for (let at = 0; at < bytes.length; ) {
      const instruction = decodeInstruction(bytes, at);
      if (!instruction) break;
      at += instruction.length;
      if (instruction.flow !== 'call') continue;
      const { cfa } = computeFrameRow(frame, address + at - 1);
      if (cfa.kind !== 'register' || (cfa.register !== rsp && cfa.register !== rbp)) continue;
      const uses = findUses(bytes, at, true, cfa.register === rbp ? Number(cfa.offset) : undefined);
      // By the frame pointer, the tables leave the size open: there it is only counted whether it is known.
      const isSame = cfa.register === rbp || uses?.some((use) => use.bytes === Number(cfa.offset));
      counts[uses ? (isSame ? 'same' : 'other') : 'unknown']++;
    }
  }
  code.close();
  t.diagnostic(JSON.stringify(counts));
  assert.ok(counts.same > 300, JSON.stringify(counts));
  assert.equal(counts.other, 0, JSON.stringify(counts));
  assert.ok(counts.unknown < counts.same / 20, JSON.stringify(counts));
});

const call = [0xe8, 0, 0, 0, 0];
const bytesOf = (...parts: number[][]) => Uint8Array.from(parts.flat());

suite('x86-64', () => {
  test('what was pushed and reserved before a call, and where the frame pointer was saved', () => {
    const pushes = [[0x55], [0x41, 0x54], [0x48, 0x83, 0xec, 0x18]];
    assert.deepEqual(findUses(bytesOf(...pushes, call), 12, true), [{ bytes: 48, savedFramePointer: 16 }]);
    assert.deepEqual(findUses(bytesOf(...pushes, call), 3, false), [{ bytes: 24, savedFramePointer: 16 }]);
  });

  test('words that were pushed for one call are not there for the next', () => {
    const code = bytesOf([0x6a, 1], [0x50], call, [0x48, 0x83, 0xc4, 0x10], call);
    assert.deepEqual(findUses(code, 8, true), [{ bytes: 24 }]);
    assert.deepEqual(findUses(code, 17, true), [{ bytes: 8 }]);
  });

  test('both ways of a branch, and what is only reached by a table of jumps', () => {
    // push rbx; je +1; push rax; call; jmp [rax]; call
    const code = bytesOf([0x53], [0x74, 1], [0x50], call, [0xff, 0xe0], call);
    const sorted = (at: number) =>
      findUses(code, at, true)
        ?.map(({ bytes }) => bytes)
        .sort();
    assert.deepEqual(sorted(9), [16, 24]);
    assert.deepEqual(sorted(16), [16, 24]);
  });

  test('a number of bytes that is computed, or a loop that pushes, has no answer', () => {
    assert.equal(findUses(bytesOf([0x48, 0x29, 0xc4], call), 8, true), undefined);
    assert.equal(findUses(bytesOf([0x50], [0x75, 0xfd], call), 8, true), undefined);
  });

  test('by the frame pointer again, where that is known', () => {
    // push rbp; mov rbp, rsp; push rbx; sub rsp, rax … lea rsp, [rbp - 8]; call
    const code = bytesOf([0x55], [0x48, 0x89, 0xe5], [0x53], [0x48, 0x8d, 0x65, 0xf8], call);
    assert.deepEqual(findUses(code, 14, true, 16), [{ bytes: 24, savedFramePointer: 16 }]);
    assert.equal(findUses(code, 14, true), undefined);
  });

  test('to where it returns: what is added and popped on the way', () => {
    // add rsp, 8; pop rbx; pop rbp; ret
    const code = bytesOf([0x90], [0x48, 0x83, 0xc4, 8], [0x5b], [0x5d], [0xc3]);
    assert.deepEqual(findUsesToReturn(code, 1), [{ bytes: 32, savedFramePointer: 16 }]);
    assert.deepEqual(findUsesToReturn(bytesOf([0x0f, 0x05], [0xc3]), 2), [{ bytes: 8 }]);
  });

  test('behind a call that may not return, another function may begin: both are told', () => {
    // je 9; call; pop rbx; ret, and at 9: add rsp, 8; pop rbx; ret
    const code = bytesOf([0x74, 7], call, [0x5b], [0xc3], [0x48, 0x83, 0xc4, 8], [0x5b], [0xc3]);
    const uses = findUsesToReturn(code, 0).map(({ bytes }) => bytes);
    assert.deepEqual(uses.sort(), [16, 24]);
  });

  test('code that ends too early, or is none', () => {
    assert.equal(decodeInstruction(Uint8Array.of(0x48, 0x83), 0), undefined);
    assert.equal(findUses(new Uint8Array(64).fill(0x66), 32, false), undefined);
    assert.deepEqual(findUsesToReturn(new Uint8Array(0), 0), []);
  });
});
