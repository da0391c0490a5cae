/**
 * A run of which one record is damaged: it ends as it would have, or is refused with the number of that record and what a person can do.
 * It is never taken for a changed program, and no effect is repeated unless its step is in doubt.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { rollBack } from '../../../src/durable/inspect.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import type { RunHandle, StoredRecord } from '../../../src/durable/stores/store.ts';
import type { AgentdumpError } from '../../../src/errors.ts';
import { crashingStore } from '../random/crashing-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-lost-records-'));
after(() => rmSync(folder, { recursive: true, force: true }));

type Damage = (records: readonly StoredRecord[], seq: number) => Pick<RunHandle, 'records' | 'gaps'>;

/** As a store of files and a database show it. */
const damages: Record<string, Damage> = {
  'is missing': (records, seq) => ({ records: records.filter((one) => one.seq !== seq), gaps: [seq] }),
  "can't be read": (records, seq) => ({
    records: records.map((one) => (one.seq === seq ? { ...one, payload: Buffer.from('{') } : one)),
  }),
};

class DamagedStore extends FileStore {
  damage: (handle: RunHandle) => Pick<RunHandle, 'records' | 'gaps'> = ({ records }) => ({ records });

  override open(...given: Parameters<FileStore['open']>): ReturnType<FileStore['open']> {
    const handle = super.open(...given);
    return Object.defineProperties(handle, Object.getOwnPropertyDescriptors(this.damage(handle)));
  }
}

const programs: Record<string, (act: (name: string) => string) => Promise<unknown>> = {
  'steps one after the other': async (act) => {
    const done: string[] = [];
    for (const name of ['a', 'b', "Ann's c", 'd']) done.push(await agent.step(name, () => act(name)));
    return done;
  },
  branches: (act) =>
    Promise.all(
      ['a', 'b'].map(async (name) => {
        await agent.step(`first ${name}`, async () => act(`first ${name}`));
        return agent.step(`second ${name}`, async () => act(`second ${name}`));
      }),
    ),
};

/** What a shell passes on of a command that begins like that, if a person pastes it. */
function wordsInShell(command: string, start: string): string[] {
  assert.ok(command.startsWith(start), command);
  const printed = execFileSync('sh', ['-c', `printf '%s\\0' ${command.slice(start.length)}`], {
    encoding: 'utf8',
  });
  return printed.split('\0').slice(0, -1);
}

let count = 0;
for (const [shape, program] of Object.entries(programs))
  for (const [how, damage] of Object.entries(damages))
    test(`${shape}: a record ${how}`, async () => {
      let refused = 0;
      // The first two records are the run's own.
      for (let seq = 3; seq < 9; seq++) {
        const store = new DamagedStore(join(folder, String(count++)));
        const effects: string[] = [];
        const said: string[] = [];
        const options = { id: 'r', durable: true, notify: (line: string) => said.push(line) } as const;
        const work = () =>
          program((name) => {
            effects.push(name);
            return name;
          });
        const dying = agent.run('program', { ...options, store: crashingStore(store, 10, 'after') }, work);
        await assert.rejects(dying, /the process died here/);
        store.damage = ({ records }) => damage(records, seq);
        const again = await agent.run('program', { ...options, store }, work).catch((error) => error);
        const doubts = said.filter((line) => line.includes('is in doubt')).length;
        assert.ok(effects.length - new Set(effects).size <= doubts, `record ${seq}: ${effects}`);
        if (!(again instanceof Error)) continue;
        refused++;
        const { code, message } = again as AgentdumpError;
        assert.equal(code, 'malformed-input', message);
        assert.ok(message.startsWith(`record ${seq} of run r `), message);
        const [, command = ''] = /`(.*)` does/.exec(message) ?? [];
        const [to = '', ...further] = wordsInShell(command, 'agentdump rollback r --to ');
        assert.deepEqual(further, [], message);
        await rollBack(store, 'r', to);
        await agent.run('program', { ...options, store }, work);
      }
      assert.ok(refused > 0);
    });

test('a byte of a journal in the middle', async () => {
  const store = new FileStore(join(folder, 'bytes'));
  const options = { id: 'r', durable: true, notify: () => {} } as const;
  const work = () => programs['steps one after the other']!((name) => name);
  const dying = agent.run('program', { ...options, store: crashingStore(store, 9, 'after') }, work);
  await assert.rejects(dying, /the process died here/);
  const [name = ''] = readdirSync(store.folderOf('r')).filter((file) => file.endsWith('.journal'));
  const path = join(store.folderOf('r'), name);
  const bytes = readFileSync(path);
  const at = bytes.indexOf('"path":"b"');
  assert.ok(at > 0);
  bytes[at + 8]! ^= 1;
  writeFileSync(path, bytes);
  await assert.rejects(
    agent.run('program', { ...options, store }, work),
    /is damaged, .* rollback r --to a` does/,
  );
});
