/** Folders and disks that can't be written: the start throws with the reason, and any later failure is a gap. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { noteSignature } from '../../../src/bundle/keep/signature-log.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { startBundle } from '../../../src/bundle/write/writer.ts';
import { scratchFolder, smallDisk } from '../scratch-folder.ts';

const base = { program: 'p', verdictKind: 'exit', writer: '0.1.0' };
const isRoot = process.geteuid?.() === 0;

function assertUnwritable(dir: string, reason: RegExp): void {
  assert.throws(
    () => startBundle({ ...base, dir }),
    (error: { code?: string; details?: { reason?: string; path?: string } }) => {
      assert.equal(error.code, 'unwritable');
      assert.match(error.details?.reason ?? '', reason);
      assert.ok(error.details?.path?.startsWith('/'));
      return true;
    },
  );
}

test('a file in the folder’s place', (t) => {
  const dir = join(scratchFolder(t), 'dumps');
  writeFileSync(dir, '');
  assertUnwritable(dir, /ENOTDIR/);
  assertUnwritable(join(dir, 'below'), /ENOTDIR/);
});

test('a link in the folder’s place, with and without a target', (t) => {
  const top = scratchFolder(t);
  mkdirSync(join(top, 'real'));
  for (const target of ['real', 'nowhere']) {
    symlinkSync(join(top, target), join(top, `to-${target}`));
    assertUnwritable(join(top, `to-${target}`), /symbolic link/);
    assertUnwritable(`${join(top, `to-${target}`)}/`, /symbolic link/);
  }
  assert.deepEqual(readdirSync(join(top, 'real')), []);
});

test('links below the folder are not written through', (t) => {
  const top = scratchFolder(t);
  const dir = join(top, 'dumps');
  mkdirSync(dir);
  const at = new Date('2026-11-21T03:04:05.678Z');
  const id = '0123456789abcdef';
  const stem = '20261121T030405.678Z-p-exit-01234567.agentdump';
  mkdirSync(join(top, 'elsewhere'));
  writeFileSync(join(top, 'precious'), 'keep me');
  for (const suffix of ['', '.partial', '.starting'])
    symlinkSync(join(top, 'elsewhere'), join(dir, stem + suffix));
  symlinkSync(join(top, 'precious'), join(dir, 'signatures.log'));
  const writer = startBundle({ ...base, dir, at, id });
  assert.ok(writer.writePart('trigger.json', '{}'));
  assert.ok(writer.seal().endsWith('-2.agentdump'));
  assert.deepEqual(noteSignature({ dir, signature: 's', windowMs: 1e6 }), { store: true, repeats: 0 });
  assert.deepEqual(readdirSync(join(top, 'elsewhere')), []);
  assert.equal(readFileSync(join(top, 'precious'), 'utf8'), 'keep me');
});

test('a folder of another user', { skip: !isRoot && 'needs root' }, (t) => {
  const dir = join(scratchFolder(t), 'dumps');
  mkdirSync(dir);
  chownSync(dir, 12345, 12345);
  assertUnwritable(dir, /another user, uid 12345/);
});

test('a folder without the right to write', { skip: isRoot && 'root may write anywhere' }, (t) => {
  const dir = join(scratchFolder(t), 'dumps');
  mkdirSync(dir, 0o500);
  assertUnwritable(dir, /EACCES/);
  chmodSync(dir, 0o700);
});

test('a file system that takes nothing', () => {
  assertUnwritable('/proc/agentdump', /ENOENT|EACCES|EPERM/);
});

test('a read-only file system', (t) => {
  const disk = smallDisk(t, 64);
  if (!disk) return t.skip('cannot mount a small disk here');
  execFileSync('mount', ['-o', 'remount,ro', disk]);
  assertUnwritable(disk, /EROFS/);
  assertUnwritable(join(disk, 'below'), /EROFS/);
  assert.equal(noteSignature({ dir: disk, signature: 's', windowMs: 1e6 }).store, true);
});

test('no descriptor left', (t) => {
  const dir = scratchFolder(t);
  const taken: number[] = [];
  // Whatever the test runner opens lazily must be open before the last descriptor is used.
  startBundle({ ...base, dir }).discard();
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch {}
  try {
    assertUnwritable(dir, /EMFILE/);
    closeSync(taken.pop()!);
    assertUnwritable(dir, /EMFILE/);
    closeSync(taken.pop()!);
    const writer = startBundle({ ...base, dir });
    assert.equal(writer.writePart('trigger.json', '{}'), false);
    closeSync(taken.pop()!);
    assert.ok(writer.writePart('trigger.json', '{}'));
    const bundle = openBundle(writer.seal());
    assert.deepEqual(bundle.gaps, [{ part: 'trigger.json', reason: 'EMFILE' }]);
    bundle.close();
  } finally {
    for (const fd of taken) closeSync(fd);
  }
  assert.deepEqual(readdirSync(dir).length, 2, 'the bundle and the ledger');
});

test('a disk that has no room for the seal: the parts that are worth least make way', (t) => {
  const dir = smallDisk(t, 64);
  if (!dir) return t.skip('cannot mount a small disk here');
  const writer = startBundle({ ...base, dir, reserveBytes: 0 });
  for (let at = 0; writer.unwritten.length === 0; at++) writer.writePart(`${at}.json`, 'y'.repeat(4096));
  assert.equal(statfsSync(dir).bavail, 0);
  const before = writer.partNames;
  const bundle = openBundle(writer.seal());
  assert.ok(bundle.sealed);
  const names = bundle.parts.map(({ name }) => name);
  assert.ok(names.length > 0 && names.length < before.length);
  assert.deepEqual(names, before.slice(0, names.length));
  for (const { name } of bundle.parts) assert.equal(bundle.readPart(name)?.length, 4096);
  for (const name of before.slice(names.length))
    assert.ok(bundle.gaps.some(({ part, reason }) => part === name && reason === 'ENOSPC'));
  bundle.close();
});

test('a full disk keeps what fitted and still gets its seal', (t) => {
  const dir = smallDisk(t, 256);
  if (!dir) return t.skip('cannot mount a small disk here');
  const writer = startBundle({ ...base, dir });
  assert.ok(writer.writePart('trigger.json', '{}'));
  assert.equal(writer.writePart('report.json', 'x'.repeat(1_000_000)), false);
  const stream = writer.openPart('heap.heapsnapshot.gz');
  let refused = false;
  for (let i = 0; i < 100 && !refused; i++) refused = !stream.write(Buffer.alloc(10_000, 1));
  assert.ok(refused);
  // Now page by page, until the disk is full.
  for (let i = 0; i < 200; i++) writer.writePart(`sources/${i}.js`, 'y'.repeat(4096));
  assert.equal(statfsSync(dir).bavail, 0);
  const path = writer.seal();
  const bundle = openBundle(path);
  assert.ok(bundle.sealed);
  assert.equal(bundle.gaps.find((gap) => gap.part === 'report.json')?.reason, 'ENOSPC');
  assert.equal(bundle.gaps.find((gap) => gap.part === 'heap.heapsnapshot.gz')?.reason, 'ENOSPC');
  for (const part of bundle.parts) assert.equal(bundle.readPart(part.name)?.length, part.bytes);
  assert.ok(bundle.parts.length > 20);
  assert.deepEqual(
    readdirSync(path).filter((name) => name.endsWith('.unfinished')),
    [],
  );
});

test('a disk that is full from the start is unwritable', (t) => {
  const dir = smallDisk(t, 64);
  if (!dir) return t.skip('cannot mount a small disk here');
  assert.throws(() => writeFileSync(join(dir, 'ballast'), Buffer.alloc(1_000_000)));
  assertUnwritable(dir, /ENOSPC/);
  assert.deepEqual(readdirSync(dir), ['ballast']);
});
