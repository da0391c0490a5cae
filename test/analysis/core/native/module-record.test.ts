/**
 * The record of the questions asked of a module's file: written, read back, validated; and where else a file with a given
 * build id is searched for.
 */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import '../../../support/run/fuzz-runs.ts';
import { FileCode } from '../../../../src/analysis/core/native/module-code.ts';
import {
  parseModuleRecords,
  RecordedCode,
  RecordingCode,
} from '../../../../src/analysis/core/native/module-record.ts';
import { findFileOfBuild } from '../../../../src/analysis/core/native/module-search.ts';
import { FileSource } from '../../../../src/bytes/byte-source.ts';
import { readElf } from '../../../../src/formats/elf/elf-file.ts';
import { findBuildId } from '../../../../src/formats/elf/notes.ts';
import { nodes } from '../../../support/cores/core-victims.ts';

const skip = process.platform !== 'linux' || nodes.length === 0 ? 'no Node of the matrix is here' : false;
const path = nodes[0]?.path ?? '';
const root = mkdtempSync(join(tmpdir(), 'agentdump-record-'));
after(() => rmSync(root, { recursive: true }));

function openNode(): FileCode {
  const source = new FileSource(path);
  const file = readElf(source);
  return new FileCode(file, findBuildId(file), () => source.close());
}

function ask(code: RecordingCode | RecordedCode, start: number) {
  return {
    segments: code.segments,
    exported: code.findExported('uv_run'),
    absent: code.findExported('constructor'),
    prefix: code.exportedWithPrefix('v8dbg_class_Map__'),
    named: code.findNamed('_start'),
    inside: code.findFunction(start + 5),
    outside: code.findFunction(8),
    frame: code.findFrame(start + 5)?.instructions,
    noFrame: code.findFrame(8),
    bytes: code.findBytes(start, 16),
  };
}

test('a record answers as the file did, and without it the file is asked', { skip }, () => {
  const file = openNode();
  const start = file.findExported('uv_run')?.address ?? 0;
  const recording = new RecordingCode(path, file);
  const answers = ask(recording, start);
  assert.ok(answers.inside && answers.frame && answers.prefix.length > 5);
  const [record] = parseModuleRecords(Buffer.from(JSON.stringify([recording.record]))) ?? [];
  assert.ok(record);
  const recorded = new RecordedCode(record, () => undefined);
  assert.deepEqual(ask(recorded, start), answers);
  assert.equal(recorded.findExported('uv_stop'), undefined);
  const withFile = new RecordedCode(record, openNode);
  assert.equal(withFile.findExported('uv_stop')?.name, 'uv_stop');
  withFile.close();
  recording.close();
});

test('what is no record is refused, whatever it is', () => {
  for (const text of ['', '{}', '[1]', '[{"path":1}]', '[{"path":"x","segments":[[1]]}]', 'null', '[null]'])
    assert.equal(parseModuleRecords(Buffer.from(text)), undefined, text);
  assert.deepEqual(parseModuleRecords(Buffer.from('[]')), []);
  fc.assert(
    fc.property(fc.json(), (text) => {
      const records = parseModuleRecords(Buffer.from(text));
      assert.ok(records === undefined || Array.isArray(records));
    }),
  );
});

test('a file is found by its build id, never by its name', { skip }, () => {
  const file = openNode();
  const id = findBuildId(readElf(new FileSource(path))) ?? '';
  file.close();
  const cache = join(root, 'cache', id);
  mkdirSync(cache, { recursive: true });
  const before = process.env['DEBUGINFOD_CACHE_PATH'];
  process.env['DEBUGINFOD_CACHE_PATH'] = join(root, 'cache');
  try {
    copyFileSync(nodes.at(-1)?.path ?? '', join(cache, 'executable'));
    if (nodes.length > 1) assert.notEqual(findFileOfBuild('/nowhere/x', id), join(cache, 'executable'));
    copyFileSync(path, join(cache, 'executable'));
    assert.equal(findFileOfBuild('/nowhere/x', id), join(cache, 'executable'));
    assert.equal(findFileOfBuild('/nowhere/x', '00'.repeat(20)), undefined);
  } finally {
    if (before === undefined) delete process.env['DEBUGINFOD_CACHE_PATH'];
    else process.env['DEBUGINFOD_CACHE_PATH'] = before;
  }
});
