/** With a key, no value of a thread can be read on disk; threads that were stored without one stay readable. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { AgentdumpSaver } from '../../src/langgraph/index.ts';

const key = Buffer.alloc(32, 7);
const config = { configurable: { thread_id: 'chat', checkpoint_ns: '' } };

function freshDir(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'agentdump-sealed-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function put(saver: AgentdumpSaver, said: string): Promise<void> {
  const versions = { messages: 1, note: 1 };
  const values = { messages: [{ role: 'user', content: said }], note: said };
  const checkpoint = {
    ...emptyCheckpoint(),
    id: uuid6(1),
    channel_values: values,
    channel_versions: versions,
  };
  const at = await saver.put(config, checkpoint, { source: 'loop', step: 1, parents: {} }, versions);
  await saver.putWrites(at, [['note', said]], 'task');
}

const read = async (saver: AgentdumpSaver) => (await saver.getTuple(config))?.checkpoint.channel_values;

const bytesIn = (dir: string): string =>
  readdirSync(dir, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');

test('sealed on the disk, read with the key, locked without it and with another', async (t) => {
  const dir = freshDir(t);
  await put(new AgentdumpSaver({ dir, key }), 'meet me at the old mill');
  assert.doesNotMatch(bytesIn(dir), /old mill|loop|user/);
  assert.deepEqual(await read(new AgentdumpSaver({ dir, key })), {
    messages: [{ role: 'user', content: 'meet me at the old mill' }],
    note: 'meet me at the old mill',
  });
  await assert.rejects(read(new AgentdumpSaver({ dir })), { code: 'locked' });
  await assert.rejects(read(new AgentdumpSaver({ dir, key: Buffer.alloc(32, 8) })), { code: 'locked' });
});

test('what was stored before there was a key is read with one', async (t) => {
  const dir = freshDir(t);
  await put(new AgentdumpSaver({ dir }), 'in the clear');
  assert.equal((await read(new AgentdumpSaver({ dir, key })))?.['note'], 'in the clear');
});
