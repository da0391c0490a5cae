/**
 * Unwinding arm64 stacks on any machine: a small core of hand-made code, tables and stack, and how the files are found if a
 * core names none. Real cores are in emulated-arm64.wide.test.ts.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findLinkedFiles } from '../../../../src/analysis/core/native/linked-files.ts';
import { machineOf } from '../../../../src/analysis/core/native/machines.ts';
import type { ModuleCode } from '../../../../src/analysis/core/native/module-code.ts';
import { ModuleMap } from '../../../../src/analysis/core/native/module-map.ts';
import { walkNativeStack } from '../../../../src/analysis/core/native/native-stack.ts';
import { bytesSource } from '../../../../src/bytes/byte-source.ts';
import { ProcessMemory } from '../../../../src/bytes/memory.ts';
import { coreExtents, readCore } from '../../../../src/formats/elf-core/core-file.ts';
import type { Gap } from '../../../../src/model/verdict.ts';
import { synthArm64Thread, synthCore, synthElf, synthNote } from '../../../support/synth/synth-elf.ts';

const arm64 = 183;
const text = 0x40_0000;
const stack = 0x7000;
/** A pointer signature, in the bits that are zero in every user-space address. */
const signed = (address: number) => BigInt(address) | (0x2an << 48n);
const words = (...values: (number | bigint)[]) => {
  const bytes = Buffer.alloc(values.length * 8);
  values.forEach((value, i) => {
    bytes.writeBigUInt64LE(BigInt(value), i * 8);
  });
  return bytes;
};
const instructions = (...values: number[]) => {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, i) => {
    bytes.writeUInt32LE(value, i * 4);
  });
  return bytes;
};

/** As GCC writes them: DW_CFA_def_cfa sp 0 for all functions, then what each does to its stack. */
const tables: Record<number, number[]> = {
  // A leaf function: its return address is in x30.
  0: [],
  // def_cfa_offset 32, x29 at cfa-32, x30 at cfa-24, the return address is signed.
  256: [0x2d, 0x0e, 32, 0x9d, 4, 0x9e, 3],
  // The start of a thread: x30 is undefined.
  768: [0x07, 30],
};

function open(registers: Record<string, number>, stackBytes: Buffer, code: Record<number, Buffer> = {}) {
  const image = Buffer.alloc(0x1000);
  for (const [at, bytes] of Object.entries(code)) bytes.copy(image, Number(at));
  const core = readCore(
    bytesSource(
      synthCore(
        [synthArm64Thread(1, 11, registers)],
        [
          { address: stack, bytes: stackBytes },
          { address: text, bytes: image, flags: 5 },
        ],
        arm64,
      ),
    ),
  );
  const common = {
    codeAlign: 4n,
    dataAlign: -8n,
    returnRegister: 30,
    pointerEncoding: 0,
    hasAugmentation: true,
    isSignalFrame: false,
    instructions: Uint8Array.from([0x0c, 31, 0]),
  };
  const module: ModuleCode = {
    segments: [
      {
        type: 1,
        flags: 5,
        offset: 0,
        virtualAddress: text,
        fileSize: 0x1000,
        memorySize: 0x1000,
        align: 4096,
      },
    ],
    findExported: () => undefined,
    exportedWithPrefix: () => [],
    findNamed: () => undefined,
    findFunction: (address) => ({ name: 'f', address: address - (address % 0x100), size: 0x100, type: 2 }),
    findFrame: (address) => {
      const start = address - (address % 0x100);
      const table = tables[start - text];
      return table && { common, start, end: start + 0x100, instructions: Uint8Array.from(table) };
    },
    findBytes: (address, length) => image.subarray(address - text, address - text + length),
    close: () => {},
  };
  const mapping = { start: text, end: text + 0x1000, fileOffset: 0, path: '/bin/arm' };
  const modules = new ModuleMap([
    { path: '/bin/arm', start: text, end: text + 0x1000, mappings: [mapping], code: module },
  ]);
  const machine = machineOf(core);
  const memory = new ProcessMemory(coreExtents(core));
  const [thread] = core.threads;
  assert.ok(thread);
  return {
    machine,
    memory,
    stack: walkNativeStack(machine.registersOf(thread), { machine, modules, memory, core }),
  };
}

const at = (offset: number) => text + offset;

test('a leaf, a signed return address, and the first frame of a thread', () => {
  const bytes = words(0x7100, signed(at(0x304)), 0, 0);
  const { stack: found } = open({ pc: at(0x10), x30: at(0x120), sp: stack }, bytes);
  assert.deepEqual(
    found.frames.map(({ programCounter, stackPointer }) => [programCounter - text, stackPointer - stack]),
    [
      [0x10, 0],
      [0x120, 0],
      [0x304, 32],
    ],
  );
  assert.equal(found.stopped, undefined);
});

test('code without tables: what it pushed before its frame is between that and its caller', () => {
  // stp d8, d9; stp x19, x20; stp x29, x30, each [sp, #-16]!
  const code = { 512: instructions(0x6dbf27e8, 0xa9bf53f3, 0xa9bf7bfd) };
  const bytes = words(0, 0, 0, at(0x304), 11, 22, 0, 0, 0);
  const { stack: found } = open({ pc: at(0x240), x29: stack + 16, x30: 1, sp: stack }, bytes, code);
  const [, caller] = found.frames;
  assert.equal(caller?.programCounter, at(0x304));
  assert.equal(caller?.stackPointer, stack + 16 + 48);
  assert.deepEqual([caller?.registers.get(19), caller?.registers.get(20)], [11n, 22n]);
});

test('out of a signal handler into what it interrupted', () => {
  // mov x8, #139; svc #0
  const code = { 2048: instructions(0xd2801168, 0xd4000001) };
  const frame = Buffer.alloc(1024);
  const registersAt = 128 + 176 + 8;
  frame.writeBigUInt64LE(BigInt(at(0x304)), registersAt + 30 * 8);
  frame.writeBigUInt64LE(BigInt(stack + 1000), registersAt + 31 * 8);
  frame.writeBigUInt64LE(BigInt(at(0x10)), registersAt + 32 * 8);
  const { stack: found } = open({ pc: at(0x800), sp: stack }, frame, code);
  assert.deepEqual(
    found.frames.map(({ programCounter, isSignalReturn }) => [programCounter - text, isSignalReturn]),
    [
      [0x800, true],
      [0x10, undefined],
      [0x304, undefined],
    ],
  );
});

test('a jump to where no code is: the return address is still in its register', () => {
  const { stack: found } = open({ pc: 0, x30: at(0x304), sp: stack }, words(0, 0));
  assert.deepEqual(
    found.frames.map(({ programCounter }) => programCounter),
    [0, at(0x304)],
  );
});

test('hostile: a return address that is its own, and one that nobody knows, end the walk', () => {
  const own = open({ pc: at(0x10), x30: at(0x14), sp: stack }, words(0, 0)).stack;
  assert.match(own.stopped ?? '', /does not grow/);
  assert.equal(own.frames.length, 2);
  const partial = open({ pc: at(0x10), sp: stack }, words(0, 0)).stack;
  assert.match(partial.stopped ?? '', /return address is not known/);
});

test('calls: to a distance, through a register, with the target authenticated; nothing else', () => {
  const machine = machineOf({ machine: 'arm64' });
  for (const call of [0x94000010, 0x97ffffff, 0xd63f0100, 0xd63f0a9f, 0xd63f0e9f, 0xd73f0a9f, 0xd73f0e9f])
    assert.ok(machine.endsInCall(instructions(call)), call.toString(16));
  for (const other of [0x14000010, 0xd61f0100, 0xd65f03c0, 0xd503201f, 0xd63f0101])
    assert.ok(!machine.endsInCall(instructions(other)), other.toString(16));
  const { memory } = open({}, words(0), { 0: instructions(0x94000010), 4: instructions(0x97ffffff) });
  assert.equal(machine.findCallee(text + 4, memory), text + 64);
  assert.equal(machine.findCallee(text + 8, memory), text);
  assert.equal(machine.findCallee(text + 12, memory), undefined);
});

test('the kernel says which bits are a signature; without its word those above an address', () => {
  const of = (signatureBits?: bigint) =>
    machineOf({ machine: 'arm64', ...(signatureBits === undefined ? {} : { signatureBits }) });
  assert.equal(of().withoutSignature(0x002a_0000_0040_0304n), 0x40_0304n);
  assert.equal(of(0x00f0n << 48n).withoutSignature(0x00fa_0000_0040_0304n), 0x000a_0000_0040_0304n);
  assert.equal(machineOf({ machine: 'x64' }).withoutSignature(5n), 5n);
});

/** An executable with two entries in its dynamic section, and the memory of a process that loaded it at `base`. */
function synthLinked(executable: string, library: string) {
  const base = 0x10_0000;
  const dynamicAt = 0x2000;
  const entriesOf = (needed: bigint, debug: number) => words(1, needed, 21, debug, 0, 0);
  const program = (needed: bigint) =>
    synthElf({
      type: 3,
      machine: arm64,
      segments: [
        { type: 1, flags: 5, address: 0, bytes: Buffer.alloc(64), align: 4096 },
        { type: 2, address: dynamicAt, bytes: entriesOf(needed, 0) },
      ],
    });
  const debugAt = 0x5000;
  const names = Buffer.from(`${executable}\0${library}\0\0`);
  const link = (address: number, name: number, dynamic: number, next: number) =>
    words(address, 0x6000 + name, dynamic, next, 0, 0, 0, 0);
  const auxiliary = words(9, base, 31, 0x6000);
  const libraryAt = 0x30_0000;
  const core = readCore(
    bytesSource(
      synthCore(
        [synthNote('CORE', 6, auxiliary)],
        [
          { address: base + dynamicAt, bytes: entriesOf(5n, debugAt) },
          { address: libraryAt + dynamicAt, bytes: entriesOf(6n + BigInt(libraryAt), 0) },
          {
            address: debugAt,
            bytes: Buffer.concat([
              words(1, debugAt + 64, 0, 0, 0, 0, 0, 0),
              link(base, names.length - 1, base + dynamicAt, debugAt + 128),
              link(libraryAt, executable.length + 1, libraryAt + dynamicAt, 0),
            ]),
          },
          { address: 0x6000, bytes: names },
        ],
        arm64,
      ),
    ),
  );
  return { core, memory: new ProcessMemory(coreExtents(core)), base, libraryAt, program };
}

test("the files of a core that names none, by the dynamic linker's list", () => {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-linked-'));
  try {
    const [executable, library] = [join(folder, 'node'), join(folder, 'libc.so')];
    const { core, memory, base, libraryAt, program } = synthLinked(executable, library);
    const find = () => {
      const gaps: Gap[] = [];
      const { files } = findLinkedFiles(core, memory, undefined, gaps);
      return {
        files: files.map(({ path, start }) => [path, start]),
        reasons: gaps.map((g) => g.reason).join(),
      };
    };
    assert.match(find().reasons, /executable is not on this machine/);
    writeFileSync(executable, program(5n));
    writeFileSync(library, program(6n));
    assert.deepEqual(find().files, [
      [executable, base],
      [library, libraryAt],
    ]);
    assert.match(find().reasons, /no list of files and no build ids/);
    writeFileSync(library, program(7n));
    assert.deepEqual(find().files, [[executable, base]]);
    assert.match(find().reasons, /another build/);
    writeFileSync(executable, program(8n));
    assert.deepEqual(find().files, []);
    assert.match(find().reasons, /not the executable of this core/);
    writeFileSync(executable, 'no program');
    assert.match(find().reasons, /no dynamic section of this machine/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
