/**
 * With a recipient, bundles that are written about other processes are age files too, and it is reported what lay in the
 * clear.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import { readIdentities } from '../../../src/bundle/read/age.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { readLock } from '../../../src/bundle/write/age-key.ts';
import { sweepSessions } from '../../../src/supervise/finish/sweep.ts';
import { makeScrubber } from '../../../src/supervise/scrub/scrubber.ts';
import { onlyWide } from '../../support/run/test-nodes.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const victim = fileURLToPath(new URL('../programs/victim-session.mjs', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'agentdump-sealed-'));
after(() => rmSync(root, { recursive: true }));
const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);
const keys = { identities: readIdentities(identity) };
let count = 0;
const newDir = () => join(root, String(count++), 'dumps');

function run(dir: string, command: string[], env: NodeJS.ProcessEnv = {}) {
  return spawnSync(process.execPath, [agentdump, 'run', '--dir', dir, '--', ...command], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '', AGENTDUMP_RECIPIENT: recipient, ...env },
  });
}

function onlyBundle(dir: string) {
  const listed = listBundles(dir);
  assert.deepEqual(
    listed.map(({ state }) => state),
    ['encrypted'],
  );
  return openBundle(listed[0]?.path ?? '', keys);
}

const node = (code: string) => [process.execPath, '-e', code];

test('sweep: an encrypted bundle with the journal, and the gap says where the journal was', async () => {
  const dir = newDir();
  const child = spawn(process.execPath, [victim, dir, 'warn'], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const options = { dir, witness: { foundBy: 'sweep' as const }, scrubber: makeScrubber({}) };
  const [swept] = sweepSessions({ ...options, lock: readLock(recipient) });
  assert.equal(swept?.result.outcome, 'sealed');
  const bundle = onlyBundle(dir);
  assert.ok((bundle.readPart('recorder.journal')?.length ?? 0) > 1000);
  assert.match(JSON.stringify(bundle.gaps), /redacted but not encrypted/);
  bundle.close();
  assert.deepEqual(readdirSync(join(dir, 'sessions')), []);
  assert.deepEqual(sweepSessions(options), []);
});

test('run: a death that only the supervisor saw', () => {
  const dir = newDir();
  const result = run(dir, node('process.kill(process.pid, "SIGKILL")'));
  assert.match(result.stderr, /agentdump: killed: .*\.agentdump\.zip\.age\n/);
  const bundle = onlyBundle(dir);
  assert.ok(bundle.parts.some((part) => part.name === 'evidence.json'));
  bundle.close();
});

test('run: a program that wrote its own encrypted bundle gets no second one', () => {
  const dir = newDir();
  const result = run(dir, node('process.kill(process.pid, "SIGTERM"); setTimeout(() => {}, 5000)'));
  assert.equal(result.signal, 'SIGTERM');
  const bundle = onlyBundle(dir);
  assert.equal(bundle.head.verdictKind, 'terminated');
  bundle.close();
});

test('run: a recipient that cannot be read leaves no bundle, and says so', () => {
  const dir = newDir();
  const result = run(dir, node('process.kill(process.pid, "SIGKILL")'), {
    AGENTDUMP_RECIPIENT: 'age1nonsense',
  });
  assert.equal(result.signal, 'SIGKILL');
  assert.match(result.stderr, /no bundle of this exit: not an age recipient/);
  assert.deepEqual(listBundles(dir), []);
});

test('a passphrase of the supervisor is in no part', { skip: onlyWide }, () => {
  const dir = newDir();
  const passphrase = ['four', 'lamps', String(Math.random()).slice(2)].join('-');
  const env = { AGENTDUMP_RECIPIENT: `passphrase:${passphrase}` };
  run(dir, node(`process.kill(process.pid, "SIGKILL") // ${passphrase}`), env);
  const [listed] = listBundles(dir);
  const bundle = openBundle(listed?.path ?? '', { identities: [], passphrase });
  for (const part of bundle.parts) assert.ok(!bundle.readPart(part.name)?.includes(passphrase), part.name);
  bundle.close();
  for (const name of readdirSync(dir, { recursive: true, withFileTypes: true }))
    if (name.isFile())
      assert.ok(!readFileSync(join(name.parentPath, name.name)).includes(passphrase), name.name);
});

test('capture --core: the mini core in the encrypted bundle, no core beside it, and a line that says so', {
  skip: onlyWide || process.arch !== 'x64',
}, async () => {
  const dir = newDir();
  const child = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 100)'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const result = spawnSync(
    process.execPath,
    [agentdump, 'capture', String(child.pid), '--dir', dir, '--core'],
    { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '', AGENTDUMP_RECIPIENT: recipient } },
  );
  child.kill('SIGKILL');
  assert.equal(result.status, 0, result.stderr);
  assert.match(result.stderr, /AGENTDUMP_RECIPIENT rules out a core in the clear/);
  assert.deepEqual(
    readdirSync(dir).filter((name) => name.endsWith('.core')),
    [],
  );
  const bundle = onlyBundle(dir);
  assert.ok(bundle.parts.some(({ name }) => name === 'mini-core.gz'));
  bundle.close();
});
