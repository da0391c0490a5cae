import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bytesSource, readExactly, sliceSource } from '../../src/bytes/byte-source.ts';
import { ByteCursor } from '../../src/bytes/cursor.ts';
import { AbsentMemory, flattenExtents, ProcessMemory } from '../../src/bytes/memory.ts';
import '../support/run/fuzz-runs.ts';

const ramp = (length: number, first = 0) => Uint8Array.from({ length }, (_, i) => (first + i) & 255);

test('a value is read across the end of a window', () => {
  const memory = new ProcessMemory([
    { start: 65536 - 16, end: 65536 + 16, source: bytesSource(ramp(32)), offset: 0 },
  ]);
  assert.equal(memory.readBigWord(65536 - 4), 0x13_12_11_10_0f_0e_0d_0cn);
  assert.equal(memory.readUint32(65536 - 2), 0x11_10_0f_0e);
  assert.deepEqual([...memory.readBytes(65536 - 1, 2)], [15, 16]);
});

test('words are exact for addresses and for small integers of either sign', () => {
  const bytes = Buffer.alloc(24);
  bytes.writeBigUInt64LE(0x7fff_1234_5679n, 0);
  bytes.writeBigInt64LE(-7n << 32n, 8);
  bytes.writeBigInt64LE(2147483647n << 32n, 16);
  const memory = new ProcessMemory([{ start: 4096, end: 4120, source: bytesSource(bytes), offset: 0 }]);
  assert.equal(memory.readWord(4096), 0x7fff_1234_5679);
  assert.equal(memory.readWord(4104) / 2 ** 32, -7);
  assert.equal(memory.readWord(4112) / 2 ** 32, 2147483647);
});

test('what is absent is said, not read as zero', () => {
  const memory = new ProcessMemory([{ start: 4096, end: 4104, source: bytesSource(ramp(8)), offset: 0 }]);
  assert.throws(() => memory.readWord(4097), AbsentMemory);
  assert.throws(() => memory.readUint8(4104), AbsentMemory);
  assert.throws(() => memory.readUint8(-1), AbsentMemory);
  assert.throws(() => memory.readUint8(Number.NaN), AbsentMemory);
  assert.throws(() => memory.readBytes(4096, 2 ** 40), AbsentMemory);
  // So large that adding the length of a word changes nothing, and neither does adding one to the number of a block.
  for (const wild of [5438698386637193000, 2 ** 53, 2 ** 63]) {
    memory.touchedBlocks = new Set();
    assert.throws(() => memory.readWord(wild), AbsentMemory);
  }
  assert.equal(memory.findWord(4096), Number(0x07060504_03020100n));
  assert.equal(memory.findWord(5000), undefined);
});

test('a source that is shorter than its extent gives what it has', () => {
  const memory = new ProcessMemory([{ start: 4096, end: 8192, source: bytesSource(ramp(10)), offset: 0 }]);
  assert.equal(memory.readUint8(4105), 9);
  assert.throws(() => memory.readUint8(4106), AbsentMemory);
});

test('what was read is recorded when asked for', () => {
  const memory = new ProcessMemory([{ start: 0, end: 20000, source: bytesSource(ramp(20000)), offset: 0 }]);
  memory.readUint8(1);
  memory.touchedBlocks = new Set();
  memory.readWord(1022);
  memory.readBytes(12_800, 200);
  assert.deepEqual(
    [...memory.touchedBlocks].sort((a, b) => a - b),
    [63, 64, ...Array.from({ length: 13 }, (_, i) => 800 + i)],
  );
});

test('overlapping extents: the earlier of the list wins, byte by byte', () => {
  const extent = fc.record({ start: fc.nat(60), length: fc.nat(30) });
  fc.assert(
    fc.property(fc.array(extent, { maxLength: 8 }), (list) => {
      const extents = list.map(({ start, length }, i) => ({
        start,
        end: start + length,
        source: bytesSource(new Uint8Array(length).fill(i + 1)),
        offset: 0,
      }));
      const flat = flattenExtents(extents);
      for (const [i, e] of flat.entries()) assert.ok(i === 0 || (flat[i - 1]?.end ?? 0) <= e.start);
      const memory = new ProcessMemory(extents);
      for (let at = 0; at < 100; at++) {
        const wanted = extents.findIndex((e) => at >= e.start && at < e.end);
        if (wanted < 0) assert.equal(memory.has(at, 1), false);
        else assert.equal(memory.readUint8(at), wanted + 1);
      }
    }),
  );
});

test('the cursor stops at the end and says where', () => {
  const cursor = new ByteCursor(ramp(6), 'demo');
  cursor.u32('first');
  assert.throws(() => cursor.u32('second'), {
    code: 'malformed-input',
    message: /demo: second: wanted 4 bytes/,
  });
  assert.equal(cursor.u16('third'), 0x0504);
});

test('LEB128 as DWARF writes it', () => {
  const signed = (bytes: number[]) => new ByteCursor(Uint8Array.from(bytes), 'demo').sleb('x');
  const unsigned = (bytes: number[]) => new ByteCursor(Uint8Array.from(bytes), 'demo').uleb('x');
  assert.equal(unsigned([0xe5, 0x8e, 0x26]), 624485n);
  assert.equal(signed([0x7f]), -1n);
  assert.equal(signed([0x80, 0x7f]), -128n);
  assert.equal(signed([0xff, 0x00]), 127n);
  assert.equal(unsigned([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]), 2n ** 64n - 1n);
  assert.throws(() => unsigned(Array(11).fill(0x80)), { code: 'malformed-input' });
});

test('nothing is allocated for a length that the input cannot hold', () => {
  const source = bytesSource(ramp(10));
  const name = { format: 'demo', field: 'body' };
  assert.throws(() => readExactly(source, 4, 2 ** 50, name), { code: 'malformed-input' });
  assert.throws(() => readExactly(source, -1, 1, name), { code: 'malformed-input' });
  assert.deepEqual([...readExactly(sliceSource(source, 8, 100), 0, 2, name)], [8, 9]);
  assert.throws(() => readExactly(sliceSource(source, 8, 100), 0, 3, name), { code: 'malformed-input' });
});

test('a released memory reads on, and what another reads into its windows stays apart', () => {
  const first = new ProcessMemory([{ start: 0, end: 100, source: bytesSource(ramp(100)), offset: 0 }]);
  assert.equal(first.readUint8(50), 50);
  first.release();
  const second = new ProcessMemory([{ start: 0, end: 8, source: bytesSource(new Uint8Array(8)), offset: 0 }]);
  assert.equal(second.readUint8(4), 0);
  assert.throws(() => second.readUint8(50), AbsentMemory);
  assert.equal(first.readUint8(4), 4);
  assert.equal(second.readUint8(4), 0);
});
