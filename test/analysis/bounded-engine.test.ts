/**
 * The second scan for secrets is bounded: a text that takes its engine too long is skipped and named, and so are the
 * remaining ones.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startBoundedEngine } from '../../src/analysis/secrets/bounded-engine.ts';
import { scanBundle } from '../../src/analysis/secrets/scan-bundle.ts';
import { FolderSource } from '../../src/bundle/read/source.ts';
import { onlyWide } from '../support/run/test-nodes.ts';

const root = mkdtempSync(join(tmpdir(), 'agentdump-bounded-'));
after(() => rmSync(root, { recursive: true }));

test('finds what the engine finds, on its own thread', async () => {
  const engine = await startBoundedEngine(20_000);
  try {
    assert.ok(engine.independent, engine.name);
    const token = ['ghp', 'aB3d'.repeat(9)].join('_');
    assert.equal((await engine.find(`a ${token}\n`, 'a.txt'))[0]?.offset, 2);
    assert.deepEqual(await engine.find('nothing', 'a.txt'), []);
  } finally {
    await engine.close();
  }
});

test('a text that takes too long is given up, the next is searched, and after three nothing is', {
  skip: onlyWide,
}, async () => {
  // With a limit of almost nothing every text takes too long.
  const engine = await startBoundedEngine(0);
  try {
    for (let round = 0; round < 3; round++)
      await assert.rejects(engine.find('x'.repeat(2e7), 'a.txt'), /longer than 0 ms and was given up/);
    await assert.rejects(engine.find('x', 'a.txt'), /earlier texts took too long/);
  } finally {
    await engine.close();
  }
});

test('a scan names each part that was not searched, and reads the others', async () => {
  const slow = {
    name: 'slow',
    independent: true,
    find: (_: string, part: string) =>
      part === 'b.json' ? Promise.reject(new Error('given up')) : Promise.resolve([{ rule: 'r', offset: 0 }]),
  };
  for (const name of ['a.json', 'b.json']) writeFileSync(join(root, name), '{}');
  writeFileSync(join(root, 'c.json.gz'), gzipSync('{}'));
  const source = new FolderSource(root);
  const scan = await scanBundle(source, slow);
  source.close();
  assert.deepEqual(
    scan.finds.map(({ part }) => part),
    ['a.json', 'c.json.gz'],
  );
  assert.deepEqual(scan.unsearched, [{ part: 'b.json', reason: 'given up' }]);
});
