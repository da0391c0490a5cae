/** A journal sealed to a recipient: nothing of its content is readable on the disk, and with the key all of it is. */
import assert from 'node:assert/strict';
import { createCipheriv } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { recordKinds } from '../../src/journal/layout/records.ts';
import { findJson, readJournal } from '../../src/journal/read/reader.ts';
import type { Unseal } from '../../src/journal/read/seal.ts';
import { RecordSeal } from '../../src/journal/write/seal.ts';
import { openJournal } from '../../src/journal/write/writer.ts';
import { fuzzRuns } from '../support/run/fuzz-runs.ts';
import { synthSegment } from '../support/synth/synth-journal.ts';

const root = mkdtempSync(join(tmpdir(), 'agentdump-sealed-'));
after(() => rmSync(root, { recursive: true }));
let folders = 0;
const newDir = () => join(root, String(folders++));

/** A fake recipient: wraps keys, opens them, and counts how many were wrapped. */
function wrapping(): { seal: RecordSeal; unseal: Unseal; wrapped: () => number } {
  let calls = 0;
  const seal = new RecordSeal((key) => {
    calls++;
    return Buffer.from(key).reverse();
  });
  return { seal, unseal: (bytes) => Buffer.from(bytes).reverse(), wrapped: () => calls };
}

const onDisk = (dir: string) =>
  Buffer.concat(
    readdirSync(dir)
      .sort()
      .map((name) => readFileSync(join(dir, name))),
  );
const textsOf = (reading: ReturnType<typeof readJournal>) =>
  [...reading.records]
    .filter(({ kind }) => kind === recordKinds.note)
    .map(({ payload }) => Buffer.from(payload).toString());

test('the content is on the disk as ciphertext only, at once, and the figures are clear', () => {
  const dir = newDir();
  const { seal, unseal, wrapped } = wrapping();
  const journal = openJournal({ dir, sessionId: 's', seal });
  journal.append(recordKinds.memorySample, '{"rss":77}');
  assert.equal(wrapped(), 0, 'no key before there is something to seal');
  journal.append(recordKinds.note, '"whispered"');
  journal.append(recordKinds.note, Buffer.from('whispered again'));
  const bytes = onDisk(dir);
  assert.ok(!bytes.includes('whispered') && bytes.includes('{"rss":77}'));

  const closed = readJournal(dir);
  const without = [...closed.records];
  assert.deepEqual([closed.sealed, closed.gaps, closed.torn], [2, [], undefined]);
  assert.deepEqual(
    without.map((record) => [record.kind, record.sealed ?? false, findJson(record)]),
    [
      [recordKinds.memorySample, false, { rss: 77 }],
      [recordKinds.sealKey, false, undefined],
      [recordKinds.note, true, undefined],
      [recordKinds.note, true, undefined],
    ],
  );

  const opened = readJournal(dir, unseal);
  assert.deepEqual(textsOf(opened), ['"whispered"', 'whispered again']);
  assert.deepEqual([opened.sealed, opened.gaps], [0, []]);
});

test('a wrong key, or something that is none, leaves it closed', () => {
  const dir = newDir();
  const { seal } = wrapping();
  openJournal({ dir, sessionId: 's', seal }).append(recordKinds.note, 'x');
  for (const unseal of [() => undefined, () => Buffer.alloc(5)]) {
    const reading = readJournal(dir, unseal);
    assert.deepEqual([[...reading.records].length, reading.sealed], [2, 1]);
  }
  const wrong = readJournal(dir, () => Buffer.alloc(32));
  assert.deepEqual([[...wrong.records].at(-1)?.sealed, wrong.gaps[0]?.reason], [true, 'seal-broken']);
});

test('every segment holds the key, wrapped once, so that dropped ones cost nothing but themselves', () => {
  const dir = newDir();
  const { seal, unseal, wrapped } = wrapping();
  const journal = openJournal({ dir, sessionId: 's', seal, maxBytes: 16_384, segmentBytes: 4096 });
  for (let i = 0; i < 300; i++) journal.append(recordKinds.note, `note ${i} ${'.'.repeat(i % 400)}`);
  assert.equal(wrapped(), 1);
  for (const name of readdirSync(dir)) {
    const reading = readJournal(join(dir, name), unseal);
    assert.ok(textsOf(reading).length > 0 && reading.sealed === 0, name);
  }
  assert.match(textsOf(readJournal(dir, unseal)).at(-1) ?? '', /^note 299 /);
});

test('payloads of every size, text and bytes, larger than the buffer too', () => {
  const payload = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.uint8Array({ maxLength: 300 }),
    fc.integer({ min: 0, max: 140_000 }).map((length) => 'y'.repeat(length)),
  );
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 8 }), (payloads) => {
      const dir = newDir();
      const { seal, unseal } = wrapping();
      const journal = openJournal({ dir, sessionId: 's', seal, segmentBytes: 100_000 });
      for (const one of payloads) journal.appendBuffered(recordKinds.note, one);
      journal.flush();
      if (payloads.length === 0) return;
      const found = [...readJournal(dir, unseal).records].filter(({ kind }) => kind === recordKinds.note);
      assert.deepEqual(
        found.map((record) => Buffer.from(record.payload)),
        payloads.map((one) => Buffer.from(one as string)),
      );
    }),
    { numRuns: Math.min(60, fuzzRuns(60)) },
  );
});

test('torn at every offset, and any byte changed: what is read is what was written', () => {
  const dir = newDir();
  const { seal, unseal } = wrapping();
  const journal = openJournal({ dir, sessionId: 's', seal });
  const written = ['first', 'second of them', 'third'];
  for (const text of written) journal.append(recordKinds.note, text);
  const whole = onDisk(dir);
  for (let end = 0; end <= whole.length; end++) {
    const reading = readJournal(whole.subarray(0, end), unseal);
    assert.deepEqual(textsOf(reading), written.slice(0, textsOf(readJournal(whole.subarray(0, end))).length));
    assert.equal(reading.sealed, 0);
  }
  for (let at = 0; at < whole.length; at++) {
    const changed = Buffer.from(whole);
    changed[at]! ^= 1;
    const records = [...readJournal(changed, unseal).records].filter(({ kind }) => kind === recordKinds.note);
    for (const { sealed, payload } of records)
      assert.ok(sealed || written.includes(Buffer.from(payload).toString()), `byte ${at}`);
  }
});

test('a record with a good checksum and a seal of another number is named, and the rest is read', () => {
  const key = Buffer.alloc(32, 9);
  const sealed = (seq: number, text: string): Buffer => {
    const nonce = Buffer.alloc(12);
    nonce.writeBigUInt64LE(BigInt(seq));
    const frame = Buffer.alloc(20);
    frame.writeUInt16LE(45, 0);
    frame.writeUInt16LE(3, 2);
    frame.writeBigUInt64LE(BigInt(seq), 4);
    frame.writeDoubleLE(1e12, 12);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(frame);
    return Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
  };
  const { bytes } = synthSegment({
    version: 2,
    records: [
      { kind: 17, payload: Buffer.from('the key') },
      { flags: 3, payload: sealed(1, 'right') },
      { flags: 3, payload: sealed(7, 'moved here') },
      { flags: 3, payload: Buffer.from('shorter') },
      { flags: 3, payload: sealed(4, 'right again') },
    ],
  });
  const reading = readJournal(bytes, () => key);
  const open = [...reading.records].filter((record) => !record.sealed).slice(1);
  assert.deepEqual(
    open.map(({ payload }) => Buffer.from(payload).toString()),
    ['right', 'right again'],
  );
  assert.deepEqual(
    reading.gaps.map(({ reason, fromSeq }) => [reason, fromSeq]),
    [
      ['seal-broken', 2],
      ['seal-broken', 3],
    ],
  );
});

test('a journal without a seal is one of the first version, byte by byte', () => {
  const dir = newDir();
  openJournal({ dir, sessionId: 's' }).append(recordKinds.note, 'x');
  assert.equal(onDisk(dir).readUInt16LE(8), 1);
  const other = newDir();
  openJournal({ dir: other, sessionId: 's', seal: wrapping().seal }).append(recordKinds.note, 'x');
  assert.equal(onDisk(other).readUInt16LE(8), 2);
});

test('a key that is too long is refused before anything is sealed with it', () => {
  const journal = openJournal({
    dir: newDir(),
    sessionId: 's',
    seal: new RecordSeal(() => Buffer.alloc(1e5)),
  });
  assert.throws(() => journal.append(recordKinds.note, 'x'), { code: 'over-limit' });
});

test('an append that the disk refused does not use a number, and so a nonce, twice', () => {
  const dir = newDir();
  writeFileSync(dir, 'a file where the folder should be');
  const journal = openJournal({ dir, sessionId: 's', seal: wrapping().seal });
  assert.throws(() => journal.append(recordKinds.note, 'x'), { code: 'unwritable' });
  const before = journal.nextSeq;
  rmSync(dir);
  journal.append(recordKinds.note, 'y');
  assert.ok(before > 0);
  const seqs = [...readJournal(dir).records].map(({ seq }) => seq);
  assert.ok(
    seqs.every((seq) => seq >= before),
    String(seqs),
  );
});
