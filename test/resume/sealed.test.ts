/** With a key, nothing that a resumable run remembers can be read on disk, and only the same key can continue the run. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openRun } from '../../src/resume/index.ts';
import { temporaryFolder } from '../support/victims/run-victim.ts';

const key = 'ab'.repeat(32);

function bytesIn(dir: string): string {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');
}

async function remember(dir: string, options: { key?: string }, result: string): Promise<string> {
  const run = openRun({ dir, id: 'trip', ...options });
  try {
    return await run.once('search', { city: 'Bergenhus' }, () => result);
  } finally {
    run.close();
  }
}

test('sealed from the first record, and read again with the key', async (t) => {
  const dir = temporaryFolder(t);
  assert.equal(await remember(dir, { key }, 'a room with a view'), 'a room with a view');
  assert.doesNotMatch(bytesIn(dir), /Bergenhus|room with|search/);
  assert.equal(await remember(dir, { key }, 'never asked again'), 'a room with a view');
  assert.throws(() => openRun({ dir, id: 'trip' }), { code: 'locked' });
  assert.throws(() => openRun({ dir, id: 'trip', key: 'cd'.repeat(32) }), { code: 'locked' });
  // A refused open releases the run.
  assert.equal(await remember(dir, { key }, 'never'), 'a room with a view');
});

test('a run that was begun in the clear goes on so, and a key that is none is refused', async (t) => {
  const dir = temporaryFolder(t);
  await remember(dir, {}, 'plain');
  assert.equal(await remember(dir, { key }, 'again'), 'plain');
  assert.throws(() => openRun({ dir, id: 'other', key: 'short' }), { code: 'usage' });
});
