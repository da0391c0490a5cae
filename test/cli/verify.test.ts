/**
 * `verify` and the keys as a shell sees them: what the ledger says, whether a secret remains, how a locked bundle is opened.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { loadSecretlint, ownEngine, type SecretEngine } from '../../src/analysis/secrets/engine.ts';
import { scanBundle } from '../../src/analysis/secrets/scan-bundle.ts';
import { openBundle } from '../../src/bundle/read/reader.ts';
import { sealLedger } from '../../src/bundle/write/ledger.ts';
import { startBundle } from '../../src/bundle/write/writer.ts';
import { onlyWide } from '../support/run/test-nodes.ts';

const bin = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'bin', 'agentdump.js');
const root = mkdtempSync(join(tmpdir(), 'agentdump-verify-'));
after(() => rmSync(root, { recursive: true, force: true }));
let count = 0;

/** Generated here, so that no file contains anything with the shape of a credential. */
const token = ['gh', 'p_', ...Array.from({ length: 36 }, () => Math.random().toString(36)[2] ?? 'x')].join(
  '',
);

function writeBundle(
  parts: Record<string, string | Uint8Array> = {},
  dir = join(root, String(count++)),
): string {
  const writer = startBundle({ dir, program: 'agent', verdictKind: 'exit', writer: '0' });
  const trigger = { id: writer.id, kind: 'exit', verdictKind: 'exit', pid: 1, program: 'agent' };
  writer.writePart('trigger.json', JSON.stringify(trigger));
  for (const [name, content] of Object.entries(parts)) writer.writePart(name, content);
  return writer.seal();
}

function run(words: string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...words], {
    encoding: 'utf8',
    cwd: root,
    env: { PATH: process.env['PATH'], NO_COLOR: '1', ...env },
  });
  return { status, stdout, stderr };
}

test('the ledger beside the bundle: unanchored, then proven by its own head', () => {
  const path = writeBundle();
  const plain = run(['verify', path]);
  assert.equal(plain.status, 0, plain.stderr);
  assert.match(
    plain.stdout,
    /^Whole:.*\nbundle .*\nLedger: consistent but unanchored;.* This bundle is in it\.\n/,
  );
  const head = /anchor: (\d+:[0-9a-f]{64})/.exec(plain.stdout)?.[1] ?? assert.fail(plain.stdout);
  const anchored = run(['verify', path, '--anchor', head]);
  assert.deepEqual(
    [anchored.status, /Ledger: verified\. The anchor proves 2 of/.test(anchored.stdout)],
    [0, true],
  );
  const { ledger } = JSON.parse(run(['verify', path, '--json', '--anchor', head]).stdout);
  assert.deepEqual([ledger.verdict, ledger.entry], ['verified', 'listed']);
  const wrong = run(['verify', path, '--anchor', `2:${'0'.repeat(64)}`]);
  assert.deepEqual([wrong.status, /Ledger: tampered with at record 1\./.test(wrong.stdout)], [3, true]);
});

test('a ledger that was changed, was cut, does not know the bundle, or is not there', () => {
  const path = writeBundle();
  const ledger = join(dirname(path), 'ledger');
  const bytes = readFileSync(ledger);
  appendFileSync(ledger, 'torn');
  const torn = run(['verify', path]);
  assert.deepEqual([torn.status, /its last line is torn/.test(torn.stdout)], [1, true]);
  bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1;
  writeFileSync(ledger, bytes);
  assert.equal(run(['verify', path]).status, 3);
  const stranger = join(dirname(writeBundle()), 'ledger');
  const absent = run(['verify', path, '--ledger', stranger]);
  assert.deepEqual([absent.status, /This bundle is not in it\./.test(absent.stdout)], [1, true]);
  assert.equal(run(['verify', path, '--ledger', join(root, 'nowhere')]).status, 3);
});

test('a signature on the ledger', { skip: onlyWide }, () => {
  const path = writeBundle();
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const keyFile = join(root, 'public.pem');
  writeFileSync(keyFile, publicKey.export({ type: 'spki', format: 'pem' }));
  const unsigned = run(['verify', path, '--key', keyFile]);
  assert.deepEqual([unsigned.status, /no line of it is signed/.test(unsigned.stdout)], [1, true]);
  sealLedger(dirname(path), privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  const signed = run(['verify', path, '--key', keyFile]);
  assert.deepEqual([signed.status, /Ledger: verified/.test(signed.stdout)], [0, true]);
  writeFileSync(keyFile, 'no key');
  assert.equal(run(['verify', path, '--key', keyFile]).status, 2);
});

test('--secrets: a find names part, rule and place, never the value, and is exit code 1', () => {
  const heap = `{"snapshot":{},\n"strings":["a",\n"${token}"]}`;
  const path = writeBundle({
    'agent.json': `{"state":{}}\n{"note":"${token}"}`,
    'heap.heapsnapshot.gz': gzipSync(heap),
  });
  const { status, stdout } = run(['verify', path, '--secrets']);
  assert.equal(status, 1);
  assert.match(stdout, /Secrets: 2 finds\. .*secretlint 11\.\d+\.\d+/);
  assert.match(stdout, /agent\.json +2:10 +github: github token/);
  assert.match(stdout, /heap\.heapsnapshot\.gz +3:2 +github/);
  assert.ok(!stdout.includes(token.slice(4)));
  const { secrets } = JSON.parse(run(['verify', path, '--secrets', '--json']).stdout);
  assert.equal(secrets.independent, true);
  assert.deepEqual(secrets.finds[0], {
    part: 'agent.json',
    rule: 'github: github token',
    line: 2,
    column: 10,
  });
});

test('--secrets: a clean bundle says by whom it was searched', () => {
  const path = writeBundle({
    'agent.json': '{"state":{"url":"https://user:[redacted:password#01234567]@host/"}}',
  });
  const { status, stdout } = run(['verify', path, '--secrets']);
  assert.equal(status, 0, stdout);
  assert.match(stdout, /Secrets: none found\. \d+ files, .* searched by secretlint/);
});

test('--secrets without secretlint: our own redactor, and that it is no second opinion is said', {
  skip: onlyWide,
}, () => {
  const dir = join(root, 'installed');
  const project = join(dirname(bin), '..');
  for (const name of ['bin', 'dist', 'package.json'])
    cpSync(join(project, name), join(dir, name), { recursive: true });
  for (const name of [
    'chalk',
    'cli-table3',
    'source-map',
    'string-width',
    'strip-ansi',
    'ansi-regex',
    'emoji-regex',
    'is-fullwidth-code-point',
    '@colors',
  ])
    cpSync(join(project, 'node_modules', name), join(dir, 'node_modules', name), { recursive: true });
  const path = writeBundle({ 'agent.json': `{"note":"${token}"}` });
  const words = [join(dir, 'bin', 'agentdump.js'), 'verify', path, '--secrets'];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  assert.equal(status, 1, stderr);
  assert.match(stdout, /secretlint is not installed, so this was no second opinion/);
  assert.match(stdout, /agent\.json/);
  assert.ok(!stdout.includes(token.slice(4)));
});

/** With the column that each engine reports: ours reports the first character that it would withhold. */
const engines: [string, SecretEngine | undefined, number][] = [
  ['secretlint', await loadSecretlint(), 12],
  ['our own', ownEngine(), 16],
];
for (const [what, engine, column] of engines)
  test(`${what}: a secret at a window's border is found once, in its place`, async () => {
    const line = `${'lorem ipsum '.repeat(8)}\n`;
    const lines = Math.ceil((1024 * 1024) / line.length);
    const path = writeBundle({
      'sources/1.js': `${line.repeat(lines - 2)}const a = "${token}";\n${line.repeat(9000)}`,
    });
    const bundle = openBundle(path);
    const scan = await scanBundle(bundle.source, engine ?? assert.fail('not installed'));
    bundle.close();
    const places = scan.finds.map((find) => [find.part, find.line, find.column]);
    assert.deepEqual(places, [['sources/1.js', lines - 1, column]]);
  });

test('a compressed part that is torn is named as not searched', { skip: onlyWide }, () => {
  const path = writeBundle({ 'heap.heapsnapshot.gz': gzipSync('x'.repeat(100_000)).subarray(0, 60) });
  const { status, stdout } = run(['verify', path, '--secrets']);
  assert.equal(status, 1);
  assert.match(stdout, /not searched: heap\.heapsnapshot\.gz/);
});

test('a passphrase from a file or the environment: encrypt, list, analyze, verify, decrypt; never from the command line', {
  skip: onlyWide,
}, () => {
  const dir = join(root, 'passphrase');
  const path = writeBundle({}, dir);
  const secret = ['seven', 'quiet', 'rivers', String(Math.random()).slice(2)].join(' ');
  const file = join(root, 'passphrase.txt');
  writeFileSync(file, `${secret}\n`);
  const out = join(dir, `${path.split('/').pop()}.zip.age`);
  const encrypted = run(['encrypt', path, '--passphrase-file', file, '-o', out]);
  assert.equal(encrypted.status, 0, encrypted.stderr);
  rmSync(path, { recursive: true });
  assert.match(run(['list', '--dir', dir]).stdout, /encrypted/);
  const locked = run(['analyze', 'latest', '--dir', dir]);
  assert.deepEqual([locked.status, /--passphrase-file FILE/.test(locked.stderr)], [3, true]);
  for (const [words, env] of [
    [['--passphrase-file', file], {}],
    [[], { AGENTDUMP_PASSPHRASE: secret }],
  ] as const) {
    assert.ok((run(['analyze', 'latest', '--dir', dir, ...words], env).status ?? 4) < 2);
    const verified = run(['verify', 'latest', '--dir', dir, '--secrets', ...words], env);
    assert.match(verified.stdout, /^Whole:[\s\S]*This bundle is in it[\s\S]*Secrets: none found/);
  }
  assert.equal(run(['decrypt', out]).status, 2);
  const clear = run(['decrypt', out, '--passphrase-file', file]);
  assert.equal(clear.status, 0, clear.stderr);
  assert.match(run(['verify', clear.stdout.trim()]).stdout, /^Whole:/);
  writeFileSync(file, '\n');
  assert.equal(run(['analyze', out, '--passphrase-file', file]).status, 2);
  writeFileSync(file, 'another\n');
  assert.equal(run(['analyze', out, '--passphrase-file', file]).status, 3);
});
