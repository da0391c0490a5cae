/** What only arm64 has in a core: registers, the mask of pointer signatures, the frame of a signal handler. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bytesSource } from '../../../src/bytes/byte-source.ts';
import { ProcessMemory } from '../../../src/bytes/memory.ts';
import { AgentdumpError } from '../../../src/errors.ts';
import { coreExtents, readCore } from '../../../src/formats/elf-core/core-file.ts';
import { withoutVectorRegisters } from '../../../src/formats/elf-core/core-notes.ts';
import { findDeadSignalFrameArm64 } from '../../../src/formats/elf-core/signal-frame-arm64.ts';
import { layOutCore } from '../../../src/formats/elf-core/write-core.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';
import { synthArm64Thread, synthCore, synthNote } from '../../support/synth/synth-elf.ts';

const arm64 = 183;
const sp = 0x9000;
const read = (bytes: Uint8Array) => readCore(bytesSource(bytes));

/** NT_ARM_PAC_MASK: the mask for data pointers, then the one for code pointers. */
function synthMasks(data: bigint, code: bigint): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64LE(data, 0);
  bytes.writeBigUInt64LE(code, 8);
  return synthNote('LINUX', 0x406, bytes);
}

/** struct rt_sigframe: siginfo_t, then the ucontext at offset 128, with its registers 176 bytes into it. */
function synthHandlerFrame(information: number[], syndrome?: bigint): Buffer {
  const bytes = Buffer.alloc(128 + 176 + 288 + 4096);
  information.forEach((value, i) => {
    bytes.writeInt32LE(value, i * 4);
  });
  bytes.writeBigUInt64LE(0x18n, 304);
  bytes.writeBigUInt64LE(7n, 312);
  bytes.writeBigUInt64LE(BigInt(sp), 312 + 31 * 8);
  bytes.writeBigUInt64LE(0x1234n, 312 + 32 * 8);
  // A record with the kind and size of the one for vector registers, then the one for the syndrome.
  bytes.writeUInt32LE(0x46508001, 592);
  bytes.writeUInt32LE(0x210, 596);
  if (syndrome === undefined) return bytes;
  bytes.writeUInt32LE(0x45535201, 592 + 0x210);
  bytes.writeUInt32LE(16, 592 + 0x210 + 4);
  bytes.writeBigUInt64LE(syndrome, 592 + 0x210 + 8);
  return bytes;
}

function findFrame(frame: Buffer, registers: Record<string, number>) {
  const address = sp - 16 - frame.length;
  const bytes = Buffer.concat([frame, Buffer.alloc(32)]);
  const core = read(synthCore([synthArm64Thread(1, 11, registers)], [{ address, bytes }], arm64));
  const memory = new ProcessMemory(coreExtents(core));
  return findDeadSignalFrameArm64(core.threads[0]?.registers ?? {}, memory);
}

test('registers, and the bits that hold signatures', () => {
  const thread = synthArm64Thread(41, 6, { x0: 1, x29: 0x7f0, x30: 0x4004, sp: 0x7000, pc: 0x1000 });
  const core = read(synthCore([thread, synthMasks(0n, 0x7fn << 48n)], [], arm64));
  assert.deepEqual([core.machine, core.signatureBits, core.problems], ['arm64', 0x7fn << 48n, []]);
  const [read41] = core.threads;
  assert.deepEqual(
    [read41?.tid, read41?.signal, read41?.programCounter, read41?.stackPointer],
    [41, 6, 0x1000, 0x7000],
  );
  assert.deepEqual(
    ['x0', 'x1', 'x29', 'x30'].map((name) => read41?.registers[name]),
    [1n, 0n, 0x7f0n, 0x4004n],
  );
});

test('what takes the vector registers out of the notes leaves the mask', () => {
  const kept = withoutVectorRegisters(
    Buffer.concat([synthNote('LINUX', 0x405, Buffer.alloc(8)), synthMasks(1n, 2n)]),
  );
  assert.deepEqual(kept, synthMasks(1n, 2n));
});

test('what is written for arm64 is read as such', () => {
  const { head } = layOutCore([], synthArm64Thread(7, 0, { pc: 5 }), 'arm64');
  assert.equal(read(head).machine, 'arm64');
  assert.equal(read(head).threads[0]?.programCounter, 5);
});

test('the frame of a handler that has returned, with its syndrome and without', () => {
  const registers = { x0: 7, sp, pc: 0x1234 };
  const dataAbort = (0x24n << 26n) | 0x46n;
  const address = sp - 16 - synthHandlerFrame([]).length;
  assert.deepEqual(findFrame(synthHandlerFrame([11, 0, 1, 0, 0x18], dataAbort), registers), {
    address,
    faultAddress: 0x18n,
    syndrome: dataAbort,
    code: 1,
  });
  assert.deepEqual(findFrame(synthHandlerFrame([]), registers), { address, faultAddress: 0x18n });
  assert.deepEqual(findFrame(synthHandlerFrame([11, 0, 0, 0, 44, 1000]), registers), {
    address,
    faultAddress: 0x18n,
    code: 0,
    sender: { pid: 44, uid: 1000 },
  });
  assert.equal(findFrame(synthHandlerFrame([]), { ...registers, x5: 1 }), undefined);
});

test('hostile: records of the processor that have no end or no size', () => {
  const registers = { x0: 7, sp, pc: 0x1234 };
  for (const size of [0, 4, 9, 4096, 0xffff_fff8]) {
    const frame = synthHandlerFrame([]);
    frame.writeUInt32LE(size, 596);
    assert.equal(findFrame(frame, registers)?.syndrome, undefined, `${size}`);
  }
});

test('hostile: a status and a mask that end early', () => {
  const short = [synthNote('CORE', 1, Buffer.alloc(336)), synthNote('LINUX', 0x406, Buffer.alloc(8))];
  const core = read(synthCore(short, [], arm64));
  assert.match(core.problems.join(), /pr_reg.*insn_mask/s);
  assert.deepEqual(core.threads, []);
});

test('flipped bytes never do more than a clear error or a problem', () => {
  const small = synthCore(
    [synthArm64Thread(1, 11, { sp, pc: 0x1234 }), synthMasks(0n, 1n)],
    [{ address: sp, bytes: Buffer.alloc(64) }],
    arm64,
  );
  const flip = fc.record({ at: fc.nat(small.length - 1), value: fc.nat(255) });
  fc.assert(
    fc.property(fc.array(flip, { minLength: 1, maxLength: 6 }), (flips) => {
      const bytes = Buffer.from(small);
      for (const { at, value } of flips) bytes[at] = value;
      try {
        const core = read(bytes);
        const memory = new ProcessMemory(coreExtents(core));
        for (const { registers } of core.threads) findDeadSignalFrameArm64(registers, memory);
      } catch (error) {
        assert.ok(error instanceof AgentdumpError && error.code === 'malformed-input', `${error}`);
      }
    }),
    { numRuns: fuzzRuns(2000) },
  );
});
