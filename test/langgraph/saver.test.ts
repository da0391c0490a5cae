/**
 * The saver's own guarantees: what is stored once, what survives, who may write. LangGraph's contract is tested in
 * conformance.wide.test.ts.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { AgentdumpError } from '../../src/errors.ts';
import { AgentdumpSaver } from '../../src/langgraph/index.ts';
import { onlyWide } from '../support/run/test-nodes.ts';

const made: string[] = [];
function freshDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'agentdump-saver-'));
  made.push(dir);
  return dir;
}
afterEach(() => {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true });
});

type Config = Parameters<AgentdumpSaver['put']>[0];
const start = (thread: string): Config => ({ configurable: { thread_id: thread, checkpoint_ns: '' } });

/** Stores one checkpoint with these channels, all of them new at `version`. */
function put(saver: AgentdumpSaver, config: Config, version: number, values: Record<string, unknown>) {
  const versions = Object.fromEntries(Object.keys(values).map((channel) => [channel, version]));
  const checkpoint = { ...emptyCheckpoint(), id: uuid6(version) };
  const full = { ...checkpoint, channel_values: values, channel_versions: versions };
  return saver.put(config, full, { source: 'loop', step: version, parents: {} }, versions);
}

const valuesOf = async (saver: AgentdumpSaver, config: Config) =>
  (await saver.getTuple(config))?.checkpoint.channel_values;

/** Another saver on a copy: it knows only the files. */
function reopen(dir: string): AgentdumpSaver {
  const copy = freshDir();
  cpSync(dir, copy, { recursive: true, filter: (path) => !path.endsWith('.lock') });
  return new AgentdumpSaver({ dir: copy });
}

function segments(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.journal'))
    .map((name) => join(dir, name));
}

const bytesIn = (dir: string) => segments(dir).reduce((sum, path) => sum + statSync(path).size, 0);

test('a conversation that grows is stored once, and read again from a copy', async () => {
  const saver = new AgentdumpSaver({ dir: freshDir() });
  const messages: object[] = [];
  let config = start('chat');
  let unique = 0;
  for (let step = 1; step <= 100; step++) {
    const content = `${step}:${'lorem ipsum dolor sit amet '.repeat(40)}${step * 7919}`;
    unique += content.length;
    messages.push({ role: 'user', content });
    await saver.putWrites(
      {
        configurable: {
          ...config.configurable,
          checkpoint_id: config.configurable?.['checkpoint_id'] ?? uuid6(0),
        },
      },
      [['messages', [{ role: 'user', content }]]],
      `task-${step}`,
    );
    config = await put(saver, config, step, { messages: [...messages], step });
  }
  assert.deepEqual(await valuesOf(reopen(saver.dir), start('chat')), { messages, step: 100 });
  assert.ok(bytesIn(saver.dir) < 1.3 * unique, `${bytesIn(saver.dir)} bytes for ${unique}`);
});

test('an object that was changed in place is stored as it is now', async () => {
  const saver = new AgentdumpSaver({ dir: freshDir() });
  const message = { content: 'before', more: { deep: [1] as unknown[] } };
  const first = await put(saver, start('t'), 1, { messages: [message] });
  message.more.deep.push(2);
  const second = await put(saver, first, 2, { messages: [message, { content: 'next' }] });
  message.content = 'after';
  await put(saver, second, 3, { messages: [message] });
  const copy = reopen(saver.dir);
  assert.deepEqual(await valuesOf(copy, first), { messages: [{ content: 'before', more: { deep: [1] } }] });
  assert.deepEqual(await valuesOf(copy, second), {
    messages: [{ content: 'before', more: { deep: [1, 2] } }, { content: 'next' }],
  });
  assert.deepEqual(await valuesOf(copy, start('t')), {
    messages: [{ content: 'after', more: { deep: [1, 2] } }],
  });
});

test('two branches from one checkpoint keep their values although their versions are the same', async () => {
  const saver = new AgentdumpSaver({ dir: freshDir() });
  const root = await put(saver, start('fork'), 1, { messages: [{ n: 0 }] });
  const left = await put(saver, root, 2, { messages: [{ n: 0 }, { side: 'left' }] });
  const right = await put(saver, root, 2, { messages: [{ n: 0 }, { side: 'right' }] });
  for (const each of [saver, reopen(saver.dir)]) {
    assert.deepEqual(await valuesOf(each, left), { messages: [{ n: 0 }, { side: 'left' }] });
    assert.deepEqual(await valuesOf(each, right), { messages: [{ n: 0 }, { side: 'right' }] });
  }
});

test('cut at every byte of its last record, a thread is whole up to the one before and can be gone on with', {
  skip: onlyWide,
}, async () => {
  const saver = new AgentdumpSaver({ dir: freshDir() });
  const first = await put(saver, start('torn'), 1, { messages: [{ n: 1 }] });
  const [path = ''] = segments(saver.dir);
  const whole = statSync(path).size;
  await put(saver, first, 2, { messages: [{ n: 1 }, { n: 2 }] });
  const bytes = readFileSync(path);
  for (let cut = whole; cut < bytes.length; cut++) {
    writeFileSync(path, bytes.subarray(0, cut));
    const copy = reopen(saver.dir);
    assert.deepEqual(await valuesOf(copy, start('torn')), { messages: [{ n: 1 }] }, `cut at ${cut}`);
    await put(copy, first, 3, { messages: [{ n: 1 }, { n: 3 }] });
    assert.deepEqual(await valuesOf(reopen(copy.dir), start('torn')), { messages: [{ n: 1 }, { n: 3 }] });
  }
});

test('a damaged byte gives the right answer, an older one, or a clear error', {
  skip: onlyWide,
}, async () => {
  const saver = new AgentdumpSaver({ dir: freshDir() });
  let config = start('damaged');
  const answers = new Set<string>(['undefined']);
  for (let n = 1; n <= 3; n++) {
    config = await put(saver, config, n, { messages: Array.from({ length: n }, (_, i) => ({ i })) });
    answers.add(JSON.stringify(await valuesOf(saver, config)));
  }
  const [path = ''] = segments(saver.dir);
  const bytes = readFileSync(path);
  for (let at = 0; at < bytes.length; at += 3) {
    const damaged = Buffer.from(bytes);
    damaged[at]! ^= 0x55;
    writeFileSync(path, damaged);
    try {
      const got = JSON.stringify(await valuesOf(reopen(saver.dir), start('damaged'))) ?? 'undefined';
      assert.ok(answers.has(got), `byte ${at}: ${got}`);
    } catch (error) {
      assert.ok(error instanceof AgentdumpError && error.code === 'malformed-input', `byte ${at}: ${error}`);
    }
  }
});

test('threads of any name are listed, and a deleted one is gone', async () => {
  const dir = freshDir();
  const saver = new AgentdumpSaver({ dir });
  const names = ['plain', '../../etc', 'a/b', '', '__proto__', 'ü'.repeat(300)].filter((name) => name);
  for (const name of names) await put(saver, start(name), 1, { name });
  const listed: unknown[] = [];
  for await (const { config } of reopen(dir).list({})) listed.push(config.configurable?.['thread_id']);
  assert.deepEqual(listed.sort(), [...names].sort());
  await saver.deleteThread('../../etc');
  assert.equal(await saver.getTuple(start('../../etc')), undefined);
  assert.equal(await reopen(dir).getTuple(start('../../etc')), undefined);
  assert.deepEqual(await valuesOf(saver, start('a/b')), { name: 'a/b' });
});

test('compaction keeps every answer of what it keeps, in fewer bytes', async () => {
  const saver = new AgentdumpSaver({ dir: freshDir() });
  const messages: object[] = [];
  let config = start('long');
  const kept: [Config, unknown][] = [];
  for (let step = 1; step <= 40; step++) {
    messages.push({ step, text: `${step * 104729}`.repeat(30) });
    if (step > 30) messages.shift();
    config = await put(saver, config, step, {
      messages: [...messages],
      scratch: `${step * 15485863}`.repeat(60),
    });
    await saver.putWrites(config, [['next', { step }]], 'task');
    if (step > 35) kept.push([config, await saver.getTuple(config)]);
  }
  const before = bytesIn(saver.dir);
  await saver.compact({ keep: 5 });
  assert.ok(bytesIn(saver.dir) < before / 2, `${bytesIn(saver.dir)} of ${before}`);
  for (const each of [saver, reopen(saver.dir)]) {
    for (const [place, tuple] of kept) assert.deepEqual(await each.getTuple(place), tuple);
    const left = [];
    for await (const tuple of each.list(start('long'))) left.push(tuple);
    assert.equal(left.length, 5);
  }
  await put(saver, config, 41, { messages });
  assert.deepEqual(await valuesOf(reopen(saver.dir), start('long')), { messages });
});

test('a compaction that was cut between its renames has lost nothing', async () => {
  const saver = new AgentdumpSaver({ dir: freshDir() });
  await put(saver, start('cut'), 1, { n: 1 });
  const [folder = ''] = readdirSync(saver.dir).filter((name) => !name.endsWith('.lock'));
  const copy = freshDir();
  cpSync(join(saver.dir, folder), join(copy, `${folder}.old`), { recursive: true });
  cpSync(join(saver.dir, folder), join(copy, `${folder}.new`), { recursive: true });
  const other = new AgentdumpSaver({ dir: copy });
  const config = (await other.getTuple(start('cut')))?.config;
  assert.deepEqual(await valuesOf(other, start('cut')), { n: 1 });
  await put(other, config ?? start('cut'), 2, { n: 2 });
  assert.deepEqual(
    readdirSync(copy).filter((name) => !name.endsWith('.lock')),
    [folder],
  );
  assert.deepEqual(await valuesOf(reopen(copy), start('cut')), { n: 2 });
});

test('a folder that can not be made is a clear error', async () => {
  const file = join(freshDir(), 'file');
  writeFileSync(file, '');
  const saver = new AgentdumpSaver({ dir: join(file, 'below') });
  await assert.rejects(put(saver, start('t'), 1, {}), { code: 'unwritable', message: /ENOTDIR/ });
});

test('a config without a thread is a clear error', async () => {
  const saver = new AgentdumpSaver({ dir: freshDir() });
  await assert.rejects(put(saver, {}, 1, {}), { code: 'usage', message: /no configurable\.thread_id/ });
  assert.throws(() => new AgentdumpSaver({ dir: '' }), { code: 'usage' });
});
