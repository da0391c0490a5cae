/** SIGKILL at random instants of the writing: something always survives, and the bundle says exactly what it has. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { isWideRun } from '../../support/run/test-nodes.ts';
import {
  findNodes,
  preload,
  programs,
  runVictim,
  temporaryFolder,
} from '../../support/victims/run-victim.ts';

const kills = Number(process.env['AGENTDUMP_TEST_KILLS'] ?? (isWideRun ? 40 : 8));
/** The latest kill, as a share of an uninterrupted write: after the seal. */
const span = 1.2;
/** On a busy machine the writing begins and ends at other times than when it was measured. */
const mostKills = 10 * kills;
const node = findNodes().at(-1) ?? assert.fail('no Node');

/**
 * Kills a victim `afterMs` after it announced that it is about to throw. Returns how long it lived from then on, and the
 * names in its dump folder.
 */
async function killWhileWriting(dir: string, afterMs: number): Promise<{ livedMs: number; names: string[] }> {
  const child = spawn(node.path, ['--require', preload, join(programs, 'throws/throw-when-told.cjs')], {
    cwd: dir,
    env: { PATH: process.env['PATH'] ?? '', HOME: dir, AGENTDUMP_DIR: join(dir, 'dumps') },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const start = performance.now();
  await Promise.race([ended, sleep(afterMs, undefined, { ref: false })]);
  child.kill('SIGKILL');
  await ended;
  const livedMs = performance.now() - start;
  const dumps = join(dir, 'dumps');
  const names = existsSync(dumps)
    ? readdirSync(dumps).filter((name) => /\.agentdump(\.partial)?$/.test(name))
    : [];
  return { livedMs, names };
}

test(`${kills} kills while the bundle is written`, async (t) => {
  let sealed = 0;
  let partial = 0;
  const { livedMs } = await killWhileWriting(temporaryFolder(t), 60_000);
  for (let i = 0; i < kills || (partial === 0 && i < mostKills); i++) {
    const dir = temporaryFolder(t);
    const { names } = await killWhileWriting(dir, ((i % kills) / kills) * livedMs * span);
    for (const name of names) {
      const reader = openBundle(join(dir, 'dumps', name));
      if (reader.sealed) sealed++;
      else partial++;
      assert.ok(reader.parts.length > 0, `${name} has no part`);
      if (!reader.sealed) assert.ok(reader.gaps.length > 0, `${name} is not sealed and says nothing of it`);
      for (const part of reader.parts) {
        const bytes = reader.readPart(part.name) ?? assert.fail(`${name} claims ${part.name} and lacks it`);
        assert.equal(bytes.length, part.bytes);
        if (part.sha256) assert.equal(createHash('sha256').update(bytes).digest('hex'), part.sha256);
        if (part.name.endsWith('.json')) JSON.parse(Buffer.from(bytes).toString('utf8'));
      }
      reader.close();
    }
  }
  t.diagnostic(`${partial} partial, ${sealed} sealed, of ${kills} kills`);
  assert.ok(partial > 0, 'no kill came while the bundle was written: the test shows nothing');
});

test('killed as soon as there is a trace of the death: it is told from nothing', async (t) => {
  let wasWithoutWriter = 0;
  for (let i = 0; i < 2 * kills; i++) {
    const dir = temporaryFolder(t);
    const dumps = join(dir, 'dumps');
    const child = spawn(node.path, ['--require', preload, join(programs, 'throws/throw-when-told.cjs')], {
      cwd: dir,
      env: { PATH: process.env['PATH'] ?? '', HOME: dir, AGENTDUMP_DIR: dumps },
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => child.on('exit', resolve));
    while (listed(dumps).length === 0) await sleep(1);
    child.kill('SIGKILL');
    await ended;
    const [only, ...others] = listed(dumps);
    assert.deepEqual(others, []);
    assert.equal(only?.verdictKind, 'uncaught-exception');
    assert.equal(only?.program, 'throw-when-told');
    if (only?.name.endsWith('.starting')) wasWithoutWriter++;
  }
  t.diagnostic(`${wasWithoutWriter} of ${2 * kills} before the first part`);
  assert.ok(wasWithoutWriter > 0, 'no kill came before the first part: the test shows nothing');
});

test('the same with a recipient: the trace holds nothing that the name of a bundle does not tell', async (t) => {
  const recipient = await identityToRecipient(await generateX25519Identity());
  const code = `setTimeout(() => { throw new Error('a secret of ' + process.argv[2]); }, 50);`;
  let traces = 0;
  for (let i = 0; i < kills || (traces === 0 && i < mostKills); i++) {
    const dir = temporaryFolder(t);
    const dumps = join(dir, 'dumps');
    writeFileSync(join(dir, 'victim.cjs'), code);
    const child = spawn(node.path, ['--require', preload, join(dir, 'victim.cjs'), 'Alice'], {
      cwd: dir,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: dir,
        AGENTDUMP_DIR: dumps,
        AGENTDUMP_RECIPIENT: recipient,
      },
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => child.on('exit', resolve));
    while (listed(dumps).length === 0) await sleep(1);
    child.kill('SIGKILL');
    await ended;
    const left = listed(dumps);
    assert.notEqual(left.length, 0);
    for (const { name, path } of left) {
      assert.match(name, /-victim-uncaught-exception-[0-9a-f]{8}\.agentdump\.(?:starting|zip\.age)$/);
      if (name.endsWith('.age')) continue;
      traces++;
      assert.deepEqual(readdirSync(path), ['progress.jsonl']);
      const { begin } = JSON.parse(readFileSync(join(path, 'progress.jsonl'), 'utf8'));
      const { id, createdAt, program, verdictKind, writer, schema, version, ...more } = begin;
      assert.deepEqual(more, {});
      assert.deepEqual({ program, verdictKind }, { program: 'victim', verdictKind: 'uncaught-exception' });
      const reader = openBundle(path);
      assert.equal(reader.parts.length, 0);
      reader.close();
    }
  }
  t.diagnostic(`${traces} traces of ${kills} kills`);
  assert.ok(traces > 0, 'no kill came before the first part: the test shows nothing');
});

test('with a recipient the trace of a death goes when the bundle is there', async (t) => {
  const dir = temporaryFolder(t);
  const env = { AGENTDUMP_RECIPIENT: await identityToRecipient(await generateX25519Identity()) };
  await runVictim(node, { file: 'throws/throw-sync.cjs', bundles: [] }, { preload: true, dir, env });
  const names = readdirSync(join(dir, 'dumps')).filter((name) => name.includes('.agentdump'));
  assert.equal(names.length, 1);
  assert.match(names[0] ?? '', /\.agentdump\.zip\.age$/);
});

/** A bundle that is being renamed is listed by the next call. */
const listed = (dumps: string) =>
  existsSync(dumps) ? listBundles(dumps).filter(({ state }) => state !== 'unreadable') : [];
