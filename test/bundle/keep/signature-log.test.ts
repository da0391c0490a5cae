import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';
import {
  type NoteOptions,
  noteSignature as note,
  type SignatureNote,
} from '../../../src/bundle/keep/signature-log.ts';
import { onlyWide } from '../../support/run/test-nodes.ts';
import { scratchFolder } from '../scratch-folder.ts';

const run = promisify(execFile);
const hour = 3_600_000;

/** The result without the id, which is different each time. */
function noteSignature(options: NoteOptions): SignatureNote {
  const { store, repeats } = note(options);
  return { store, repeats };
}

test('the first is stored, the next are counted, each signature for itself', (t) => {
  const dir = join(scratchFolder(t), 'new');
  const note = (signature: string) => noteSignature({ dir, signature, windowMs: hour });
  assert.deepEqual(note('a'), { store: true, repeats: 0 });
  assert.deepEqual(note('a'), { store: false, repeats: 1 });
  assert.deepEqual(note('b'), { store: true, repeats: 0 });
  assert.deepEqual(note('a'), { store: false, repeats: 2 });
  assert.equal(statSync(join(dir, 'signatures.log')).mode & 0o777, 0o600);
  note('TypeError: token sk-1234');
  assert.doesNotMatch(readFileSync(join(dir, 'signatures.log'), 'utf8'), /TypeError|sk-1234/);
});

test('after the window it is stored again, and the count handed over', (t) => {
  const dir = scratchFolder(t);
  const note = () => noteSignature({ dir, signature: 'a', windowMs: hour });
  note();
  note();
  note();
  const log = join(dir, 'signatures.log');
  const earlier = readFileSync(log, 'utf8').replace(/^(\d{13})/gm, (time) => String(Number(time) - 2 * hour));
  writeFileSync(log, earlier);
  assert.deepEqual(note(), { store: true, repeats: 2 });
  assert.deepEqual(note(), { store: false, repeats: 1 });
});

test('a clock that was ahead does not silence what follows', (t) => {
  const dir = scratchFolder(t);
  const note = () => noteSignature({ dir, signature: 'a', windowMs: hour });
  note();
  const log = join(dir, 'signatures.log');
  const later = readFileSync(log, 'utf8').replace(/^(\d{13})/gm, (time) => String(Number(time) + 9 * hour));
  writeFileSync(log, later);
  assert.deepEqual(note(), { store: true, repeats: 0 });
});

test('torn lines, garbage and a folder in its place change nothing', (t) => {
  const dir = scratchFolder(t);
  const note = () => noteSignature({ dir, signature: 'a', windowMs: hour });
  note();
  for (const garbage of ['\n17', '\u0000\u0000', '\n9999999999999 x y', '\n'.repeat(100)]) {
    appendFileSync(join(dir, 'signatures.log'), garbage);
    assert.equal(note().store, false);
  }
  assert.deepEqual(noteSignature({ dir: '/dev/null', signature: 'a', windowMs: hour }), {
    store: true,
    repeats: 0,
  });
});

test('the file is bounded', { skip: onlyWide }, (t) => {
  const dir = scratchFolder(t);
  for (let i = 0; i < 5000; i++) noteSignature({ dir, signature: `s${i % 7}`, windowMs: hour });
  assert.ok(statSync(join(dir, 'signatures.log')).size <= 65 * 1024);
  assert.deepEqual(readdirSync(dir), ['signatures.log']);
});

test('of many that die together exactly one is stored', async (t) => {
  const dir = scratchFolder(t);
  const program = join(dir, 'count-one.cjs');
  const entry = join(import.meta.dirname, 'count-one.ts');
  buildSync({ entryPoints: [entry], outfile: program, bundle: true, platform: 'node', logLevel: 'error' });
  const startAt = String(Date.now() + 1500);
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => run(process.execPath, [program, join(dir, 'dumps'), startAt])),
  );
  const notes = answers.map((answer) => JSON.parse(answer.stdout) as SignatureNote);
  assert.equal(notes.filter((note) => note.store).length, 1);
  assert.deepEqual(
    notes.map((note) => note.repeats).sort((a, b) => a - b),
    Array.from({ length: 12 }, (_, i) => i),
  );
});
