/** The safepoint table, from bytes laid out here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesSource } from '../../../src/bytes/byte-source.ts';
import { ProcessMemory } from '../../../src/bytes/memory.ts';
import { findDeoptimizationIndex, noDeoptimization } from '../../../src/formats/v8/frames/safepoints.ts';

const start = 0x10000;
const headerBytes = 12;
const registerBytes = 3;
const rowBytes = 1 + 1 + 1 + registerBytes;

/**
 * Rows with one byte each for program counter, index and trampoline (the last two plus one), followed by the register bits.
 */
function buildTable(rows: readonly [pc: number, index: number, trampoline: number][]): Uint8Array {
  const table = Buffer.alloc(headerBytes + rows.length * rowBytes, 0xff);
  table.writeUInt32LE(rows.length, headerBytes - 8);
  table.writeUInt32LE(1 | (registerBytes << 1) | (1 << 4) | (1 << 7), headerBytes - 4);
  rows.forEach(([pc, index, trampoline], i) => {
    table.set([pc, index + 1, trampoline + 1], headerBytes + i * rowBytes);
  });
  return table;
}

function find(table: Uint8Array, returnOffset: number): number | undefined {
  const extent = { start, end: start + table.length, source: bytesSource(table), offset: 0 };
  const place = { start, headerBytes, isMaglev: false, instructionSize: 100 };
  return findDeoptimizationIndex(new ProcessMemory([extent]), place, returnOffset);
}

const table = buildTable([
  [10, 4, -1],
  [20, -1, -1],
  [30, 7, 90],
]);

test('a call is found by its return address, or by its trampoline', () => {
  assert.equal(find(table, 10), 4);
  assert.equal(find(table, 30), 7);
  assert.equal(find(table, 90), 7);
});

test('a call that cannot deoptimise has none, nor has what is no call', () => {
  assert.equal(find(table, 20), noDeoptimization);
  assert.equal(find(table, 11), undefined);
});

test('the last row is read without the bits of its registers, which a mini core may lack', () => {
  assert.equal(find(table.subarray(0, table.length - registerBytes), 30), 7);
  assert.equal(find(table.subarray(0, table.length - registerBytes - 1), 30), undefined);
});

test('rows out of order, or beyond the code, make no sense', () => {
  assert.equal(
    find(
      buildTable([
        [30, 1, -1],
        [20, 2, -1],
      ]),
      20,
    ),
    undefined,
  );
  assert.equal(find(buildTable([[101, 1, -1]]), 101), undefined);
});

test('the rows of Maglev’s tables begin behind a header of sixteen bytes, whatever the common part has', () => {
  for (const common of [8, 12]) {
    const bytes = Buffer.alloc(16 + 2 * 4);
    bytes.writeUInt32LE(2, common - 8);
    bytes.writeUInt32LE(1 | (1 << 4) | (1 << 7), common - 4);
    bytes.set([10, 5, 0, 0xff, 20, 7, 0, 0xff], 16);
    const extent = { start, end: start + bytes.length, source: bytesSource(bytes), offset: 0 };
    const place = { start, headerBytes: common, isMaglev: true, instructionSize: 100 };
    assert.equal(findDeoptimizationIndex(new ProcessMemory([extent]), place, 20), 6);
  }
});
