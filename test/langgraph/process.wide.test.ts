/** Real processes: killed and resumed, also from a copy, and two that want the same thread. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { AgentdumpSaver } from '../../src/langgraph/index.ts';

const here = dirname(fileURLToPath(import.meta.url));
const skip = existsSync(join(here, 'node_modules')) ? false : 'npm ci --prefix test/langgraph was not run';
const root = mkdtempSync(join(tmpdir(), 'agentdump-saver-processes-'));
after(() => rmSync(root, { recursive: true, force: true }));
const thread = { configurable: { thread_id: 'seven', checkpoint_ns: '' } };

interface Running {
  child: ChildProcess;
  output: () => string;
  ended: Promise<unknown>;
}

function start(...args: string[]): Running {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn(process.execPath, [join(here, 'chain.mjs'), ...args], { stdio: [...stdio] });
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  return { child, output: () => output, ended: once(child, 'close') };
}

async function until({ child, output }: Running, text: string): Promise<void> {
  while (!output().includes(text)) {
    assert.equal(child.exitCode, null, output());
    await sleep(5);
  }
}

async function kill({ child, ended }: Running): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}

test('killed in its fourth of seven nodes and resumed from a copy: none of the three runs again', {
  skip,
}, async () => {
  const [dir, copy, log] = [join(root, 'first'), join(root, 'copy'), join(root, 'log')];
  const first = start(dir, log);
  await until(first, 'waiting');
  await kill(first);
  cpSync(dir, copy, { recursive: true, verbatimSymlinks: true });
  const second = start(copy, log);
  await second.ended;
  const names = [1, 2, 3, 4, 5, 6, 7].map((n) => `node${n}`);
  assert.deepEqual(JSON.parse(second.output()), names);
  assert.deepEqual(
    readFileSync(log, 'utf8').trim().split('\n'),
    names.flatMap((name) => (name === 'node4' ? [name, name] : [name])),
  );
});

test('what was acknowledged before kill -9 is there', { skip }, async () => {
  for (let round = 0; round < 5; round++) {
    const dir = join(root, `kill-${round}`);
    const writer = start(dir, '-', 'write');
    await until(writer, '5\n');
    await sleep(round * 7);
    await kill(writer);
    const acknowledged = Number(writer.output().trim().split('\n').at(-1));
    const stored = (await new AgentdumpSaver({ dir }).getTuple(thread))?.checkpoint.channel_values['step'];
    assert.ok(Number(stored) >= acknowledged, `${stored} stored, ${acknowledged} acknowledged`);
  }
});

test('a thread that another process writes to is a clear error, and free when that is dead', {
  skip,
}, async () => {
  const dir = join(root, 'two');
  const writer = start(dir, '-', 'write');
  await until(writer, '3\n');
  const saver = new AgentdumpSaver({ dir, lockWaitMs: 60 });
  const seen = (await saver.getTuple(thread))?.checkpoint.channel_values['step'];
  assert.ok(Number(seen) >= 3);
  const put = () =>
    saver.put(thread, { ...emptyCheckpoint(), id: uuid6(1) }, { source: 'update', step: 1, parents: {} }, {});
  const message = new RegExp(`thread "seven" is being written to by process ${writer.child.pid}`);
  await assert.rejects(put(), { code: 'unwritable', message });
  await kill(writer);
  const { configurable } = await put();
  assert.equal((await saver.getTuple(thread))?.checkpoint.id, configurable?.['checkpoint_id']);
});
