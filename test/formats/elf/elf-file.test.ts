import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesSource, FileSource } from '../../../src/bytes/byte-source.ts';
import { AgentdumpError } from '../../../src/errors.ts';
import { findFileOffset, findVirtualAddress, readElf } from '../../../src/formats/elf/elf-file.ts';
import { findBuildId } from '../../../src/formats/elf/notes.ts';
import { findSymbolTable, SymbolTable } from '../../../src/formats/elf/symbols.ts';
import { nodes } from '../../support/cores/core-victims.ts';
import { synthElf, synthNote } from '../../support/synth/synth-elf.ts';

const buildId = synthNote('GNU', 3, Buffer.from('0123456789abcdef', 'hex'));
const object = synthElf({
  type: 3,
  segments: [
    { type: 1, address: 0x400000, bytes: Buffer.alloc(64, 0x90), memorySize: 4096 },
    { type: 4, bytes: buildId },
  ],
});

function synthSymbols(list: { name: string; address: number; size: number; type?: number }[]): SymbolTable {
  const names = ['', ...list.map((s) => s.name)].join('\0');
  const symbols = Buffer.alloc(24 * list.length);
  list.forEach((s, i) => {
    symbols.writeUInt32LE(names.indexOf(`\0${s.name}`) + 1, i * 24);
    symbols.writeUInt8(0x10 | (s.type ?? 2), i * 24 + 4);
    symbols.writeUInt16LE(1, i * 24 + 6);
    symbols.writeBigUInt64LE(BigInt(s.address), i * 24 + 8);
    symbols.writeBigUInt64LE(BigInt(s.size), i * 24 + 16);
  });
  return new SymbolTable(symbols, Buffer.from(`${names}\0`));
}

test('the smallest object: its segments, places and build id', () => {
  const file = readElf(bytesSource(object));
  assert.equal(file.machine, 62);
  assert.equal(findBuildId(file), '0123456789abcdef');
  const offset = file.segments[0]?.offset ?? 0;
  assert.equal(findVirtualAddress(file, offset + 5), 0x400005);
  assert.equal(findFileOffset(file, 0x400005), offset + 5);
  assert.equal(findFileOffset(file, 0x400000 + 64), undefined);
});

test('hostile: cut off at every byte', () => {
  for (let length = 0; length < 64 + 2 * 56; length++)
    assert.throws(() => readElf(bytesSource(object.subarray(0, length))), { code: 'malformed-input' });
});

test('hostile: every byte with every value', () => {
  for (let at = 0; at < object.length; at++)
    for (let value = 0; value < 256; value++) {
      const bytes = Buffer.from(object);
      bytes[at] = value;
      try {
        const id = findBuildId(readElf(bytesSource(bytes)));
        assert.ok(id === undefined || /^([0-9a-f]{2})*$/.test(id));
      } catch (error) {
        assert.ok(error instanceof AgentdumpError && error.code === 'malformed-input', `${at}: ${error}`);
      }
    }
});

test('an address belongs to the nearest function that reaches it, by its plainest name', () => {
  const table = synthSymbols([
    { name: 'outer', address: 100, size: 100 },
    { name: '__alias', address: 300, size: 10 },
    { name: 'alias', address: 300, size: 10 },
    { name: 'inner', address: 120, size: 10 },
    { name: 'datum', address: 125, size: 4, type: 1 },
  ]);
  assert.equal(table.findFunction(125)?.name, 'inner');
  assert.equal(table.findFunction(150)?.name, 'outer');
  assert.equal(table.findFunction(200), undefined);
  assert.equal(table.findFunction(99), undefined);
  assert.equal(table.findFunction(305)?.name, 'alias');
});

test('symbols by name and by prefix', () => {
  const table = synthSymbols([
    { name: 'v8dbg_a', address: 1, size: 4 },
    { name: 'v8dbg_b', address: 2, size: 4 },
    { name: 'not_v8dbg_c', address: 3, size: 4 },
  ]);
  assert.deepEqual(
    table.withPrefix('v8dbg_').map((s) => s.name),
    ['v8dbg_a', 'v8dbg_b'],
  );
  assert.equal(table.find('v8dbg_b')?.address, 2);
  assert.equal(table.find('v8dbg'), undefined);
});

test('a symbol without a name names no function', () => {
  const table = synthSymbols([
    { name: 'first', address: 0x1000, size: 0x10, type: 2 },
    { name: '', address: 0x2000, size: 0x10, type: 2 },
  ]);
  assert.equal(table.findFunction(0x1004)?.name, 'first');
  assert.notEqual(table.findFunction(0x2004)?.name, '');
});

for (const node of nodes)
  test(`Node ${node.major}: symbols and build id of the real thing`, () => {
    const source = new FileSource(node.path);
    const file = readElf(source);
    assert.match(findBuildId(file) ?? '', /^[0-9a-f]{40}$/);
    const exported = findSymbolTable(file, 'dynamic');
    assert.ok((exported?.withPrefix('v8dbg_').length ?? 0) > 400);
    const all = findSymbolTable(file, 'full');
    const start = all?.find('_ZN4node5StartEiPPc');
    assert.ok(start);
    assert.equal(all?.findFunction(start.address + 1)?.name, start.name);
    source.close();
  });
