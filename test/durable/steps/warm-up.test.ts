/** Preparations for the first record are made once per process, not once per run. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import type { RunTitle } from '../../../src/durable/stores/store.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-warm-up-'));
after(() => rmSync(folder, { recursive: true, force: true }));

class CountingStore extends FileStore {
  rehearsed = 0;
  override open(id: string, title?: RunTitle) {
    const handle = super.open(id, title);
    const real = handle.rehearse.bind(handle);
    handle.rehearse = (kind, payload) => {
      this.rehearsed++;
      real(kind, payload);
    };
    return handle;
  }
}

test('a hundred runs rehearse no more than one', async () => {
  const store = new CountingStore(folder);
  const run = (id: string, plain: boolean) =>
    agent.run('job', { id, durable: true, store, plain }, () => agent.step('work', () => id));
  /** It begins a while after the first run of its kind, and then goes on in every turn of the loop. */
  const idle = async (least = 0) => {
    let before = -1;
    while (before !== store.rehearsed || before < least) {
      before = store.rehearsed;
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    return before;
  };
  await run('first', true);
  const once = await idle(50);
  assert.ok(once > 50, `${once}`);
  for (let index = 0; index < 100; index++) await run(`r${index}`, true);
  assert.equal(await idle(), once);
  // Values that are searched for secrets take another code path.
  await run('searched', false);
  assert.equal(await idle(once + 50), 2 * once);
});
