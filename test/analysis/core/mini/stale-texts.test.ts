/**
 * What a mini core must not keep of reused memory: strings on a stack that the analysis did not read, and vector registers.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blankStaleTexts } from '../../../../src/analysis/core/mini/stale-texts.ts';
import { withoutVectorRegisters } from '../../../../src/formats/elf-core/core-notes.ts';
import { buildNote } from '../../../../src/formats/elf-core/write-core.ts';

const start = 0x7ffc_0000_1000;

function blanked(bytes: Buffer, read: number[] = []): Buffer {
  const copy = Buffer.from(bytes);
  blankStaleTexts(copy, start, new Set(read.map((at) => (start + at) / 16)));
  return copy;
}

test('the rest of a text goes at its length, addresses stay', () => {
  const address = Buffer.from('e8657167fd7f0000', 'hex');
  const text = Buffer.from('processTicksAndRejections\x005b7b6224289769a365b4b5d\0');
  const found = blanked(Buffer.concat([address, text, address]));
  const stars = `${'*'.repeat(25)}\0${'*'.repeat(23)}\0`;
  assert.deepEqual(found, Buffer.concat([address, Buffer.from(stars), address]));
});

test('in two-byte characters, at an even and at an odd address', () => {
  const wide = Buffer.from('bcee4740f175\u0001', 'utf16le');
  for (const before of ['', '\x07'])
    assert.equal(
      blanked(Buffer.concat([Buffer.from(before), wide])).toString('utf16le', before.length),
      `${'*'.repeat(12)}\u0001`,
    );
});

test('a text that was read to its end stays, and one of which a part was read goes', () => {
  const text = Buffer.from(`${'an assertion that failed, and was read'.padEnd(48)}`);
  assert.deepEqual(blanked(text, [0, 16, 32]), text);
  assert.equal(blanked(text, [0, 32]).toString(), '*'.repeat(48));
});

test('vector registers go, with what else of an architecture the kernel notes; the others stay in their order', () => {
  const notes = [
    buildNote('CORE', 1, Buffer.alloc(336, 1)),
    buildNote('CORE', 2, Buffer.alloc(512, 2)),
    buildNote('LINUX', 0x202, Buffer.alloc(2696, 3)),
    buildNote('CORE', 0x46494c45, Buffer.alloc(80, 4)),
  ];
  assert.deepEqual(withoutVectorRegisters(Buffer.concat(notes)), Buffer.concat([notes[0]!, notes[3]!]));
});
