/**
 * Hold mode on the Nodes of the run, with a hard limit that rules out a core: real faults, their account and exit signal, and
 * what must not hang: WebAssembly out of bounds, a signal that another process sends, a supervisor that is killed.
 */
import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import { partNames } from '../../../src/bundle/layout/bundle.ts';
import type { EvidencePart } from '../../../src/bundle/layout/evidence.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { nodes, victims } from '../../support/cores/core-victims.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'agentdump-hold-'));
const temporary = join(root, 'temporary');
mkdirSync(temporary);
after(() => rmSync(root, { recursive: true }));
const skip =
  process.platform !== 'linux' || process.arch !== 'x64' ? 'faults are held on Linux x64 only' : false;

const secret = 'hunter2-very-secret';
const faulting = `const { arm, crash } = require(${JSON.stringify(join(victims, 'fault.cjs'))});
function callTool(city, config) { crash(city, config); }
setTimeout(() => { arm(process.argv[2]); callTool('Brest', { password: '${secret}' }); }, 50);`;
const aborting = `function callTool() { if (process.listenerCount('SIGSEGV') === 0) process.abort(); }
setTimeout(() => callTool(), 50);`;
const overflowing = `function descend(depth) { return descend(depth + 1) + 1; }
setTimeout(() => descend(0), 50);`;
const deep = `const { start } = require('./deep.node');
function callTool() { start(); }
setTimeout(() => callTool(), 50);`;
const noCompiler = spawnSync('gcc', ['--version']).status === 0 ? false : 'no gcc is here';
const packages = fileURLToPath(new URL('../../oracles/node_modules', import.meta.url));
const noTracker = existsSync(join(packages, '@datadog/libdatadog-extras'))
  ? false
  : 'libdatadog-extras is not installed in test/oracles';
const inWorker = `const { Worker, isMainThread } = require('node:worker_threads');
if (isMainThread) { new Worker(__filename, { argv: [process.argv[2]] }); setInterval(() => {}, 1000); }
else { ${faulting} }`;
/** A function that reads four bytes at its argument, called with an address beyond its single page. */
const outOfBounds = `const bytes = Buffer.from('0061736d0100000001060160017f017f030201000503010001070801046c6f616400000a0901070020002802000b', 'hex');
const { load } = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
for (let i = 0; i < 1e5; i++) load(i & 1023);
try { load(1 << 20); } catch (error) { console.log(error.message); }`;

interface Limits {
  options?: string[];
  core?: string;
  /** Flags of Node itself. */
  flags?: string[];
  /** Sizes of /dev/shm and of the folder for temporary files. */
  room?: [memory: string, temporary: string];
}

const mounts = 'mount -t tmpfs -o size="$1" tmpfs /dev/shm && mount -t tmpfs -o size="$2" tmpfs "$TMPDIR"';
const noMounts =
  spawnSync('unshare', ['-m', 'sh', '-c', mounts, 'sh', '1m', '1m'], {
    env: { PATH: process.env['PATH'], TMPDIR: temporary },
  }).status === 0
    ? false
    : 'file systems of our own cannot be mounted here';

const noPinning =
  spawnSync('taskset', ['-c', '0', 'nice', '-n', '10', 'true']).status === 0
    ? false
    : 'taskset or nice is not here';

/** `node`: its path, or the whole command. */
async function run(
  name: string,
  node: string | string[],
  program: string,
  wordsOfProgram: string[],
  limits: Limits = {},
) {
  const { options = ['--hold'], core = '0', flags = [], room } = limits;
  const cwd = join(root, name);
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, 'victim.cjs'), program);
  const command = [
    agentdump,
    'run',
    '--dir',
    'dumps',
    ...options,
    '--',
    ...(typeof node === 'string' ? [node, ...flags, 'victim.cjs', ...wordsOfProgram] : node),
  ];
  const limited = ['/bin/sh', '-c', `ulimit -c ${core}; exec "$0" "$@"`, process.execPath, ...command];
  const small = ['-m', 'sh', '-c', `${mounts} && shift 2 && exec "$@"`, 'sh', ...(room ?? []), ...limited];
  const [file = '', ...words] = room ? ['unshare', ...small] : limited;
  const result = await end(file, words, cwd);
  return { cwd, result, listed: listBundles(join(cwd, 'dumps')) };
}

interface End {
  status: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
}

function end(file: string, words: string[], cwd: string): Promise<End> {
  return new Promise((resolve) => {
    const env = { ...process.env, NODE_OPTIONS: '', TMPDIR: temporary };
    const options = { cwd, timeout: 180_000, env };
    const child = execFile(file, words, options, (_, stdout, stderr) => {
      resolve({ status: child.exitCode, signal: child.signalCode, stdout, stderr });
    });
  });
}

async function account(path = '') {
  const bundle = openBundle(path);
  try {
    const evidence = bundle.readJson<EvidencePart>(partNames.evidence);
    return { evidence, mini: bundle.readPart(partNames.miniCore), account: await analyzeBundle(bundle) };
  } finally {
    bundle.close();
  }
}

const kinds = [
  ['read-null', 'SIGSEGV', /read through a null pointer \(a field at offset 0x18\)/],
  ['write-read-only', 'SIGSEGV', /write to read-only memory/],
  ['non-canonical', 'SIGSEGV', /a value that cannot be an address/],
  ['wild-jump', 'SIGSEGV', /jump to 0x1234/],
  ['illegal', 'SIGILL', /illegal instruction/],
  ['divide', 'SIGFPE', /division by zero/],
] as const;

suite('agentdump run --hold with no core to be had', { skip, concurrency: 3 }, () => {
  for (const [at, node] of nodes.entries())
    for (const [kind, signal, title] of kinds.filter((_, i) => i === 0 || i % nodes.length === at))
      test(`Node ${node.major}, ${kind}: the fault, both worlds, the signal as it was`, async () => {
        const { result, listed } = await run(`${node.major}-${kind}`, node.path, faulting, [kind]);
        assert.equal(result.signal, signal, result.stderr);
        const { evidence, mini, account: found } = await account(listed[0]?.path);
        assert.equal(evidence?.exit?.signal, signal);
        assert.match(evidence?.core?.reason ?? '', /held at its fault/);
        assert.equal(found.verdict?.kind, 'native-crash');
        assert.match(found.verdict?.title ?? '', title);
        assert.match(found.process?.nodeVersion ?? '', new RegExp(`^v${node.major}\\.`));
        const frames = found.threads?.find((thread) => thread.crashed)?.frames ?? [];
        const tool = frames.find((frame) => frame.function === 'callTool');
        assert.equal(tool?.locals?.find(({ name }) => name === 'city')?.value, '"Brest"');
        assert.ok(frames.some((frame) => frame.function === 'uv_run'));
        assert.ok(mini && !gunzipSync(mini).includes(secret));
      });

  for (const node of nodes) {
    test(`Node ${node.major}: the fault of a worker`, async () => {
      const { result, listed } = await run(`worker-${node.major}`, node.path, inWorker, ['read-null']);
      assert.equal(result.signal, 'SIGSEGV', result.stderr);
      const { account: found } = await account(listed[0]?.path);
      const frames = found.threads?.find((thread) => thread.crashed)?.frames ?? [];
      assert.ok(frames.some((frame) => frame.function === 'callTool'));
    });

    test(`Node ${node.major}: WebAssembly out of bounds is an error still`, async () => {
      const { result } = await run(`wasm-${node.major}`, node.path, outOfBounds, []);
      assert.deepEqual([result.status, result.stdout], [0, 'memory access out of bounds\n']);
    });
  }

  test('a program that gets little of the processor is seen too', { skip: noPinning }, async () => {
    const pinned = ['-c', '0'];
    const busy = spawn('taskset', [...pinned, process.execPath, '-e', 'for (;;);'], { stdio: 'ignore' });
    try {
      const words = ['taskset', ...pinned, 'nice', '-n', '10', process.execPath, 'victim.cjs', 'divide'];
      const { result } = await run('nice', words, faulting, []);
      assert.equal(result.signal, 'SIGFPE', result.stderr);
    } finally {
      busy.kill('SIGKILL');
    }
  });

  test('where memory has no room for the copy, another place has', { skip: noMounts }, async () => {
    const room: [string, string] = ['2m', '100m'];
    const { listed } = await run('small', process.execPath, faulting, ['read-null'], { room });
    const { account: found } = await account(listed[0]?.path);
    const frames = found.threads?.find((thread) => thread.crashed)?.frames ?? [];
    assert.ok(frames.some((frame) => frame.function === 'callTool'));
    assert.ok(!found.gaps.some(({ part }) => part === partNames.miniCore), JSON.stringify(found.gaps));
  });

  test('where no place has: the stacks, and a word of what is missing', { skip: noMounts }, async () => {
    const room: [string, string] = ['3m', '3m'];
    const { result, listed } = await run('tiny', process.execPath, faulting, ['read-null'], { room });
    assert.equal(result.signal, 'SIGSEGV', result.stderr);
    const { account: found } = await account(listed[0]?.path);
    assert.match(found.verdict?.title ?? '', /read through a null pointer/);
    const gap = found.gaps.find(({ part }) => part === partNames.miniCore);
    assert.match(gap?.reason ?? '', /bytes of memory .* were left out: over the limit/);
  });

  const native = [
    [0, 'read-null', 'SIGSEGV', /through a null pointer/],
    [1, 'non-canonical', 'SIGSEGV', /a value that cannot be an address/],
    [2, 'abort', 'SIGABRT', /process\.abort/],
    [3, 'illegal', 'SIGILL', /illegal instruction/],
  ] as const;
  for (const [at, kind, signal, title] of native)
    test(`Node ${nodes[at]?.major}, ${kind}, held by libdatadog-extras`, { skip: noTracker }, async () => {
      const program = kind === 'abort' ? aborting : faulting;
      const name = `native-${kind}`;
      mkdirSync(join(root, name));
      symlinkSync(packages, join(root, name, 'node_modules'));
      const { result, listed } = await run(name, nodes[at]?.path ?? '', program, [kind]);
      assert.equal(result.signal, signal, result.stderr);
      const { account: found } = await account(listed[0]?.path);
      assert.match(found.verdict?.title ?? '', title);
      const frames = found.threads?.find((thread) => thread.crashed)?.frames ?? [];
      assert.ok(frames.some((frame) => frame.function === 'callTool'));
    });

  for (const node of nodes)
    test(`Node ${node.major}, a stack overflow, held by libdatadog-extras`, { skip: noTracker }, async () => {
      const name = `overflow-${node.major}`;
      mkdirSync(join(root, name));
      symlinkSync(packages, join(root, name, 'node_modules'));
      const limits = { flags: ['--stack-size=60000'] };
      const { result, listed } = await run(name, node.path, overflowing, [], limits);
      assert.equal(result.signal, 'SIGSEGV', result.stderr);
      const { account: found } = await account(listed[0]?.path);
      assert.match(found.verdict?.title ?? '', /stack/);
      const frames = found.threads?.find((thread) => thread.crashed)?.frames ?? [];
      assert.ok(
        frames.filter((frame) => frame.function === 'descend').length > 50,
        JSON.stringify(frames.slice(0, 5)),
      );
    });

  for (const node of nodes.filter((_, i) => i % 2 === 1))
    test(`Node ${node.major}, an addon's overflow of the stack, held by libdatadog-extras`, {
      skip: noTracker || noCompiler,
    }, async () => {
      const name = `deep-${node.major}`;
      mkdirSync(join(root, name));
      symlinkSync(packages, join(root, name, 'node_modules'));
      const words = ['-O1', '-fPIC', '-shared', '-o', join(root, name, 'deep.node')];
      spawnSync('gcc', [...words, join(victims, 'addon', 'deep.c')]);
      const { result, listed } = await run(name, node.path, deep, []);
      assert.equal(result.signal, 'SIGSEGV', result.stderr);
      const { account: found } = await account(listed[0]?.path);
      assert.match(found.verdict?.title ?? '', /stack overflow/);
      const frames = found.threads?.find((thread) => thread.crashed)?.frames ?? [];
      assert.ok(frames.filter((frame) => frame.function === 'descend').length > 100);
      assert.equal(frames.find((frame) => frame.function === 'callTool')?.inApp, true);
      assert.match(frames.at(-1)?.function ?? '', /_start/);
    });

  test('a signal that somebody sends ends it all the same', async () => {
    const program = `process.kill(process.pid, 'SIGSEGV'); setTimeout(() => {}, 30_000);`;
    const { result } = await run('sent', process.execPath, program, []);
    assert.equal(result.signal, 'SIGSEGV');
  });

  test('work for the kernel is not taken for a fault', async () => {
    const program = `const { readFileSync } = require('node:fs');
      for (const end = Date.now() + 2500; Date.now() < end; ) readFileSync('/proc/self/maps');
      console.log('done');`;
    const { result } = await run('busy', process.execPath, program, []);
    assert.deepEqual([result.status, result.stdout], [0, 'done\n']);
  });

  test('without --hold, and where the kernel leaves a core, nothing listens', async () => {
    const program = `console.log(process.listenerCount('SIGSEGV'))`;
    const listeners = async (name: string, options: string[], core: string) =>
      (await run(name, process.execPath, program, [], { options, core })).result.stdout;
    assert.equal(await listeners('without', [], '0'), '0\n');
    assert.equal(await listeners('with', ['--hold'], '0'), '1\n');
    const pattern = readFileSync('/proc/sys/kernel/core_pattern', 'utf8').trim();
    if (pattern === 'core') assert.equal(await listeners('with-core', ['--hold'], 'unlimited'), '0\n');
  });

  for (const when of ['before', 'with'] as const)
    test(`the supervisor is killed ${when} the fault: the program does not stay`, async () => {
      const killing = `require('node:fs').writeFileSync('pid', String(process.pid));
        const { arm, crash } = require(${JSON.stringify(join(victims, 'fault.cjs'))});
        arm('read-null');
        const kill = () => require('node:child_process').spawnSync('kill', ['-KILL', String(process.ppid)]);
        setTimeout(() => { kill(); ${when === 'with' ? 'crash();' : 'setTimeout(crash, 2500);'} }, 300);`;
      const { cwd, result } = await run(`orphan-${when}`, process.execPath, killing, []);
      assert.equal(result.signal, 'SIGKILL');
      const pid = readFileSync(join(cwd, 'pid'), 'utf8');
      // On a busy machine the guard's five rounds take as long as the program needs for fifteen ticks.
      for (let i = 0; i < 1200 && isAlive(pid); i++) await pause(100);
      assert.ok(!isAlive(pid));
    });
});

function isAlive(pid: string): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
