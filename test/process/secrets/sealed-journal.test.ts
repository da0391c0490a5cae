/**
 * With a recipient, what an agent was told is never in any file in the clear: not while it lives, not after a SIGKILL, not in
 * what a sweep or a supervisor writes. With the identity all of it can be read.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import { readJournal } from '../../../src/journal/read/reader.ts';
import { majorsInTurn, nodeOf, onlyWide, testMajors, usualNode } from '../../support/run/test-nodes.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const program = join(root, 'fixtures/programs/agents/agent-confides.mjs');
const cli = join(root, 'bin/agentdump.js');
const preload = ['--require', join(root, 'dist/register.cjs')];
const scratch = mkdtempSync(join(tmpdir(), 'agentdump-sealed-'));
after(() => rmSync(scratch, { recursive: true }));
const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);
const identityFile = join(scratch, 'identity.txt');
writeFileSync(identityFile, identity);
const passphrase = `five geese ${Math.random()}`;
const passphraseFile = join(scratch, 'passphrase.txt');
writeFileSync(passphraseFile, passphrase);
/** In no form that a redactor recognizes. */
const told = 'the patient likes marmalade';

interface Place {
  home: string;
  dumps: string;
  env: NodeJS.ProcessEnv;
}

let count = 0;
function newPlace(lockedTo: string | undefined): Place {
  const home = join(scratch, String(count++));
  mkdirSync(join(home, 'tmp'), { recursive: true });
  const dumps = join(home, 'dumps');
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    AGENTDUMP_DIR: dumps,
    NODE_NO_WARNINGS: '1',
    ...(lockedTo && { AGENTDUMP_RECIPIENT: lockedTo }),
  };
  return { home, dumps, env };
}

function start(place: Place, command: string[], words: string[]): ChildProcess {
  const [file = '', ...rest] = command;
  const options = { cwd: place.home, env: place.env, stdio: ['ignore', 'pipe', 'ignore'] as const };
  return spawn(file, [...rest, program, told, ...words], { ...options, stdio: [...options.stdio] });
}

async function waitFor(child: ChildProcess, word: string): Promise<void> {
  let out = '';
  child.stdout!.on('data', (chunk: Buffer) => {
    out += chunk;
  });
  while (!out.includes(word) && child.exitCode === null) await new Promise((done) => setTimeout(done, 20));
}

/** Files of other tests, and of the living program, may disappear while we read. */
function unlessGone<Value>(read: () => Value, instead: Value): Value {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return instead;
  }
}

/** Files below `folder`, and below /dev/shm, that contain the words. */
function filesWith(folder: string): string[] {
  const walk = (at: string): string[] =>
    unlessGone(() => readdirSync(at, { withFileTypes: true }), []).flatMap((entry) => {
      const path = join(at, entry.name);
      if (entry.isDirectory()) return walk(path);
      return entry.isFile() && unlessGone(() => readFileSync(path).includes(told), false) ? [path] : [];
    });
  const memory = readdirSync('/dev/shm').filter((name) => name.startsWith('agentdump-'));
  const inMemory = memory
    .map((name) => join('/dev/shm', name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.uid === process.getuid?.());
  return [folder, ...inMemory].flatMap(walk);
}

const agentdump = (place: Place, ...words: string[]) =>
  spawnSync(process.execPath, [cli, ...words], { cwd: place.home, env: place.env, encoding: 'utf8' });

for (const major of majorsInTurn(...testMajors))
  describe(`Node ${major}`, () => {
    test('killed, then swept up: nothing in the clear before, between and after', async () => {
      const place = newPlace(recipient);
      const child = start(place, [nodeOf(major), ...preload], []);
      await waitFor(child, 'ready');
      assert.deepEqual(filesWith(place.home), []);
      child.kill('SIGKILL');
      await once(child, 'exit');
      assert.deepEqual(filesWith(place.home), []);
      assert.equal(agentdump(place, 'sweep').status, 0);
      assert.deepEqual(filesWith(place.home), []);
      requireTold(place);
    });

    for (const [how, says] of [
      ['throw', 'uncaught-exception'],
      ['abort', 'abort'],
    ] as const)
      test(`under the supervisor, ${how}`, async () => {
        const place = newPlace(recipient);
        const run = [process.execPath, cli, 'run', '--no-core', '--', nodeOf(major)];
        await once(start(place, run, [how]), 'exit');
        assert.deepEqual(filesWith(place.home), []);
        assert.match(listBundles(place.dumps)[0]?.name ?? '', new RegExp(says));
      });
  });

function requireTold(place: Place): void {
  const [listed, ...others] = listBundles(place.dumps);
  assert.deepEqual(others, []);
  const path = listed!.path;
  assert.equal(agentdump(place, 'analyze', path).status, 3, 'locked');
  const opened = agentdump(place, 'analyze', path, '--identity', identityFile, '--json');
  assert.ok(opened.stdout.includes(told), opened.stderr);
  const account = JSON.parse(opened.stdout) as { gaps: { reason: string }[] };
  assert.deepEqual(
    account.gaps.filter(({ reason }) => /seal|clear|encrypt/.test(reason)),
    [],
  );
  const clear = join(place.home, 'clear.agentdump.zip');
  assert.equal(agentdump(place, 'decrypt', path, '--identity', identityFile, '--output', clear).status, 0);
  const sealed = agentdump(place, 'analyze', clear, '--json');
  assert.ok(!sealed.stdout.includes(told));
  assert.match(sealed.stdout, /\d+ records are sealed, and no key that was given opens them/);
  assert.ok(agentdump(place, 'analyze', clear, '--identity', identityFile, '--json').stdout.includes(told));
  assert.match(agentdump(place, 'agent', clear, '--identity', identityFile).stdout, /marmalade/);
}

test('the watchdog’s bundle of a hang', { skip: onlyWide }, async () => {
  const place = newPlace(recipient);
  place.env['AGENTDUMP_HANG_MS'] = '1000';
  const child = start(place, [usualNode.path, ...preload], ['hang']);
  while (!listBundles(place.dumps).some(({ state }) => state === 'encrypted') && child.exitCode === null)
    await new Promise((done) => setTimeout(done, 100));
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.deepEqual(filesWith(place.home), []);
});

test('a passphrase seals as well', { skip: onlyWide }, async () => {
  const place = newPlace(`passphrase:${passphrase}`);
  const child = start(place, [usualNode.path, ...preload], []);
  await waitFor(child, 'ready');
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.deepEqual(filesWith(place.home), []);
  assert.equal(agentdump(place, 'sweep').status, 0);
  const [bundle] = listBundles(place.dumps);
  const opened = agentdump(place, 'analyze', bundle!.path, '--passphrase-file', passphraseFile, '--json');
  assert.ok(opened.stdout.includes(told), opened.stderr);
});

test('a recipient that cannot be read: no clear journal either', { skip: onlyWide }, async () => {
  const place = newPlace('/nowhere/recipients.txt');
  const child = start(place, [usualNode.path, ...preload], []);
  await waitFor(child, 'ready');
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.deepEqual(filesWith(place.home), []);
});

test('without a recipient the journal is as it was: clear', async () => {
  const place = newPlace(undefined);
  const child = start(place, [usualNode.path, ...preload], []);
  await waitFor(child, 'ready');
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.ok(filesWith(place.home).some((path) => path.endsWith('.journal')));
});

const noAge = spawnSync('age', ['--version']).error ? 'no age here' : false;

test('Debian’s age opens the key that the journal holds', { skip: noAge }, async () => {
  const place = newPlace(recipient);
  const child = start(place, [usualNode.path, ...preload], []);
  await waitFor(child, 'ready');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const sessions = join(place.dumps, 'sessions');
  const folder = join(sessions, readdirSync(sessions)[0]!);
  const byAge = (input: Uint8Array): Uint8Array =>
    spawnSync('age', ['-d', '-i', identityFile], { input }).stdout;
  const records = [...readJournal(folder, byAge).records];
  assert.ok(records.some(({ payload, sealed }) => !sealed && Buffer.from(payload).includes(told)));
});
