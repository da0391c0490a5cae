/** The store in a folder: the conformance tests, and that only one process at a time has it open. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { onlyWide } from '../support/run/test-nodes.ts';
import { temporaryFolder } from '../support/victims/run-victim.ts';
import { testStore } from './conformance/conformance.ts';
import { testCounts } from './conformance/counts.ts';
import { newStore } from './new-store.ts';

const kind = { name: 'folder', open: (folder: string) => newStore(join(folder, 'store')) };
testStore(kind);
testCounts(kind);

test('who comes while it is open waits, is told for whom, and is let in when it is closed', {
  skip: onlyWide,
}, async (t) => {
  const folder = temporaryFolder(t);
  const first = await openStore(folder);
  await assert.rejects(openStore(folder, { waitMs: 0 }), { code: 'held' });
  const told: string[] = [];
  const second = openStore(folder, { onWait: (sentence) => told.push(sentence) });
  while (told.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.match(told[0] ?? '', /waiting for process \d+, which has the store .* open/);
  await first.close();
  await (await second).close();
  assert.equal(told.length, 1);
});

test('half of a database that a killed process left is made anew', { skip: onlyWide }, async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'index.new'), { recursive: true });
  writeFileSync(join(folder, 'index.new', 'PG_VERSION'), '17\n');
  const store = await openStore(folder);
  assert.deepEqual(await store.index.query('select bundle from agentdump_deaths'), []);
  await store.close();
});

test('a place that no store is at is refused in words', async (t) => {
  const folder = temporaryFolder(t);
  for (const name of ['typo', '.']) {
    const place = join(folder, name);
    await assert.rejects(openStore(place, { mustExist: true }), { code: 'not-found' });
  }
  assert.deepEqual(readdirSync(folder), []);
  writeFileSync(join(folder, 'file'), '');
  await assert.rejects(openStore(join(folder, 'file')), { code: 'unwritable' });
  await assert.rejects(openStore('mysql://x/y'), /a folder, postgres:/);
  await assert.rejects(openStore('postgres://x/y'), /needs a place for its bundles/);
});
