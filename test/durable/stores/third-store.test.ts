/**
 * The example of a store in src/durable/stores/README.md works: it is extracted from the page and passes the conformance tests, on a
 * Node that has SQLite.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import type { DurableStore } from '../../../src/durable/stores/store.ts';
import { findNodes } from '../../support/victims/run-victim.ts';
import { testStore } from './store-conformance.ts';

const own = fileURLToPath(import.meta.url);
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const hasSqlite = major > 22 || (major === 22 && minor >= 13);

interface Shown extends DurableStore {
  db: { prepare(text: string): { run(...values: string[]): unknown } };
}

if (hasSqlite) {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-third-store-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const page = readFileSync(new URL('../../../src/durable/stores/README.md', import.meta.url), 'utf8');
  const [, code = ''] = /A third one[\s\S]*?```ts\n([\s\S]*?)```/.exec(page) ?? [];
  const module = join(folder, 'sqlite-store.mts');
  writeFileSync(module, code);
  const { SqliteStore } = await import(pathToFileURL(module).href);
  let count = 0;
  const fresh = (): Shown => new SqliteStore(join(folder, `${count++}.db`));
  testStore({
    name: 'SQLite, as the page has it',
    open: async () => fresh(),
    expire: async (store, run) => {
      (store as Shown).db.prepare('update runs set until_ms = 0 where id = ?').run(run);
    },
  });
  test('a durable run goes on in it', async () => {
    const store = fresh();
    const ran: string[] = [];
    const run = (fails: boolean) =>
      agent.run('job', { id: 'j', durable: true, store }, async () => {
        await agent.step('one', () => ran.push('one'));
        if (fails) throw new Error('died');
        return agent.step('two', () => ran.push('two'));
      });
    await assert.rejects(run(true));
    await run(false);
    assert.deepEqual(ran, ['one', 'two']);
    await store.close();
  });
} else {
  const newer = findNodes().find(({ name }) => name === 'Node 24');
  test('in Node 24', { skip: newer ? false : 'no Node with SQLite: npm ci --prefix test/nodes' }, () => {
    const words = ['--import', 'tsx', '--test', '--test-reporter=tap', own];
    const env = { ...process.env };
    delete env['NODE_TEST_CONTEXT'];
    const { status, stdout } = spawnSync(newer?.path ?? '', words, { encoding: 'utf8', env });
    assert.equal(status, 0, stdout);
    assert.match(stdout, /# pass 8/);
  });
}
