/** The journal's reader on what a death, a bad disk or an attacker may leave. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { AgentdumpError } from '../../src/errors.ts';
import { findJson, readJournal } from '../../src/journal/read/reader.ts';
import type { JournalReading, JournalRecord } from '../../src/journal/read/result.ts';
import { fuzzRuns } from '../support/run/fuzz-runs.ts';
import { type SynthRecord, synthSegment } from '../support/synth/synth-journal.ts';

function readAll(where: string | Uint8Array): JournalReading & { all: JournalRecord[] } {
  const reading = readJournal(where);
  const all = [...reading.records];
  return Object.assign(reading, { all });
}
const textOf = (record: JournalRecord | undefined) => Buffer.from(record?.payload ?? []).toString();
const textsOf = (records: JournalRecord[]) => records.map(textOf);
const reasonsOf = (reading: JournalReading) => reading.gaps.map((gap) => gap.reason);
const three: SynthRecord[] = [{ payload: 'first' }, { payload: 'second' }, { payload: 'third' }];

test('the smallest journal: a header, and one record', () => {
  const empty = readAll(synthSegment().bytes);
  assert.deepEqual([empty.all, empty.gaps, empty.torn, empty.sessionId], [[], [], undefined, 'synth']);
  const one = readAll(synthSegment({ records: [{ kind: 7, payload: '{"a":1}', atMs: 1234.5 }] }).bytes);
  const { payload, ...facts } = one.all[0]!;
  assert.deepEqual(facts, { seq: 0, kind: 7, atMs: 1234.5, isText: true, segment: 0 });
  assert.deepEqual(findJson(one.all[0]!), { a: 1 });
  assert.equal(payload.length, 7);
});

test('no bytes at all are an empty journal; no file is an error', () => {
  assert.deepEqual(readAll(new Uint8Array()).gaps, []);
  assert.throws(
    () => readAll('/nowhere/at/all'),
    (e) => e instanceof AgentdumpError && e.code === 'not-found',
  );
});

test('a tail torn at any byte loses the last record only', () => {
  const { bytes, offsets } = synthSegment({ records: three });
  for (let length = offsets[2]!; length < bytes.length; length++) {
    const reading = readAll(bytes.subarray(0, length));
    assert.deepEqual(textsOf(reading.all), ['first', 'second']);
    assert.equal(reading.torn?.bytes, length === offsets[2] ? undefined : length - offsets[2]!);
    assert.equal(reading.end?.nextSeq, 2);
    assert.deepEqual(reading.gaps, []);
  }
});

test('a header torn at any byte is a torn journal', () => {
  const { bytes } = synthSegment({ records: three });
  for (let length = 1; length < 128; length++)
    assert.deepEqual(readAll(bytes.subarray(0, length)).torn, { source: 'bytes', offset: 0, bytes: length });
});

test('a tail of zeros or of noise, as a power cut leaves it, is torn', () => {
  const { bytes } = synthSegment({ records: three });
  for (const fill of [0, 0xff, 0x5a]) {
    const reading = readAll(Buffer.concat([bytes, Buffer.alloc(5000, fill)]));
    assert.equal(reading.all.length, 3);
    assert.equal(reading.torn?.bytes, 5000);
  }
});

test('any byte of a record changed: the others are there, and the damage is named', () => {
  const { bytes, offsets } = synthSegment({ records: three });
  for (let at = offsets[1]!; at < offsets[2]!; at++) {
    const copy = Buffer.from(bytes);
    copy[at]! ^= 0x10;
    const reading = readAll(copy);
    assert.deepEqual(textsOf(reading.all), ['first', 'third'], `byte ${at}`);
    assert.deepEqual(reasonsOf(reading), ['damaged', 'records-missing']);
    assert.equal(reading.gaps[0]?.bytes, offsets[2]! - offsets[1]!);
  }
});

test('any byte of the header changed: no record is believed', () => {
  const { bytes } = synthSegment({ records: three });
  for (let at = 0; at < 128; at++) {
    const copy = Buffer.from(bytes);
    copy[at]! ^= 1;
    const reading = readAll(copy);
    assert.equal(reading.all.length, 0);
    assert.deepEqual(reasonsOf(reading), ['header-damaged']);
  }
});

test('a newer version is named and not guessed at', () => {
  const reading = readAll(synthSegment({ version: 3, records: three }).bytes);
  assert.deepEqual([reading.all.length, reasonsOf(reading)], [0, ['newer-version']]);
});

test('segments end to end in one file are one journal', () => {
  const first = synthSegment({ records: three });
  const second = synthSegment({ segment: 1, firstSeq: 3, previous: first.checksum, records: [{}, {}] });
  const reading = readAll(Buffer.concat([first.bytes, second.bytes]));
  assert.deepEqual(
    reading.all.map((r) => [r.seq, r.segment]),
    [
      [0, 0],
      [1, 0],
      [2, 0],
      [3, 1],
      [4, 1],
    ],
  );
  assert.deepEqual(reading.gaps, []);
  assert.deepEqual(reading.end, { segment: 1, nextSeq: 5, checksum: second.checksum });
});

test('dropped segments are a gap with the numbers that are missing', () => {
  const first = synthSegment({ records: three });
  const later = synthSegment({ segment: 5, firstSeq: 90, previous: 1, records: [{}] });
  const reading = readAll(Buffer.concat([first.bytes, later.bytes]));
  assert.deepEqual(
    reading.all.map((r) => r.seq),
    [0, 1, 2, 90],
  );
  assert.deepEqual(reading.gaps, [
    { reason: 'segments-missing', source: 'bytes', offset: first.bytes.length, fromSeq: 3, toSeq: 90 },
  ]);
});

test('a torn tail that a later segment follows is damage, and the journal goes on', () => {
  const first = synthSegment({ records: three });
  const next = synthSegment({ segment: 1, firstSeq: 2, previous: 99, records: [{ payload: 'again' }] });
  const reading = readAll(Buffer.concat([first.bytes.subarray(0, first.offsets[2]! + 10), next.bytes]));
  assert.deepEqual(textsOf(reading.all), ['first', 'second', 'again']);
  assert.deepEqual([reasonsOf(reading), reading.torn], [['damaged'], undefined]);
});

test("another journal's segment, a repeated one and an older one are not mixed in", () => {
  const first = synthSegment({ records: three });
  const foreign = synthSegment({ id: 'other', segment: 1, firstSeq: 3, records: [{ payload: 'stranger' }] });
  const second = synthSegment({ segment: 1, firstSeq: 3, previous: first.checksum, records: [{}] });
  const reading = readAll(Buffer.concat([first.bytes, foreign.bytes, first.bytes, second.bytes]));
  assert.deepEqual(textsOf(reading.all), ['first', 'second', 'third', '{}']);
  assert.deepEqual(reasonsOf(reading), ['foreign', 'foreign']);
});

test("a copy of the journal's own bytes inside a damaged record is not read as new records", () => {
  const inner = synthSegment({ records: three }).bytes;
  const outer = synthSegment({ records: [{}, {}, {}, { payload: inner, breakChecksum: true }, {}] });
  const reading = readAll(outer.bytes);
  assert.deepEqual(
    reading.all.map((r) => r.seq),
    [0, 1, 2, 4],
  );
});

test('a taken-out record and a put-in one break the chain', () => {
  const { bytes, offsets } = synthSegment({ records: three });
  const without = Buffer.concat([bytes.subarray(0, offsets[1]), bytes.subarray(offsets[2])]);
  assert.deepEqual(reasonsOf(readAll(without)), ['records-missing', 'chain-broken']);
  const forged = synthSegment({ records: [{}, { previous: 12345 }] });
  assert.deepEqual(reasonsOf(readAll(forged.bytes)), ['chain-broken']);
});

test('lengths, numbers, times and flags that lie are damage', () => {
  const lies: SynthRecord[] = [
    { length: 0xffffffff },
    { length: 64 * 1024 * 1024 },
    { length: 3 },
    { atMs: Number.NaN },
    { atMs: -1 },
    { atMs: 1e300 },
    { flags: 0x8000 },
    { seq: 2 ** 53 },
  ];
  for (const lie of lies) {
    const reading = readAll(synthSegment({ records: [{ payload: 'good' }, lie] }).bytes);
    assert.deepEqual(textsOf(reading.all), ['good'], JSON.stringify(lie));
    assert.ok(reading.torn);
  }
});

test('a file full of plausible frames with long lengths is given up within its budget', () => {
  const frame = Buffer.alloc(32);
  frame.writeUInt32LE(900_000, 4);
  frame.writeDoubleLE(1e12, 24);
  const hostile = Buffer.concat([synthSegment().bytes, ...Array.from({ length: 60_000 }, () => frame)]);
  const reading = readAll(hostile);
  assert.equal(reading.all.length, 0);
  assert.equal(reading.torn?.bytes, hostile.length - 128);
});

test('names that are no segment are left alone; links and folders are named and not opened', () => {
  const dir = mkdtempSync(join(tmpdir(), 'agentdump-journal-'));
  try {
    writeFileSync(join(dir, '00000000.journal'), synthSegment({ records: three }).bytes);
    writeFileSync(join(dir, 'notes.journal'), 'hello');
    symlinkSync('/etc/passwd', join(dir, '00000001.journal'));
    const reading = readAll(dir);
    assert.equal(reading.all.length, 3);
    assert.deepEqual(reading.gaps, [
      { reason: 'unreadable', source: join(dir, '00000001.journal'), detail: 'ELOOP' },
    ]);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('any mutilation: never a throw, never a record that was not written', () => {
  const payloads = ['a', 'bb', 'ccc', 'dddd', 'x'.repeat(300)];
  const { bytes } = synthSegment({ records: payloads.map((payload) => ({ payload })) });
  const edit = fc.oneof(
    fc.record({ op: fc.constant('set' as const), at: fc.nat(bytes.length - 1), value: fc.nat(255) }),
    fc.record({ op: fc.constant('cut' as const), at: fc.nat(bytes.length - 1), value: fc.nat(200) }),
    fc.record({ op: fc.constant('add' as const), at: fc.nat(bytes.length - 1), value: fc.nat(200) }),
  );
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
      let copy = Buffer.from(bytes);
      for (const { op, at, value } of edits) {
        if (op === 'set' && at < copy.length) copy[at] = value;
        if (op === 'cut') copy = Buffer.concat([copy.subarray(0, at), copy.subarray(at + value)]);
        if (op === 'add')
          copy = Buffer.concat([copy.subarray(0, at), Buffer.alloc(value, value), copy.subarray(at)]);
      }
      let lastSeq = -1;
      for (const record of readAll(copy).all) {
        assert.equal(textOf(record), payloads[record.seq]);
        assert.ok(record.seq > lastSeq);
        lastSeq = record.seq;
      }
    }),
    { numRuns: fuzzRuns(1500) },
  );
});
