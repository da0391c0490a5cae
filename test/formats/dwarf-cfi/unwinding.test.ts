import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bytesSource } from '../../../src/bytes/byte-source.ts';
import { ProcessMemory } from '../../../src/bytes/memory.ts';
import { AgentdumpError } from '../../../src/errors.ts';
import { computeCaller } from '../../../src/formats/dwarf-cfi/caller.ts';
import { EhFrame } from '../../../src/formats/dwarf-cfi/eh-frame.ts';
import { evaluateExpression } from '../../../src/formats/dwarf-cfi/expression.ts';
import { computeFrameRow } from '../../../src/formats/dwarf-cfi/frame-row.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';

const headerAddress = 0x1000;
const frameAddress = 0x2000;
const functionAddress = 0x3000;

/** push rbp; mov rbp,rsp; … as GCC describes it. */
const usual = [
  0x41, // advance 1
  0x0e,
  16, // def_cfa_offset 16
  0x86,
  2, // rbp at cfa-16
  0x43, // advance 3
  0x0d,
  6, // def_cfa_register rbp
  0x0a, // remember_state
  0x02,
  100, // advance_loc1 100
  0xc6, // restore rbp
  0x0c,
  7,
  8, // def_cfa rsp+8
  0x41, // advance 1
  0x0b, // restore_state
];

/** .eh_frame_hdr with one entry and .eh_frame with one CIE ("zR", pc-relative) and one FDE. */
function synthFrames(instructions: number[]): Map<number, Buffer> {
  const u32 = (n: number) => {
    const b = Buffer.alloc(4);
    b.writeInt32LE(n);
    return b;
  };
  const cieBody = Buffer.from([
    0, 0, 0, 0, 1, 0x7a, 0x52, 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
  ]);
  const cie = Buffer.concat([u32(cieBody.length), cieBody]);
  const fdeAt = cie.length;
  const start = functionAddress - (frameAddress + fdeAt + 8);
  const fdeBody = Buffer.concat([u32(fdeAt + 4), u32(start), u32(200), Buffer.from([0, ...instructions])]);
  const frames = Buffer.concat([cie, u32(fdeBody.length), fdeBody, u32(0)]);
  const header = Buffer.concat([
    Buffer.from([1, 0x1b, 0x03, 0x3b]),
    u32(frameAddress - headerAddress - 4),
    u32(1),
    u32(functionAddress - headerAddress),
    u32(frameAddress + fdeAt - headerAddress),
  ]);
  return new Map([
    [headerAddress, header],
    [frameAddress, frames],
  ]);
}

function open(sections: Map<number, Buffer>): EhFrame {
  return new EhFrame(headerAddress, (address, length) => {
    for (const [start, bytes] of sections)
      if (address >= start && address < start + bytes.length)
        return bytes.subarray(address - start, address - start + length);
    return undefined;
  });
}

function rowAt(offset: number, instructions = usual) {
  const frame = open(synthFrames(instructions)).find(functionAddress + offset);
  assert.ok(frame);
  return computeFrameRow(frame, functionAddress + offset);
}

test('the description of an address, and none outside of it', () => {
  const frames = open(synthFrames(usual));
  assert.equal(frames.find(functionAddress + 199)?.start, functionAddress);
  assert.equal(frames.find(functionAddress + 200), undefined);
  assert.equal(frames.find(functionAddress - 1), undefined);
});

test('rows through a prologue and an early return', () => {
  assert.deepEqual(rowAt(0).cfa, { kind: 'register', register: 7, offset: 8n });
  assert.deepEqual(rowAt(1).cfa, { kind: 'register', register: 7, offset: 16n });
  assert.deepEqual(rowAt(50).cfa, { kind: 'register', register: 6, offset: 16n });
  assert.deepEqual(rowAt(50).registers.get(6), { kind: 'offset', offset: -16n });
  assert.equal(rowAt(104).registers.has(6), false);
  assert.deepEqual(rowAt(104).cfa, { kind: 'register', register: 7, offset: 8n });
  assert.deepEqual(rowAt(150).cfa, { kind: 'register', register: 6, offset: 16n });
  assert.deepEqual(rowAt(150).registers.get(6), { kind: 'offset', offset: -16n });
});

test("the caller's registers", () => {
  const stack = Buffer.alloc(64);
  stack.writeBigUInt64LE(0x7777n, 16); // saved rbp
  stack.writeBigUInt64LE(0x4444n, 24); // return address
  const memory = new ProcessMemory([{ start: 0x9000, end: 0x9040, source: bytesSource(stack), offset: 0 }]);
  const registers = new Map([
    [6, 0x9010n],
    [7, 0x9000n],
    [3, 5n],
  ]);
  const caller = computeCaller(rowAt(50), registers, memory, 7);
  assert.equal(caller?.cfa, 0x9020n);
  assert.deepEqual(
    [...(caller?.registers ?? [])].sort((a, b) => a[0] - b[0]),
    [
      [3, 5n],
      [6, 0x7777n],
      [7, 0x9020n],
      [16, 0x4444n],
    ],
  );
});

test('the expression of a procedure linkage table', () => {
  const plt = Uint8Array.from([0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22]);
  const at = (rip: bigint) =>
    evaluateExpression(plt, {
      register: (n) => (n === 7 ? 0x100n : n === 16 ? rip : undefined),
      readWord: () => 0n,
    });
  assert.equal(at(0x1005n), 0x108n);
  assert.equal(at(0x100bn), 0x110n);
});

test('expressions: every kind of operation that compilers write here', () => {
  const run = (...code: number[]) =>
    evaluateExpression(Uint8Array.from(code), { register: () => 1n, readWord: (a) => a + 1n });
  assert.equal(run(0x08, 200, 0x09, 0x9c, 0x22), 100n);
  assert.equal(run(0x30, 0x1f), 0n);
  assert.equal(run(0x31, 0x1f), 2n ** 64n - 1n);
  assert.equal(run(0x35, 0x06), 6n);
  assert.equal(run(0x35, 0x32, 0x16, 0x1c), 2n ** 64n - 3n);
  assert.equal(run(0x31, 0x28, 1, 0, 0x96, 0x34), 4n);
  assert.equal(run(0x30, 0x20, 0x34, 0x26), 2n ** 64n - 1n);
});

test('hostile: expressions that loop, underflow or jump away end with a clear error', () => {
  const context = { register: () => undefined, readWord: () => 0n };
  for (const code of [[0x2f, 0xfd, 0xff], [0x22], [], [0x2f, 0x70, 0x7f], [0xf0], [0x77, 0]])
    assert.throws(() => evaluateExpression(Uint8Array.from(code), context), { code: 'malformed-input' });
});

test('hostile: a header of another shape, a count beyond reason', () => {
  const sections = synthFrames(usual);
  sections.get(headerAddress)?.writeUInt8(2, 0);
  assert.throws(() => open(sections), { code: 'malformed-input' });
  const counted = synthFrames(usual);
  counted.get(headerAddress)?.writeUInt32LE(0xffff_ffff, 8);
  assert.throws(() => open(counted), { code: 'malformed-input' });
  assert.throws(() => open(new Map()), { code: 'malformed-input' });
});

test('hostile: flipped bytes give a row or a clear error, never a hang', () => {
  const whole = synthFrames(usual);
  const size = whole.get(frameAddress)?.length ?? 0;
  fc.assert(
    fc.property(fc.nat(size - 1), fc.nat(255), fc.nat(255), (at, value, offset) => {
      const sections = synthFrames(usual);
      sections.get(frameAddress)?.writeUInt8(value, at);
      try {
        const frame = open(sections).find(functionAddress + offset);
        if (frame) assert.ok(computeFrameRow(frame, functionAddress + offset).cfa);
      } catch (error) {
        assert.ok(error instanceof AgentdumpError && error.code === 'malformed-input', `${error}`);
      }
    }),
    { numRuns: fuzzRuns(3000) },
  );
});
