/** The call before a return address must lead to the function of the frame above: machine code laid out here, for x86-64 and arm64. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { CoreDump } from '../../../../src/analysis/core/core-dump.ts';
import type { Machine } from '../../../../src/analysis/core/native/machine.ts';
import { makeArm64 } from '../../../../src/analysis/core/native/machine-arm64.ts';
import { x64 } from '../../../../src/analysis/core/native/machine-x64.ts';
import { ModuleMap } from '../../../../src/analysis/core/native/module-map.ts';
import type { NativeFrame } from '../../../../src/analysis/core/native/native-stack.ts';
import { doubtReturn, noCall, otherCall } from '../../../../src/analysis/core/native/return-address.ts';
import type { ElfSymbol } from '../../../../src/formats/elf/symbols.ts';
import { moduleOfCode } from '../../../support/cores/module-of-code.ts';

const base = 0x10_0000;
const size = 0x1000;
const step = 0x100;
/** Functions of 256 bytes: `caller`, `callee`, `tail`, `other`, `table`; and `far`, which `tail` reaches by two jumps. */
const names = ['caller', 'callee', 'tail', 'other', 'table', 'far'];
const at = (name: string) => names.indexOf(name) * step;

/** A module whose code is given by function, and the word that a linkage entry jumps to. */
function dumpOf(
  machine: Machine,
  code: Record<string, number[]>,
  word?: number,
  { labels = {}, ...renamed }: { caller?: string; callee?: string; labels?: Record<string, number> } = {},
): CoreDump {
  const image = new Uint8Array(size).fill(0x90);
  for (const [name, bytes] of Object.entries(code)) image.set(bytes, at(name));
  const symbols: ElfSymbol[] = names.map((name) => ({
    name: (renamed as Record<string, string>)[name] ?? name,
    address: at(name),
    size: step,
    type: 2,
  }));
  const module = moduleOfCode('/bin/program', base, size, {
    findFunction: (address) => symbols.find((s) => address >= s.address && address < s.address + s.size),
    findNamed: (name) =>
      labels[name] === undefined ? undefined : { name, address: labels[name], size: 0, type: 0 },
    findBytes: (address, length) => image.slice(address, address + length),
  });
  const memory = { has: () => false, findWord: () => word };
  return { machine, modules: new ModuleMap([module]), memory } as unknown as CoreDump;
}

function frameAt(dump: CoreDump, address: number): NativeFrame {
  const programCounter = base + address;
  const lookupAddress = programCounter - 1;
  const location = dump.modules.find(lookupAddress);
  return { programCounter, lookupAddress, location } as unknown as NativeFrame;
}

/** Reads the return address `behind` bytes into `caller`, with the frame of `callee` above it. */
const doubt = (dump: CoreDump, behind: number, callee = 'callee') =>
  doubtReturn(frameAt(dump, behind), frameAt(dump, at(callee) + 32), dump);

const displacement = (from: number, to: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(to - from);
  return [...bytes];
};
/** `call` at offset 16 of `caller`; the return address is 21. */
const callX64 = (name: string) => [...new Array(16).fill(0x90), 0xe8, ...displacement(21, at(name))];
const jumpX64 = (from: string, to: string) => [0xe9, ...displacement(at(from) + 5, at(to))];

suite('x86-64', () => {
  test('the function that is called', () => {
    assert.equal(doubt(dumpOf(x64, { caller: callX64('callee') }), 21), undefined);
  });

  test('another function', () => {
    assert.equal(doubt(dumpOf(x64, { caller: callX64('other') }), 21), otherCall);
  });

  test('no call', () => {
    assert.equal(doubt(dumpOf(x64, { caller: callX64('callee') }), 23), noCall);
  });

  test('a function that jumps there, also by another', () => {
    const code = { caller: callX64('tail'), tail: jumpX64('tail', 'far'), far: jumpX64('far', 'callee') };
    assert.equal(doubt(dumpOf(x64, code), 21), undefined);
    assert.equal(doubt(dumpOf(x64, { ...code, far: jumpX64('far', 'other') }), 21), otherCall);
  });

  test('a conditional jump', () => {
    const tail = [0x0f, 0x84, ...displacement(at('tail') + 6, at('callee') + 8)];
    assert.equal(doubt(dumpOf(x64, { caller: callX64('tail'), tail }), 21), undefined);
  });

  test('a function that jumps to what a register contains may lead anywhere', () => {
    assert.equal(doubt(dumpOf(x64, { caller: callX64('tail'), tail: [0xff, 0xe0] }), 21), undefined);
  });

  test('a function written in assembly, whose symbol has no size', () => {
    const dump = dumpOf(x64, { caller: callX64('tail'), tail: jumpX64('tail', 'callee') });
    const { code } = dump.modules.modules[0] ?? {};
    const find = code?.findFunction.bind(code);
    Object.assign(code ?? {}, {
      findFunction: (address: number) => {
        const found = find?.(address);
        return found?.name === 'callee' ? { ...found, size: 0 } : found;
      },
    });
    assert.equal(doubt(dump, 21), undefined);
  });

  test('an indirect call may be of any function', () => {
    const caller = [...new Array(16).fill(0x90), 0xff, 0xd0];
    assert.equal(doubt(dumpOf(x64, { caller }), 18), undefined);
  });

  test('an entry of the linkage table, not resolved yet or without its word', () => {
    const code = { caller: callX64('table'), table: [0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0, 0, 0, 0] };
    assert.equal(doubt(dumpOf(x64, code, base + at('table') + 10), 21), undefined);
    assert.equal(doubt(dumpOf(x64, code), 21), undefined);
  });

  test('where the frame above is not known, nothing is compared', () => {
    const dump = dumpOf(x64, { caller: callX64('other') });
    assert.equal(doubtReturn(frameAt(dump, 21), undefined, dump), undefined);
  });
});

/** Two calls, each with a jump behind it: the first to offset 32, the second to 40; at 48 a jump to 32. */
const stub = () => {
  const code = new Array(64).fill(0x90);
  code.splice(8, 4, 0xff, 0xd1, 0xeb, 20);
  code.splice(16, 4, 0xff, 0xd1, 0xeb, 20);
  code.splice(48, 5, 0xe9, ...displacement(53, 32));
  return code;
};

suite('where the deoptimizer of V8 lets a frame return to', () => {
  const places = [10, 12, 18, 20, 30, 32, 33, 40, 48, 53];
  const accepted = (dump: CoreDump) =>
    places.filter(
      (place) => doubtReturn(frameAt(dump, place), frameAt(dump, at('callee')), dump) === undefined,
    );
  const behindCalls = [10, 18];

  test('the built-ins of `new`: where the first jump behind a call leads', () => {
    for (const caller of [
      'Builtins_JSConstructStubGeneric',
      'Builtins_InterpreterPushArgsThenFastConstructFunction',
    ])
      assert.deepEqual(accepted(dumpOf(x64, { caller: stub() }, undefined, { caller })), [
        ...behindCalls,
        32,
        48,
      ]);
  });

  test('the built-ins of `new`: no other place than the two that the executable names', () => {
    const labels = { construct_stub_create_deopt_addr: 33, construct_stub_invoke_deopt_addr: 40 };
    const caller = 'Builtins_JSConstructStubGeneric';
    const dump = dumpOf(x64, { caller: stub() }, undefined, { caller, labels });
    assert.deepEqual(accepted(dump), [...behindCalls, 33, 40]);
  });

  test('no other built-in, and no other function', () => {
    for (const caller of ['Builtins_JSBuiltinsConstructStub', 'JSConstructStubGeneric'])
      assert.deepEqual(accepted(dumpOf(x64, { caller: stub() }, undefined, { caller })), behindCalls);
  });

  test('the start of a built-in that interprets or continues, and of no other', () => {
    const starts = (callee: string) => {
      const dump = dumpOf(x64, {}, undefined, { callee });
      return doubtReturn(frameAt(dump, at('callee')), undefined, dump) === undefined;
    };
    for (const name of [
      'InterpreterEnterAtBytecode',
      'InterpreterEnterAtNextBytecode',
      'BaselineOrInterpreterEnterAtNextBytecode',
      'ContinueToCodeStubBuiltin',
      'ContinueToJavaScriptBuiltinWithResult',
    ])
      assert.ok(starts(`Builtins_${name}`), name);
    for (const name of ['InterpreterEntryTrampoline', 'ArrayMap', 'JSConstructStubGeneric'])
      assert.ok(!starts(`Builtins_${name}`), name);
  });
});

suite('arm64', () => {
  const machine = makeArm64(undefined);
  const word = (value: number) => [...Buffer.from(Uint32Array.of(value >>> 0).buffer)];
  const branch = (opcode: number, from: number, to: number) =>
    word(((opcode << 26) >>> 0) + (((to - from) / 4) & 0x3ffffff));
  const call = (name: string) => [...word(0xd503201f), ...branch(0b100101, 4, at(name))];
  const jump = (from: string, to: string) => branch(0b000101, at(from), at(to));

  test('the function that is called, another, and one that jumps there', () => {
    assert.equal(doubt(dumpOf(machine, { caller: call('callee') }), 8), undefined);
    const none = word(0xd65f03c0);
    assert.equal(doubt(dumpOf(machine, { caller: call('other'), other: none }), 8), otherCall);
    const code = { caller: call('tail'), tail: jump('tail', 'callee') };
    assert.equal(doubt(dumpOf(machine, code), 8), undefined);
    assert.equal(doubt(dumpOf(machine, { ...code, tail: jump('tail', 'other') }), 8), otherCall);
    assert.equal(doubt(dumpOf(machine, { ...code, tail: word(0xd61f0200) }), 8), undefined);
  });

  test('where the first jump behind a call of the built-in of `new` leads', () => {
    const code = [
      ...call('callee'),
      ...branch(0b000101, 8, 20),
      ...word(0),
      ...word(0),
      ...word(0),
      ...word(0),
    ];
    const caller = 'Builtins_JSConstructStubGeneric';
    const dump = dumpOf(machine, { caller: code }, undefined, { caller });
    assert.deepEqual(
      [12, 16, 20, 24].filter((place) => doubt(dump, place) === undefined),
      [20],
    );
  });

  test('no call', () => {
    assert.equal(doubt(dumpOf(machine, { caller: call('callee') }), 4), noCall);
  });
});
