/** `agentdump run` as a shell sees it: transparent while the program lives, a bundle when it dies. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import type { TriggerPart } from '../../../src/bundle/layout/bundle.ts';
import type { EvidencePart } from '../../../src/bundle/layout/evidence.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { readWords } from '../../../src/cli/options/run-words.ts';
import { runSupervised } from '../../../src/supervise/run/run.ts';
import { readStatus } from '../../../src/supervise/run/status.ts';
import { isWideRun, onlyWide } from '../../support/run/test-nodes.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'agentdump-run-'));
after(() => rmSync(root, { recursive: true }));
let count = 0;
const newDir = () => join(root, String(count++), 'dumps');
const node = (code: string) => [process.execPath, '-e', code];
/** The preload leaves no bundle of its own when the program is asked to stop. */
const environment = { ...process.env, NODE_OPTIONS: '', AGENTDUMP_SIGNALS: 'off' };

function run(dir: string, words: string[], options: { input?: string; env?: NodeJS.ProcessEnv } = {}) {
  return spawnSync(process.execPath, [agentdump, 'run', '--dir', dir, ...words], {
    encoding: 'utf8',
    env: { ...environment, ...options.env },
    input: options.input ?? '',
  });
}

function onlyBundle(dir: string) {
  const bundles = listBundles(dir);
  assert.deepEqual(
    bundles.map((b) => [b.state, b.problem]),
    [['sealed', undefined]],
  );
  const bundle = openBundle(bundles[0]!.path);
  const evidence = bundle.readJson<EvidencePart>('evidence.json')!;
  const trigger = bundle.readJson<TriggerPart>('trigger.json')!;
  assert.deepEqual(
    bundle.gaps.filter((gap) => /SHA|torn/.test(gap.reason)),
    [],
  );
  return { bundle, evidence, trigger, verdictKind: bundle.head.verdictKind };
}
const leftovers = (dir: string) =>
  existsSync(join(dir, 'sessions')) ? readdirSync(join(dir, 'sessions')) : [];
const privateFolders = () => readdirSync('/dev/shm').filter((name) => name.startsWith('agentdump-'));
/** Process id of the supervisor that created a private folder; undefined if the folder names none. */
function ownerOf(name: string): number | undefined {
  try {
    return Number(readlinkSync(join('/dev/shm', name, 'owner')).split(':')[1]);
  } catch {
    return undefined;
  }
}

test('streams and exit code are the program’s, and nothing is left when all is well', () => {
  const dir = newDir();
  const code = 'process.stdin.pipe(process.stdout); process.stdin.on("end", () => console.error("end"))';
  const well = run(dir, ['--', ...node(code)], { input: 'grüße\n' });
  assert.deepEqual([well.status, well.stdout, well.stderr], [0, 'grüße\n', 'end\n']);
  assert.equal(existsSync(dir), false);
  const failed = run(dir, ['--', ...node('process.exitCode = 7')], { env: { AGENTDUMP: 'off' } });
  assert.equal(failed.status, 7);
  assert.deepEqual(leftovers(dir), []);
});

test('words after the command are the command’s own', () => {
  const result = run(newDir(), [process.execPath, '-p', 'process.argv.slice(1).join()', '--', '--dir', 'x']);
  assert.equal(result.stdout.trim(), '--dir,x');
});

for (const [signal, code, kind] of [
  ['SIGKILL', 'process.kill(process.pid, "SIGKILL")', 'killed'],
  ['SIGABRT', 'process.abort()', 'abort'],
  ['SIGSEGV', 'process.kill(process.pid, "SIGSEGV")', 'native-crash'],
] as const)
  test(`${signal}: the same signal ends the supervisor, and the bundle says ${kind}`, () => {
    const dir = newDir();
    const result = run(dir, ['--', ...node(code)]);
    assert.equal(result.signal, signal);
    assert.match(result.stderr, new RegExp(`agentdump: ${kind}: .*\\.agentdump\n`));
    const { bundle, evidence, trigger, verdictKind } = onlyBundle(dir);
    assert.equal(verdictKind, kind);
    assert.equal(trigger.kind, 'supervised-exit');
    // A program begins its journal after two seconds; a busy machine may let this one live for longer.
    const { uptimeMs } = bundle.readJson<{ uptimeMs: number }>('process.json')!;
    const lacksJournal = bundle.gaps.some(({ part }) => part === 'recorder.journal');
    assert.equal(lacksJournal, uptimeMs >= 2000);
    assert.deepEqual(evidence.exit, { signal });
    assert.deepEqual(leftovers(dir), []);
  });

test('heap out of memory: Node’s own report is in the bundle, without environment and command line', () => {
  const dir = newDir();
  const code = 'const a = []; for (;;) a.push(new Array(1000).fill(Math.random()))';
  const result = run(
    dir,
    ['--', process.execPath, '--max-old-space-size=30', '-e', code, 'argument-in-the-clear'],
    {
      env: {
        MY_PASSWORD: 'variable-in-the-clear',
        // Reading the heap too takes four seconds, and is tested in run-full-heap.test.ts.
        ...(isWideRun ? {} : { AGENTDUMP_HEAP: 'off' }),
      },
    },
  );
  assert.equal(result.signal, 'SIGABRT');
  const { bundle, evidence, verdictKind } = onlyBundle(dir);
  assert.equal(verdictKind, 'heap-out-of-memory');
  assert.equal(evidence.fatal?.trigger, 'OOMError');
  const report = bundle.readPart('report.json')!.toString();
  assert.ok(JSON.parse(report).javascriptHeap.memoryLimit > 0);
  for (const secret of ['argument-in-the-clear', 'variable-in-the-clear', 'MY_PASSWORD'])
    assert.ok(!report.includes(secret));
  assert.equal(existsSync(`/dev/shm/agentdump-${bundle.id}`), false);
});

test('a shell between us and the program: its exit code tells the signal, and is passed on', {
  skip: onlyWide,
}, () => {
  const dir = newDir();
  const result = run(dir, [
    '--',
    'sh',
    '-c',
    `"${process.execPath}" -e 'process.kill(process.pid, "SIGKILL")'; exit $?`,
  ]);
  assert.equal(result.status, 137);
  assert.deepEqual(onlyBundle(dir).evidence.exit, { code: 137, signal: 'SIGKILL', inferred: true });
});

test('secrets of the command line stay out of the bundle', () => {
  const dir = newDir();
  const secret = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789';
  run(dir, ['--', 'sh', '-c', 'kill -9 $$', '--api-key', secret]);
  const { bundle } = onlyBundle(dir);
  for (const part of bundle.parts) assert.ok(!bundle.readPart(part.name)!.includes(secret), part.name);
  assert.match(bundle.readPart('process.json')!.toString(), /--api-key/);
});

test('a command that is not there: 127, as a shell says, and nothing is left', async () => {
  const dir = newDir();
  const before = new Set(privateFolders());
  const result = run(dir, ['--', 'no-such-command-here']);
  // Other tests create private folders meanwhile. These name their supervisor, except for a moment at the beginning and the
  // end.
  const left = () =>
    privateFolders().filter((name) => !before.has(name) && [undefined, result.pid].includes(ownerOf(name)));
  for (const deadline = Date.now() + 15_000; left().length > 0 && Date.now() < deadline; )
    await new Promise((done) => setTimeout(done, 100));
  assert.deepEqual(left(), []);
  assert.deepEqual(
    [result.status, result.stderr],
    [127, 'agentdump: no-such-command-here: command not found\n'],
  );
  assert.deepEqual(leftovers(dir), []);
});

test('wrong words are a usage error', () => {
  for (const words of [
    [],
    ['--restart', 'sometimes', 'x'],
    ['--nonsense', 'x'],
    ['--restart-limit', '5', 'x'],
    ['--dir'],
  ])
    assert.equal(run(newDir(), words).status, 2, words.join(' '));
});

async function started(child: ChildProcess): Promise<void> {
  await once(child.stdout!, 'data');
}

test('a signal to the supervisor alone reaches the program, once', async () => {
  const code = `let n = 0; process.on('SIGINT', () => console.log('int', ++n)); process.on('SIGTERM', () => { console.log('got', n); process.exit(5) });
    setInterval(() => {}, 1000); console.log('ready')`;
  const child = spawn(process.execPath, [agentdump, 'run', '--dir', newDir(), '--', ...node(code)], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
  });
  await started(child);
  child.kill('SIGINT');
  while (!out.includes('int')) await once(child.stdout, 'data');
  await new Promise((done) => setTimeout(done, 200));
  child.kill('SIGTERM');
  const [status] = await once(child, 'close');
  assert.deepEqual([status, out], [5, 'ready\nint 1\ngot 1\n']);
});

test('a stop that was asked for is not followed by a restart, and leaves no bundle', async () => {
  const dir = newDir();
  const child = spawn(
    process.execPath,
    [
      agentdump,
      'run',
      '--dir',
      dir,
      '--restart',
      'always',
      '--',
      ...node('setInterval(() => {}, 1000); console.log(1)'),
    ],
    { env: environment, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await started(child);
  child.kill('SIGTERM');
  const [, signal] = await once(child, 'close');
  assert.equal(signal, 'SIGTERM');
  assert.deepEqual(existsSync(dir) ? listBundles(dir) : [], []);
});

test('a crash loop: restarts, ledger, hook, its own exit code', { skip: onlyWide }, () => {
  const dir = newDir();
  const result = run(dir, [
    '--restart',
    'on-failure',
    '--restart-delay=1',
    '--restart-limit=2/60',
    '--on-crash-loop',
    'echo "hook $AGENTDUMP_RESTARTS $AGENTDUMP_COUNT $AGENTDUMP_VERDICT $AGENTDUMP_SIGNATURE $AGENTDUMP_BUNDLE"',
    '--',
    ...node('console.log(process.env.AGENTDUMP_LOCALS); process.kill(process.pid, "SIGKILL")'),
  ]);
  assert.equal(result.status, 79);
  const lines = result.stdout.trim().split('\n');
  assert.deepEqual(lines.slice(0, 3), ['undefined', 'uncaught', 'uncaught']);
  assert.match(lines[3] ?? '', /^hook 2 3 killed [0-9a-f]{8,} .*-killed-.*\.agentdump$/);
  const [supervised] = readStatus(dir).supervised;
  assert.equal(supervised?.restarts, 2);
  assert.equal(supervised?.deaths.length, 3);
  assert.deepEqual(
    [supervised?.crashLoop, supervised?.running, supervised?.ledgerBrokenAt],
    [true, false, undefined],
  );
});

test('a crash loop of a death that is only counted: the hook is told of the bundle that has it', {
  skip: onlyWide,
}, () => {
  const result = run(newDir(), [
    '--restart=on-failure',
    '--restart-delay=1',
    '--restart-limit=3/60',
    '--on-crash-loop',
    'echo "hook $AGENTDUMP_COUNT $AGENTDUMP_VERDICT $AGENTDUMP_SIGNATURE $AGENTDUMP_BUNDLE"',
    '--',
    ...node('setTimeout(() => { throw new TypeError("always") }, 1)'),
  ]);
  assert.equal(result.status, 79);
  assert.match(result.stderr, /counted, not stored/);
  assert.match(
    result.stdout,
    /^hook 4 uncaught-exception [0-9a-f]{8,} \/.*-uncaught-exception-.*\.agentdump$/m,
  );
});

test('a failure of what waits for a running program does not end its supervisor', {
  skip: onlyWide,
}, async () => {
  const words = ['--dir', newDir(), '--', ...node('setTimeout(() => process.exit(7), 4500)')];
  let failures = 0;
  const options = readWords(words, {}, () => {});
  const onRunning = async () => {
    failures++;
    throw new Error('no store');
  };
  const { exit } = await runSupervised({ ...options, onRunning });
  assert.deepEqual([exit.code, failures], [7, 1]);
});

test('a second run that ends well ends the restarts', { skip: onlyWide }, () => {
  const dir = newDir();
  const flag = join(root, 'flag');
  const code = `const fs = require('fs'); if (fs.existsSync(${JSON.stringify(flag)})) process.exit(0); fs.writeFileSync(${JSON.stringify(flag)}, ''); process.abort()`;
  const result = run(dir, ['--restart=on-failure', '--restart-delay=1', '--', ...node(code)]);
  assert.equal(result.status, 0);
  const ledger = readdirSync(join(dir, 'supervisors')).map((name) =>
    readFileSync(join(dir, 'supervisors', name), 'utf8'),
  );
  const events = ledger
    .join('')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).event);
  assert.deepEqual(events, ['supervise', 'start', 'exit', 'restart', 'start', 'exit', 'end']);
});
