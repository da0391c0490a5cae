/** The built program as a shell sees it: exit codes, streams, formats. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { onlyWide } from '../support/run/test-nodes.ts';
import { synthParts, writeBundle } from '../support/synth/synth-analysis-bundle.ts';

const bin = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'bin', 'agentdump.js');
const root = mkdtempSync(join(tmpdir(), 'agentdump-cli-'));
after(() => rmSync(root, { recursive: true, force: true }));

const name = '20261121T030405.678Z-agent-uncaught-exception-00112233.agentdump';
const whole = join(root, 'dumps');
const agentWithoutGap = { state: { goal: 'x' }, providers: {} };
mkdirSync(whole, { mode: 0o700 });
writeBundle(join(whole, name), synthParts({ 'agent.json': agentWithoutGap }));

function run(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...words], {
    encoding: 'utf8',
    cwd: root,
    env: { PATH: process.env['PATH'], NO_COLOR: '', AGENTDUMP_DIR: whole },
  });
  return { status, stdout, stderr };
}

test('analyze takes latest, a path, a name and the first digits of an id', () => {
  for (const wanted of ['latest', join(whole, name), name, '0011']) {
    const { status, stdout, stderr } = run('analyze', wanted);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^✖ TypeError: Cannot read properties of undefined/);
    assert.equal(stderr, '');
    assert.doesNotMatch(stdout, /\x1b/);
  }
});

test('--json prints one document, --markdown one page', () => {
  const account = JSON.parse(run('analyze', 'latest', '--json').stdout);
  assert.equal(account.schema, 'agentdump.analysis/1');
  assert.equal(account.bundle.sealed, true);
  assert.match(account.bundle.parts[0].sha256, /^[0-9a-f]{64}$/);
  assert.match(run('analyze', 'latest', '--markdown').stdout, /^## TypeError/);
  assert.equal(run('analyze', 'latest', '--markdown', '--json').status, 2);
});

test('--html writes one page, to a file that is not there yet, or to stdout', { skip: onlyWide }, () => {
  const file = join(root, 'account.html');
  const { status, stdout, stderr } = run('analyze', 'latest', '--html', file);
  assert.deepEqual([status, stdout, stderr], [0, '', '']);
  const html = readFileSync(file, 'utf8');
  assert.match(html, /^<!doctype html>[\s\S]*script-src 'sha256-[\s\S]*<title>TypeError: /);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.match(run('analyze', 'latest', '--html', file).stderr, /exists/);
  assert.equal(readFileSync(file, 'utf8'), html);
  assert.equal(run('analyze', 'latest', '--html', '-').stdout, html);
  assert.equal(run('analyze', 'latest', '--html', '-', '--json').status, 2);
  assert.equal(run('analyze', 'latest', '--html').status, 2);
});

test('colour on request, never into a pipe by itself', () => {
  const environment = { PATH: process.env['PATH'], FORCE_COLOR: '1', AGENTDUMP_DIR: whole };
  const { stdout } = spawnSync(process.execPath, [bin, 'analyze', 'latest'], {
    encoding: 'utf8',
    env: environment,
  });
  assert.match(stdout, /^\x1b\[/);
});

test('gaps are exit code 1', () => {
  const dir = join(root, 'gaps');
  mkdirSync(dir, { mode: 0o700 });
  writeBundle(join(dir, name), synthParts({ 'memory.json': undefined }));
  const { status, stdout } = run('analyze', 'latest', '--dir', dir);
  assert.equal(status, 1);
  assert.match(stdout, /Gaps\n {2}- .*memory\.json/s);
});

test('unreadable input is exit code 3, with advice', { skip: onlyWide }, () => {
  const plain = join(root, 'plain.txt');
  writeFileSync(plain, 'no bundle');
  for (const [words, message] of [
    [['analyze', 'nothing-here'], /no bundle nothing-here/],
    [['analyze', 'latest', '--dir', join(root, 'empty')], /there is no bundle in/],
    [['analyze', plain], /no bundle/],
    [['analyze', root], /no bundle/],
    [['verify', join(root, 'plain.txt')], /no bundle/],
  ] as [string[], RegExp][]) {
    const { status, stdout, stderr } = run(...words);
    assert.equal(status, 3, `${words}: ${stderr}`);
    assert.equal(stdout, '');
    assert.match(stderr, message);
    assert.match(stderr, /^(agentdump: .*\n){1,2}$/);
  }
});

test("analyze takes Node's own diagnostic report too", () => {
  const report = join(root, 'report.json');
  writeFileSync(
    report,
    JSON.stringify({ header: { reportVersion: 3, trigger: 'Signal', event: 'SIGUSR2' } }),
  );
  const { status, stdout } = run('analyze', report);
  assert.equal(status, 1);
  assert.match(stdout, /SIGUSR2 asked for it/);
});

test('wrong words are exit code 2', () => {
  for (const words of [
    [],
    ['analyse', 'x'],
    ['analyze'],
    ['analyze', 'x', '--wide'],
    ['prune', '--max-bytes', 'much'],
  ])
    assert.equal(run(...words).status, 2, words.join(' '));
});

test('help is success, on stdout, and names every command', () => {
  const { status, stdout, stderr } = run('--help');
  assert.equal(status, 0);
  assert.equal(stderr, '');
  for (const command of ['analyze', 'list', 'prune', 'pack', 'unpack', 'verify'])
    assert.match(stdout, new RegExp(`agentdump ${command}`));
  assert.match(run('analyze', '--help').stdout, /--markdown/);
  assert.equal(run('help').stdout, stdout);
  assert.equal(run('help', 'analyze').stdout, run('analyze', '--help').stdout);
  assert.match(run('--version').stdout, /^\d+\.\d+\.\d+\n$/);
});

test('a closed pipe is success', async () => {
  const child = spawn(process.execPath, [bin, 'analyze', 'latest', '--json'], {
    env: { PATH: process.env['PATH'], AGENTDUMP_DIR: whole },
  });
  child.stdout.destroy();
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  assert.equal(code, 0, stderr);
  assert.equal(stderr, '');
});

test('output that can not be written is one line, and no verdict', () => {
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, [bin, 'analyze', 'latest'], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], AGENTDUMP_DIR: whole },
    stdio: ['ignore', full, 'pipe'],
  });
  closeSync(full);
  assert.equal(status, 2);
  assert.match(stderr, /^agentdump: cannot write the output: ENOSPC.*\n$/);
});

test('ci diff has a help of its own', () => {
  const { status, stdout, stderr } = run('ci', 'diff', '--help');
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, /--baseline FOLDER/);
});

test('help shows examples, also of the commands that read their own words', () => {
  assert.match(run('diff', '--help').stdout, /^Examples:\n {2}agentdump diff /m);
  assert.match(run('run', '--help').stdout, /^Examples\n {2}agentdump run -- node server\.js\n/m);
});

test('a shell is told commands and options', () => {
  const complete = (...line: string[]) =>
    run('--get-yargs-completions', 'agentdump', ...line).stdout.split('\n');
  assert.ok(complete('an').includes('analyze'));
  assert.ok(complete('analyze', '--m').includes('--markdown'));
  assert.ok(complete('run', '--re').includes('--restart'));
  assert.match(run('completion').stdout, /agentdump completion >> ~\/\.bashrc/);
});

test('list shows the newest first, as a table and as data', { skip: onlyWide }, () => {
  const { status, stdout } = run('list');
  assert.equal(status, 0);
  assert.match(stdout, /00112233 {2}2026-11-21 03:04:05 {2}agent {4}uncaught-exception/);
  assert.equal(JSON.parse(run('list', '--json').stdout)[0].verdictKind, 'uncaught-exception');
  const empty = run('list', '--dir', join(root, 'nowhere'));
  assert.equal(empty.status, 0);
  assert.match(empty.stderr, /no bundle in/);
});

test('pack, analyze in place, verify, unpack', () => {
  const dir = join(root, 'packing');
  mkdirSync(dir, { mode: 0o700 });
  cpSync(join(whole, name), join(dir, name), { recursive: true });
  const packed = run('pack', 'latest', '--dir', dir);
  assert.equal(packed.status, 0, packed.stderr);
  const zip = packed.stdout.trim();
  assert.match(zip, /\.agentdump\.zip$/);
  assert.equal(run('analyze', zip).status, 0);
  assert.match(run('verify', zip).stdout, /^Whole:/);
  assert.equal(run('pack', zip).status, 2);
  const out = join(root, 'unpacked');
  const unpacked = run('unpack', zip, '-o', out);
  assert.equal(unpacked.status, 0, unpacked.stderr);
  assert.equal(run('verify', unpacked.stdout.trim()).status, 0);
});

test('what pack, unpack, encrypt and decrypt made, as data', { skip: onlyWide }, async () => {
  const identity = await generateX25519Identity();
  const keyFile = join(root, 'data-key.txt');
  writeFileSync(keyFile, `${identity}\n`);
  const recipient = await identityToRecipient(identity);
  const made = (...words: string[]) => {
    const { status, stdout, stderr } = run(...words, '--json');
    assert.deepEqual([status, stderr], [0, '']);
    return JSON.parse(stdout);
  };
  const zip = join(root, `${name}.zip`);
  const age = join(root, `${name}.zip.age`);
  const clear = join(root, 'clear.agentdump.zip');
  assert.deepEqual(made('pack', 'latest', '-o', zip), { path: zip, bytes: statSync(zip).size, leftOut: [] });
  const folder = join(root, 'data');
  assert.deepEqual(made('unpack', zip, '-o', folder), { path: join(folder, name), leftOut: [] });
  const encrypted = made('encrypt', zip, '--recipient', recipient, '-o', age);
  assert.deepEqual(encrypted, { path: age, bytes: statSync(age).size });
  const decrypted = made('decrypt', age, '--identity', keyFile, '-o', clear);
  assert.deepEqual(decrypted, { path: clear, bytes: statSync(clear).size });
});

test('encrypt, analyze with the identity, decrypt', { skip: onlyWide }, async () => {
  const identity = await generateX25519Identity();
  const keyFile = join(root, 'key.txt');
  writeFileSync(keyFile, `${identity}\n`);
  const out = join(root, 'sent.agentdump.zip.age');
  const recipient = await identityToRecipient(identity);
  const encrypted = run('encrypt', 'latest', '--recipient', recipient, '-o', out);
  assert.equal(encrypted.status, 0, encrypted.stderr);
  const locked = run('analyze', out);
  assert.equal(locked.status, 3);
  assert.match(locked.stderr, /--identity FILE/);
  assert.equal(run('analyze', out, '--identity', keyFile).status, 0);
  assert.equal(run('analyze', out, '--identity', join(root, 'plain.txt')).status, 2);
  const clear = run('decrypt', out, '--identity', keyFile);
  assert.equal(clear.status, 0, clear.stderr);
  assert.match(run('verify', clear.stdout.trim()).stdout, /^Whole:/);
  assert.equal(run('encrypt', 'latest').status, 2);
});

test('verify tells torn from altered', () => {
  const dir = join(root, 'verify');
  writeBundle(join(dir, name), synthParts());
  writeFileSync(join(dir, name, 'agent.json'), '{}');
  const altered = run('verify', join(dir, name));
  assert.equal(altered.status, 3);
  assert.match(altered.stdout, /^Altered:.*agent\.json/s);
  assert.equal(JSON.parse(run('verify', join(dir, name), '--json').stdout).verdict, 'altered');
  rmSync(join(dir, name, 'manifest.json'));
  assert.equal(run('verify', join(dir, name)).status, 1);
});

test('prune removes what is between the first and the last of a kind, then the first; it says what it would do', {
  skip: onlyWide,
}, () => {
  const dir = join(root, 'prune');
  mkdirSync(dir, { mode: 0o700 });
  const names = ['20261121T010000.000Z', '20261121T020000.000Z', '20261121T030000.000Z'].map(
    (at) => `${at}-agent-exit-00112233.agentdump`,
  );
  for (const each of names) writeBundle(join(dir, each), synthParts());
  const dry = run('prune', '--dir', dir, '--max-bundles', '1', '--dry-run');
  assert.deepEqual(dry.stdout.trim().split('\n'), [names[1], names[0]]);
  assert.equal(readdirSync(dir).length, 3);
  const data = JSON.parse(run('prune', '--dir', dir, '--max-bundles', '2', '--dry-run', '--json').stdout);
  assert.deepEqual([data.dryRun, data.removed, data.bundles], [true, names.slice(1, 2), 2]);
  assert.equal(run('prune', '--dir', dir, '--max-bytes', '1K').status, 0);
  assert.deepEqual(readdirSync(dir), names.slice(2));
});
