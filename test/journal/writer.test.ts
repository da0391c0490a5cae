/** The journal's writer: what it acknowledges can be read, its limit on disk space holds, and it survives a failing disk. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { AgentdumpError } from '../../src/errors.ts';
import { recordKinds } from '../../src/journal/layout/records.ts';
import { findJson, readJournal } from '../../src/journal/read/reader.ts';
import { checksumOf } from '../../src/journal/write/checksum.ts';
import { openJournal } from '../../src/journal/write/writer.ts';
import { fuzzRuns } from '../support/run/fuzz-runs.ts';
import { synthSegment } from '../support/synth/synth-journal.ts';

const root = mkdtempSync(join(tmpdir(), 'agentdump-journal-'));
after(() => rmSync(root, { recursive: true }));
let folders = 0;
const newDir = () => join(root, String(folders++));

function readBack(dir: string) {
  const reading = readJournal(dir);
  const records = [...reading.records].map((r) => ({ ...r, payload: Buffer.from(r.payload) }));
  return { ...reading, records, texts: records.map((r) => r.payload.toString()) };
}
const bytesOnDisk = (dir: string) =>
  readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);

test('nothing touches the disk before the first record, and an unused journal leaves nothing', () => {
  const dir = newDir();
  const journal = openJournal({ dir, sessionId: 's' });
  assert.equal(existsSync(dir), false);
  journal.close(true);
  assert.equal(existsSync(dir), false);
});

test('an appended record is in the file when append returns; a buffered one after flush', () => {
  const dir = newDir();
  const journal = openJournal({ dir, sessionId: 'session-7' });
  assert.equal(journal.append(recordKinds.note, 'one'), 0);
  assert.deepEqual(readBack(dir).texts, ['one']);
  assert.equal(journal.appendBuffered(recordKinds.note, Buffer.from([1, 2, 255])), 1);
  assert.deepEqual(readBack(dir).texts, ['one']);
  journal.flush();
  const { records, sessionId } = readBack(dir);
  assert.equal(sessionId, 'session-7');
  assert.deepEqual([...records[1]!.payload], [1, 2, 255]);
  assert.deepEqual(
    records.map((r) => r.isText),
    [true, false],
  );
  assert.equal(statSync(dir).mode & 0o777, 0o700);
  assert.equal(statSync(join(dir, '00000000.journal')).mode & 0o777, 0o600);
});

test('a rehearsed record leaves nothing behind: neither in the file, nor in the number or link of the next', () => {
  const [dir, unrehearsed] = [newDir(), newDir()];
  const journal = openJournal({ dir, sessionId: 's', segmentBytes: 4096 });
  const other = openJournal({ dir: unrehearsed, sessionId: 's', segmentBytes: 4096 });
  journal.rehearse(recordKinds.note, 'before the first');
  assert.equal(existsSync(dir), false);
  for (let index = 0; index < 300; index++) {
    for (const size of [1, 40, 3000, 200_000]) journal.rehearse(recordKinds.note, 'x'.repeat(size));
    assert.equal(journal.append(recordKinds.note, `record ${index}`), index);
    other.append(recordKinds.note, `record ${index}`);
  }
  journal.close(true);
  journal.rehearse(recordKinds.note, 'after the last');
  other.close(true);
  const { texts, gaps } = readBack(dir);
  assert.deepEqual(texts, readBack(unrehearsed).texts);
  assert.deepEqual(gaps, []);
  assert.deepEqual(readdirSync(dir), readdirSync(unrehearsed));
  assert.equal(bytesOnDisk(dir), bytesOnDisk(unrehearsed));
});

test('close says how it ended, once', () => {
  const dir = newDir();
  const journal = openJournal({ dir, sessionId: 's' });
  journal.append(recordKinds.note, 'x');
  journal.sync('data');
  journal.close(false, { exitCode: 3 });
  journal.close(true);
  const last = readBack(dir).records.at(-1)!;
  assert.equal(last.kind, recordKinds.end);
  assert.deepEqual(findJson(last), { endedWell: false, exitCode: 3 });
  assert.throws(() => journal.append(1, ''), /closed/);
});

test('its bytes are those of FORMAT.md', () => {
  const dir = newDir();
  const journal = openJournal({ dir, sessionId: 'synth' });
  journal.append(45, 'grüße');
  const own = readFileSync(join(dir, '00000000.journal'));
  const said = synthSegment({ records: [{ payload: 'grüße' }] }).bytes;
  // Time, pid, nonce and what depends on them differ between runs.
  for (const [from, to] of [
    [0, 24],
    [32, 36],
    [48, 124],
    [132, 152],
    [160, own.length],
  ] as const)
    assert.deepEqual(own.subarray(from, to), said.subarray(from, to), `${from}..${to}`);
});

test('what is written, read and written again is the same', () => {
  const record = fc.record({
    kind: fc.integer({ min: 1, max: 65535 }),
    payload: fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.uint8Array({ maxLength: 400 }),
      fc.integer({ min: 16_000, max: 90_000 }).map((n) => 'é'.repeat(n)),
    ),
    durable: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(record, { maxLength: 25 }), (records) => {
      const dir = newDir();
      const journal = openJournal({ dir, sessionId: 's', maxBytes: Infinity, segmentBytes: 4096 });
      for (const { kind, payload, durable } of records)
        if (durable) journal.append(kind, payload);
        else journal.appendBuffered(kind, payload);
      journal.flush();
      if (!records.length) return;
      const back = readBack(dir);
      assert.deepEqual([back.gaps, back.torn], [[], undefined]);
      assert.deepEqual(
        back.records.map(({ seq, kind, isText, payload }) => [seq, kind, isText, payload]),
        records.map(({ kind, payload }, seq) => [
          seq,
          kind,
          typeof payload === 'string',
          Buffer.from(payload),
        ]),
      );
    }),
    { numRuns: fuzzRuns(60) },
  );
});

test('the checksum equals the reference at every length and seed', () => {
  const buffer = Buffer.from(Array.from({ length: 1000 }, (_, i) => (i * 151) & 255));
  const copy = Buffer.from(buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + 1000));
  const view = new DataView(copy.buffer, copy.byteOffset, 1000);
  const bitwise = (bytes: Uint8Array, seed: number) => {
    let crc = ~seed;
    for (const byte of bytes) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    }
    return ~crc >>> 0;
  };
  for (const seed of [0, 1, 0xdeadbeef])
    for (let end = 3; end < 1000; end += end < 40 ? 1 : 37)
      assert.equal(checksumOf(copy, view, 3, end, seed), bitwise(copy.subarray(3, end), seed));
});

test('the bound on disk holds; the first segment and the newest are kept', () => {
  const dir = newDir();
  const maxBytes = 200_000;
  const journal = openJournal({ dir, sessionId: 's', maxBytes, segmentBytes: 20_000 });
  journal.append(recordKinds.processFacts, 'start of life');
  for (let i = 1; i < 5000; i++) {
    journal.append(recordKinds.note, `record ${i} ${'x'.repeat(200)}`);
    if (i % 100 === 0) assert.ok(bytesOnDisk(dir) <= maxBytes);
  }
  const { records, texts, gaps } = readBack(dir);
  assert.equal(texts[0], 'start of life');
  assert.equal(records.at(-1)?.seq, 4999);
  assert.deepEqual(
    gaps.map((gap) => gap.reason),
    ['segments-missing'],
  );
  assert.ok(bytesOnDisk(dir) > maxBytes / 2, 'the room is used');
});

test('what the host repeats at each segment outlives the dropped ones', () => {
  const dir = newDir();
  let state = 0;
  const journal = openJournal({
    dir,
    sessionId: 's',
    maxBytes: 100_000,
    segmentBytes: 10_000,
    onSegment: (j) => j.appendBuffered(recordKinds.statePatch, `state is ${state}`),
  });
  for (state = 0; state < 2000; state++) journal.append(recordKinds.note, 'y'.repeat(150));
  const { records } = readBack(dir);
  const firstOfSegment = new Map<number, string>();
  for (const r of records)
    if (!firstOfSegment.has(r.segment)) firstOfSegment.set(r.segment, r.payload.toString());
  firstOfSegment.delete(0);
  assert.ok(firstOfSegment.size > 3);
  for (const text of firstOfSegment.values()) assert.match(text, /^state is \d+$/);
});

test('a record larger than a segment has one of its own; one beyond the limit is refused', () => {
  const dir = newDir();
  const journal = openJournal({ dir, sessionId: 's', maxBytes: 1_000_000, segmentBytes: 10_000 });
  journal.append(1, 'before');
  journal.append(1, Buffer.alloc(300_000, 7));
  journal.append(1, 'after');
  assert.throws(
    () => journal.append(1, Buffer.alloc(600_000)),
    (e) => e instanceof AgentdumpError && e.code === 'over-limit',
  );
  journal.append(1, 'and on');
  const { records, gaps } = readBack(dir);
  assert.deepEqual(gaps, []);
  assert.deepEqual(
    records.map((r) => r.payload.length),
    [6, 300_000, 5, 6],
  );
});

test('a journal whose tail was torn at any byte is gone on with, and nothing acknowledged is lost', () => {
  const master = newDir();
  const first = openJournal({ dir: master, sessionId: 'run-1' });
  for (const text of ['one', 'two', 'three']) first.append(1, text);
  const whole = readFileSync(join(master, '00000000.journal'));
  const lastRecord = 32 + 'three'.length;
  for (let cut = 0; cut <= lastRecord; cut++) {
    const dir = newDir();
    openJournal({ dir, sessionId: 'run-1' }).append(1, '');
    rmSync(join(dir, '00000000.journal'));
    appendFileSync(join(dir, '00000000.journal'), whole.subarray(0, whole.length - cut));
    const found = readJournal(dir);
    const seen = [...found.records].length;
    assert.equal(seen, cut === 0 ? 3 : 2);
    const second = openJournal({ dir, sessionId: 'run-1', after: found.end! });
    assert.equal(second.append(1, 'resumed'), seen);
    const { texts, gaps } = readBack(dir);
    assert.deepEqual(texts, ['one', 'two', 'three', 'resumed'].toSpliced(seen, 3 - seen));
    assert.deepEqual(
      gaps.map((g) => g.reason),
      cut === 0 || cut === lastRecord ? [] : ['damaged'],
    );
  }
});

test('a disk that takes no more: the call throws, what was acknowledged stays, the loss is named', () => {
  const dir = newDir();
  const victim = new URL('./victim-full-disk.ts', import.meta.url).pathname;
  // A limit on file sizes stands in for a full disk: a write is partly done, then fails.
  const run = spawnSync(
    'sh',
    ['-c', `ulimit -f 8; exec "$0" --import tsx ${victim} ${dir}`, process.execPath],
    {
      encoding: 'utf8',
    },
  );
  assert.equal(run.status, 0, run.stderr);
  const said = JSON.parse(run.stdout) as { acknowledged: number[]; errors: string[] };
  assert.ok(said.errors.length > 0 && said.errors.every((code) => code === 'unwritable'));
  const { records, gaps, torn } = readBack(dir);
  assert.deepEqual(
    records.map((r) => r.seq),
    said.acknowledged,
  );
  assert.equal(torn, undefined);
  assert.deepEqual(
    gaps.map((g) => g.reason),
    ['records-missing'],
  );
});
