import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packOpenBundle } from '../../../src/bundle/finished/pack.ts';
import { verifyBundle, verifyOpenBundle } from '../../../src/bundle/finished/verify.ts';
import { HeldSource } from '../../../src/bundle/read/held-source.ts';
import { openSmallBundle } from '../../../src/bundle/read/reader.ts';
import { FolderSource } from '../../../src/bundle/read/source.ts';
import { writeDeath } from '../../store/synth-death.ts';
import { temporaryFolder } from '../../support/victims/run-victim.ts';

test('what was verified of a small bundle is what is packed, also if a file is altered in between', (t) => {
  const dir = temporaryFolder(t);
  const path = writeDeath(dir);
  const bundle = openSmallBundle(path);
  assert.equal(verifyOpenBundle(bundle).verdict, 'whole');
  writeFileSync(join(path, 'error.json'), '{"error": {"message": "another"}}');
  packOpenBundle(bundle, join(dir, 'packed.zip'));
  bundle.close();
  assert.equal(verifyBundle(join(dir, 'packed.zip')).verdict, 'whole');
  assert.equal(verifyBundle(path).verdict, 'altered');
});

test('an altered file is found by a reader that holds its files', (t) => {
  const path = writeDeath(temporaryFolder(t));
  writeFileSync(join(path, 'error.json'), '{"error": {"message": "another"}}');
  const bundle = openSmallBundle(path);
  bundle.readJson('error.json');
  assert.ok(bundle.gaps.some(({ part, reason }) => part === 'error.json' && /SHA-256/.test(reason)));
  assert.equal(verifyOpenBundle(bundle).verdict, 'altered');
  bundle.close();
});

test('what does not fit is read from the disk each time', (t) => {
  const dir = join(temporaryFolder(t), 'folder');
  mkdirSync(dir);
  const file = join(dir, 'large.bin');
  writeFileSync(file, Buffer.alloc(9_000_000, 'a'));
  writeFileSync(join(dir, 'small.txt'), 'a');
  const source = new HeldSource(new FolderSource(dir));
  for (const name of ['large.bin', 'small.txt']) assert.equal(source.read(name, 1e7)[0], 97);
  assert.equal(source.sha256('large.bin'), undefined);
  assert.equal(source.sha256('small.txt')?.length, 64);
  writeFileSync(file, 'b');
  writeFileSync(join(dir, 'small.txt'), 'b');
  const letters = ['large.bin', 'small.txt'].map((name) => {
    const opened = source.open(name);
    const bytes = Buffer.alloc(1);
    opened.read(bytes, 0);
    opened.close();
    return bytes.toString();
  });
  assert.deepEqual(letters, ['b', 'a']);
  source.close();
});
