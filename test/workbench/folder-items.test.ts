/** The things of a folder: each is read once, and again when it or the folder has changed. */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { packBundle } from '../../src/bundle/finished/pack.ts';
import { FolderItems } from '../../src/workbench/items/folder-items.ts';
import { writeDeath } from '../store/synth-death.ts';
import { temporaryFolder } from '../support/victims/run-victim.ts';

/** Everything that is there has not changed for a minute, by a clock that is ahead. */
function later(t: TestContext): void {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 });
}

/** The next change of the folder gives it another time, however coarse the file system's clock is. */
const rest = (dir: string): void => utimesSync(dir, 1_000_000_000, 1_000_000_000);

function folderOf(t: TestContext, bundles: number) {
  const dir = join(temporaryFolder(t), 'dumps');
  mkdirSync(dir, { mode: 0o700 });
  for (let n = 0; n < bundles; n++)
    writeDeath(dir, { at: `2026-11-21T03:04:0${n}.678Z`, id: `${n}123456789abcdef` });
  const read: string[] = [];
  const items = new FolderItems(dir, (name) => read.push(name));
  return { dir, items, read };
}

test('a request for one reads that one, and once', (t) => {
  const { dir, items, read } = folderOf(t, 5);
  later(t);
  const [name = ''] = readdirSync(dir);
  assert.equal(items.find(name)?.row.name, name);
  assert.equal(items.find(name)?.row.state, 'sealed');
  assert.deepEqual(read, [name]);
  assert.equal(items.list().length, 5);
  assert.equal(items.list().length, 5);
  assert.equal(read.length, 5);
});

test('what has just changed is read again, since the next change may carry the same time', (t) => {
  const { dir, items, read } = folderOf(t, 1);
  const [name = ''] = readdirSync(dir);
  items.find(name);
  items.find(name);
  assert.deepEqual(read, [name, name]);
});

test('it follows what is added, renamed, replaced and removed', (t) => {
  const { dir, items } = folderOf(t, 2);
  later(t);
  rest(dir);
  assert.equal(items.list().length, 2);
  const path = writeDeath(dir, { id: 'fedcba9876543210', at: '2026-11-22T03:04:05.678Z' });
  const [newest] = items.list();
  assert.equal(newest?.path, path);
  rest(dir);
  items.list();
  const packed = packBundle(path).path;
  rmSync(path, { recursive: true });
  assert.deepEqual([items.list()[0]?.path, items.list()[0]?.row.state], [packed, 'packed']);
  assert.equal(items.find(newest.row.id), undefined);
  rest(dir);
  items.list();
  const snapshot = join(dir, 'a b.heapsnapshot');
  writeFileSync(snapshot, '{"snapshot"');
  const row = () => items.find('a%20b.heapsnapshot')?.row;
  assert.equal(row()?.bytes, 11);
  appendFileSync(snapshot, ':');
  assert.equal(row()?.bytes, 12);
  rest(dir);
  items.list();
  renameSync(snapshot, join(dir, 'c.heapsnapshot'));
  assert.equal(row(), undefined);
  rest(dir);
  items.list();
  rmSync(packed);
  assert.equal(items.list().length, 3);
});

test('a bundle that is still being written is not kept, however old its folder is', (t) => {
  const { dir, items, read } = folderOf(t, 1);
  const [name = ''] = readdirSync(dir);
  const partial = `${name}.partial`;
  renameSync(join(dir, name), join(dir, partial));
  rmSync(join(dir, partial, 'manifest.json'));
  later(t);
  assert.equal(items.find(partial)?.row.state, 'partial');
  items.find(partial);
  assert.deepEqual(read, [partial, partial]);
});

test('a manifest that was replaced within the same second, and the time put back, is seen', (t) => {
  const { dir, items, read } = folderOf(t, 1);
  const [name = ''] = readdirSync(dir);
  later(t);
  assert.equal(items.find(name)?.row.state, 'sealed');
  const manifest = join(dir, name, 'manifest.json');
  const { atime, mtime } = statSync(manifest);
  writeFileSync(manifest, '{');
  utimesSync(manifest, atime, mtime);
  assert.equal(items.find(name)?.row.state, 'partial');
  assert.equal(read.length, 2);
});

test('an id is a name of the folder, never a path', (t) => {
  const { items } = folderOf(t, 1);
  for (const id of ['..', '../dumps', '.', '', '%2e%2e', 'a/b']) assert.equal(items.find(id), undefined);
});
