import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bytesSource } from '../../../src/bytes/byte-source.ts';
import { ProcessMemory } from '../../../src/bytes/memory.ts';
import { AgentdumpError } from '../../../src/errors.ts';
import { coreExtents, readCore } from '../../../src/formats/elf-core/core-file.ts';
import { findDeadSignalFrame } from '../../../src/formats/elf-core/signal-frame.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';
import {
  synthCore,
  synthElf,
  synthFiles,
  synthNote,
  synthProcess,
  synthSignal,
  synthThread,
} from '../../support/synth/synth-elf.ts';

const notes = [
  synthThread(41, 11, { rip: 0x1000, rsp: 0x7000 }),
  synthThread(42, 0, { rip: 0x2000, rsp: 0x9000 }),
  synthProcess(41, 'node', 'node app.js'),
  synthSignal(11, 1, 0x18),
  synthFiles([{ start: 0x1000, end: 0x3000, offset: 0x1000, path: '/usr/bin/nöde' }]),
];
const small = synthCore(notes, [{ address: 0x7000, bytes: Buffer.from('stack!!!') }]);
const read = (bytes: Uint8Array) => readCore(bytesSource(bytes));

test('the smallest core', () => {
  const core = read(synthCore([], []));
  assert.deepEqual([core.threads, core.segments, core.files, core.problems], [[], [], [], []]);
});

test('threads, process, signal, files and memory', () => {
  const core = read(small);
  assert.deepEqual(
    core.threads.map((t) => [t.tid, t.signal, t.registers.rip, t.registers.rsp]),
    [
      [41, 11, 0x1000n, 0x7000n],
      [42, 0, 0x2000n, 0x9000n],
    ],
  );
  assert.deepEqual(core.process, {
    pid: 41,
    parentPid: 1,
    uid: 1000,
    program: 'node',
    arguments: 'node app.js',
  });
  assert.deepEqual(core.signal, { number: 11, code: 1, address: 0x18n });
  assert.deepEqual(core.files, [{ start: 0x1000, end: 0x3000, fileOffset: 0x1000, path: '/usr/bin/nöde' }]);
  assert.equal(Buffer.from(new ProcessMemory(coreExtents(core)).readBytes(0x7000, 8)).toString(), 'stack!!!');
});

test('hostile: cut off at every byte, a core gives an error or what is there and says so', () => {
  for (let length = 0; length < small.length; length++) {
    try {
      const core = read(small.subarray(0, length));
      assert.ok(core.problems.length > 0, `${length} bytes`);
    } catch (error) {
      assert.ok(error instanceof AgentdumpError && error.code === 'malformed-input', `${length}: ${error}`);
    }
  }
});

test("hostile: another machine's core is refused by name", () => {
  assert.throws(() => read(synthCore([], [], 40)), { code: 'malformed-input', message: /ARM/ });
  assert.throws(() => read(synthCore([], [], 9999)), { code: 'malformed-input', message: /machine 9999/ });
});

test('hostile: what is no core', () => {
  assert.throws(() => read(synthElf({ type: 2, segments: [] })), {
    code: 'malformed-input',
    message: /e_type/,
  });
  assert.throws(() => read(Buffer.from('not a core at all'.repeat(10))), { code: 'malformed-input' });
  assert.throws(() => read(new Uint8Array()), { code: 'malformed-input' });
});

test('hostile: a count of segments beyond the file', () => {
  const bytes = Buffer.from(small);
  bytes.writeUInt16LE(60000, 56);
  assert.match(read(bytes).problems.join(), /table of segments is cut off/);
});

test('hostile: 2^32 segments by the extended count', () => {
  const bytes = Buffer.concat([small, Buffer.alloc(64, 0xff)]);
  bytes.writeUInt16LE(0xffff, 56);
  bytes.writeBigUInt64LE(BigInt(small.length), 40);
  assert.match(read(bytes).problems.join(), /of 4294967295 are there/);
});

test('hostile: a note and a list of files that lie about their size', () => {
  const note = synthNote('CORE', 1, Buffer.alloc(8));
  note.writeUInt32LE(0xffff_fff0, 4);
  assert.match(read(synthCore([note], [])).problems.join(), /beyond the end of the notes/);
  assert.match(read(synthCore([synthFiles([], 2 ** 40)], [])).problems.join(), /NT_FILE count/);
  assert.match(read(synthCore([synthNote('CORE', 1, Buffer.alloc(40))], [])).problems.join(), /pr_reg/);
});

test('hostile: segments on top of each other, one as large as the address space', () => {
  const core = read(
    synthCore(
      [],
      [
        { address: 0x1000, bytes: Buffer.from('aa'), memorySize: 0x2000 },
        { address: 0x1000, bytes: Buffer.from('bb') },
        { address: 0x8000, bytes: Buffer.from('cc'), memorySize: 2 ** 52 },
      ],
    ),
  );
  assert.match(core.problems.join(), /1 segments overlap/);
  const memory = new ProcessMemory(coreExtents(core));
  assert.equal(memory.readUint8(0x1000), 0x61);
  assert.equal(memory.has(0x8002, 1), false);
});

test('flipped bytes never do more than a clear error or a problem', () => {
  const flip = fc.record({ at: fc.nat(small.length - 1), value: fc.nat(255) });
  fc.assert(
    fc.property(fc.array(flip, { minLength: 1, maxLength: 6 }), (flips) => {
      const bytes = Buffer.from(small);
      for (const { at, value } of flips) bytes[at] = value;
      try {
        const core = read(bytes);
        for (const s of core.segments)
          assert.ok(s.end > s.start && s.fileOffset + s.fileSize <= Math.max(bytes.length, s.fileOffset));
        new ProcessMemory(coreExtents(core)).has(0x7000, 8);
      } catch (error) {
        assert.ok(error instanceof AgentdumpError && error.code === 'malformed-input', `${error}`);
      }
    }),
    { numRuns: fuzzRuns(2000) },
  );
});

test('a dead signal frame is found by its registers, and a stale one of other registers is not', () => {
  const stack = Buffer.alloc(8192);
  const frame = 4096 - 1024;
  stack.writeBigUInt64LE(0x5000n + 4096n, frame + 48 + 120);
  stack.writeBigUInt64LE(0x1234n, frame + 48 + 128);
  stack.writeUInt32LE(6, frame + 48 + 152);
  stack.writeUInt32LE(14, frame + 48 + 160);
  stack.writeBigUInt64LE(0xdead_beefn, frame + 48 + 176);
  const core = read(
    synthCore([synthThread(1, 11, { rip: 0x1234, rsp: 0x6000 })], [{ address: 0x5000, bytes: stack }]),
  );
  const memory = new ProcessMemory(coreExtents(core));
  const registers = core.threads[0]?.registers;
  assert.ok(registers);
  const found = findDeadSignalFrame(registers, memory);
  assert.deepEqual(found, { address: 0x5000 + frame, trap: 14, errorCode: 6, faultAddress: 0xdead_beefn });
  assert.equal(findDeadSignalFrame({ ...registers, rbx: 1n }, memory), undefined);
});
