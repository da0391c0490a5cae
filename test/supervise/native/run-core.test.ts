/**
 * Native deaths under `agentdump run` on the Nodes of the run: the core is removed, what was read from it stays, and it
 * contains no secret.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import { partNames } from '../../../src/bundle/layout/bundle.ts';
import type { EvidencePart } from '../../../src/bundle/layout/evidence.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { nodeOf, onlyWide, testMajors } from '../../support/run/test-nodes.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'agentdump-run-core-'));
after(() => rmSync(root, { recursive: true }));
const pattern = readFileSync('/proc/sys/kernel/core_pattern', 'utf8').trim();
const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;
const skip =
  pattern !== 'core' || process.arch !== 'x64'
    ? 'no core of the name core here'
    : !hasPrlimit && 'no prlimit (util-linux) here';

/** Secrets recognizable only by name, by shape, in two-byte strings, in a native string, in the command line. */
const victim = `const config = { apiKey: 'zz-internal-77812345', password: 'hunter2-very-secret' };
const wide = { secretToken: 'wide-\\u4e2d-secret-4711-wide' };
async function waitForGodot(godotPassword) { await new Promise((r) => setTimeout(r, 1e6)); return godotPassword; }
waitForGodot('gdt-p4ss-998877');
const token = 'ghp_' + 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'.slice(0, 36);
function die(how, secretPassword, wide) {
  if (how === 'throw') { const word = 'telling'; throw new TypeError('it broke ' + word, { cause: new Error('login failed for app with password=Zk7!pq#21Lm') }); }
  if (how === 'abort') process.abort();
  process.kill(process.pid, how);
}
function callTool(how, config, token) { die(how, config.password, wide); return token; }
setTimeout(() => callTool(process.argv[2], config, token), 50);`;
const secrets = [
  'zz-internal-77812345',
  'hunter2-very-secret',
  'gdt-p4ss-998877',
  'secret-4711-wide',
  'ghp_a1B2c3D4',
  'variable-in-the-clear',
  'argument-in-the-clear',
  'Zk7!pq#21Lm',
];

function run(name: string, node: string, options: string[], how: string, variables = {}) {
  const cwd = join(root, name);
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'victim.cjs'), victim);
  const words = ['run', '--dir', join(cwd, 'dumps'), ...options, '--', node, 'victim.cjs', how];
  const result = spawnSync(process.execPath, [agentdump, ...words, '--api-key', 'argument-in-the-clear'], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '', MY_PASSWORD: 'variable-in-the-clear', ...variables },
  });
  const [listed] = listBundles(join(cwd, 'dumps'));
  assert.ok(listed, result.stderr);
  return { cwd, result, listed };
}

async function account(path: string) {
  const bundle = openBundle(path);
  try {
    const evidence = bundle.readJson<EvidencePart>(partNames.evidence);
    const mini = bundle.readPart(partNames.miniCore);
    return { evidence, mini, account: await analyzeBundle(bundle) };
  } finally {
    bundle.close();
  }
}

function assertClean(mini: Uint8Array | undefined): void {
  assert.ok(mini);
  const raw = gunzipSync(mini);
  for (const secret of secrets)
    for (const encoding of ['latin1', 'utf16le'] as const)
      assert.equal(raw.includes(Buffer.from(secret, encoding)), false, `${secret} as ${encoding}`);
}

for (const major of testMajors)
  test(`Node ${major}: an abort; both worlds of the stack, and the core is gone`, { skip }, async () => {
    const { cwd, result, listed } = run(`abort-${major}`, nodeOf(major), [], 'abort');
    assert.equal(result.signal, 'SIGABRT');
    assert.deepEqual(readdirSync(cwd).sort(), ['dumps', 'victim.cjs']);
    const { evidence, mini, account: found } = await account(listed.path);
    assertClean(mini);
    assert.match(evidence?.core?.reason ?? '', /removed/);
    assert.equal(found.verdict?.kind, 'abort');
    assert.match(found.verdict?.title ?? '', /process\.abort/);
    assert.match(found.process?.nodeVersion ?? '', new RegExp(`^v${major}\\.`));
    const died = found.threads?.find((thread) => thread.crashed);
    const names = died?.frames.map((frame) => frame.function) ?? [];
    assert.ok(names.indexOf('die') > names.indexOf('abort'), names.join());
    assert.ok(names.includes('callTool'));
    assert.ok(died?.registers?.['rip']);
    assert.equal(
      died?.frames.find((f) => f.function === 'die')?.locals?.find((l) => l.name === 'how')?.value,
      '"abort"',
    );
    assert.ok(found.suspended?.some(({ frames }) => frames[0]?.function === 'waitForGodot'));
  });

test('SIGSEGV with --core: the core stays, and the bundle says where', { skip }, async () => {
  const { cwd, result, listed } = run('keep', process.execPath, ['--core'], 'SIGSEGV');
  assert.equal(result.signal, 'SIGSEGV');
  const { evidence, mini, account: found } = await account(listed.path);
  assertClean(mini);
  assert.equal(evidence?.core?.path, join(cwd, 'core'));
  assert.equal(statSync(join(cwd, 'core')).size, evidence?.core?.bytes);
  assert.equal(found.verdict?.kind, 'native-crash');
});

test('a file that is called core is not written over', { skip }, async () => {
  const cwd = join(root, 'theirs');
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'core'), 'mine');
  const words = [
    'run',
    '--dir',
    join(cwd, 'dumps'),
    '--',
    process.execPath,
    '-e',
    'process.kill(process.pid, "SIGSEGV")',
  ];
  spawnSync(process.execPath, [agentdump, ...words], { cwd, env: { ...process.env, NODE_OPTIONS: '' } });
  assert.equal(readFileSync(join(cwd, 'core'), 'utf8'), 'mine');
});

test('the supervisor is killed before it can see to the core: the next sweep takes it away', { skip }, () => {
  const cwd = join(root, 'orphan');
  mkdirSync(cwd);
  writeFileSync(
    join(cwd, 'victim.cjs'),
    `require('node:fs').writeFileSync('../orphan.pid', String(process.pid));
    setTimeout(() => { process.kill(process.ppid, "SIGKILL"); setTimeout(() => process.abort(), 50); }, 500)`,
  );
  const dir = join(cwd, 'dumps');
  const env = { ...process.env, NODE_OPTIONS: '' };
  const words = ['run', '--dir', dir, '--', process.execPath, 'victim.cjs'];
  assert.equal(spawnSync(process.execPath, [agentdump, ...words], { cwd, env }).signal, 'SIGKILL');
  const core = join(cwd, 'core');
  // The process exists until the kernel has written the last page.
  const pid = readFileSync(join(root, 'orphan.pid'), 'utf8');
  for (let i = 0; i < 600 && existsSync(`/proc/${pid}/exe`); i++) spawnSync('sleep', ['0.1']);
  assert.equal(statSync(core).mode & 0o077, 0);
  const swept = spawnSync(process.execPath, [agentdump, 'sweep', '--dir', dir], { encoding: 'utf8', env });
  assert.equal(swept.status, 0, swept.stderr);
  assert.deepEqual(readdirSync(cwd).sort(), ['dumps', 'victim.cjs']);
  assert.equal(listBundles(dir)[0]?.state, 'sealed');
});

test('--core under a recipient is refused', () => {
  const env = { ...process.env, NODE_OPTIONS: '', AGENTDUMP_RECIPIENT: `age1${'q'.repeat(58)}` };
  const words = ['run', '--core', '--', process.execPath, '-e', '1'];
  const { status, stderr } = spawnSync(process.execPath, [agentdump, ...words], { encoding: 'utf8', env });
  assert.equal(status, 2);
  assert.match(stderr, /AGENTDUMP_RECIPIENT rules out/);
});

for (const major of testMajors)
  test(`Node ${major}, --locals core: an uncaught throw with its variables, and exit code 1`, {
    skip,
  }, async () => {
    const { result, listed } = run(`locals-${major}`, nodeOf(major), ['--locals', 'core'], 'throw');
    assert.deepEqual([result.status, result.signal], [1, null]);
    const { mini, account: found } = await account(listed.path);
    assertClean(mini);
    assert.equal(found.verdict?.kind, 'uncaught-exception');
    assert.match(found.verdict?.title ?? '', /it broke telling/);
    const die = found.threads?.[0]?.frames.find((frame) => frame.function === 'die');
    assert.equal(die?.locals?.find(({ name }) => name === 'how')?.value, '"throw"');
  });

test('where no core can be left nothing aborts: exit code 1, and it says that no variables are read', async () => {
  const { result, listed } = run('locals-none', process.execPath, ['--locals', 'core'], 'throw', {
    PATH: join(root, 'nothing'),
  });
  assert.deepEqual([result.status, result.signal], [1, null]);
  assert.match(result.stderr, /--locals core: no core can be left here/);
  assert.equal((await account(listed.path)).account.verdict?.kind, 'uncaught-exception');
});

test('AGENTDUMP_LOCALS=core says the same', { skip: skip || onlyWide }, async () => {
  const { result, listed } = run('locals-variable', process.execPath, [], 'throw', {
    AGENTDUMP_LOCALS: 'core',
  });
  assert.deepEqual([result.status, result.signal], [1, null]);
  assert.doesNotMatch(result.stderr, /AGENTDUMP_LOCALS/);
  const { account: found } = await account(listed.path);
  assert.ok(found.threads?.[0]?.frames.find((frame) => frame.function === 'die')?.locals?.length);
});

test('--locals core: an abort is an abort still', { skip: skip || onlyWide }, async () => {
  const { result } = run('locals-abort', process.execPath, ['--locals', 'core'], 'abort');
  assert.equal(result.signal, 'SIGABRT');
});
