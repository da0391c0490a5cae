/**
 * The heap snapshot of a death: it must never be what kills the process, and what a SIGKILL leaves of it must be readable.
 * Memory is limited with RLIMIT_DATA (prlimit, of util-linux), which needs no privileges; a cgroup's limit is read the same
 * way.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import type { HeapCensusPart, MemoryPart } from '../../../src/bundle/layout/bundle.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { AgentdumpError } from '../../../src/errors.ts';
import { readHeapSnapshot } from '../../../src/formats/heapsnapshot/index.ts';
import { nodesInTurn, testNodes } from '../../support/run/test-nodes.ts';
import { preload, programs, temporaryFolder } from '../../support/victims/run-victim.ts';

const part = 'heap.heapsnapshot.gz';
const program = join(programs, 'heap/heap-to-dump.cjs');
const hasPrlimit = process.platform === 'linux' && spawnSync('prlimit', ['--version']).status === 0;
const mb = 1024 ** 2;

/** Number of random kills; AGENTDUMP_TEST_KILLS=50 takes a minute or two. */
const kills = Number(process.env['AGENTDUMP_TEST_KILLS'] ?? 0);
/** The share of the part that is on disk when the kill comes; negative: before the part was begun. */
const shares = kills
  ? Array.from({ length: kills }, () => Math.random() * 1.1 - 0.1)
  : [-1, 0, 0.15, 0.4, 0.7, 0.98];

function environment(dir: string, heap: string): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', AGENTDUMP_DIR: dir, AGENTDUMP_HEAP: heap };
}

/** VmData of an idle Node: some versions reserve a range for code, others don't. */
function ownData(node: string): number {
  const script = "console.log(require('node:fs').readFileSync('/proc/self/status', 'utf8'))";
  const status = spawnSync(node, ['-e', script], { encoding: 'utf8' }).stdout;
  return Number(/^VmData:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

function theBundle(t: TestContext, dir: string) {
  const bundles = listBundles(dir);
  assert.equal(bundles.length, 1);
  const bundle = openBundle(bundles[0]!.path);
  t.after(() => bundle.close());
  return bundle;
}

for (const node of nodesInTurn)
  describe(node.name, () => {
    const diesUnder = (limitBytes: number, dir: string, heap: string) =>
      spawnSync('prlimit', [`--data=${limitBytes}`, node.path, '--require', preload, program, '24'], {
        env: environment(dir, heap),
        encoding: 'utf8',
      });

    test('under a limit that has no room for a snapshot the program dies its own death', {
      skip: !hasPrlimit && 'no prlimit (util-linux) here',
    }, (t) => {
      const dir = join(temporaryFolder(t), 'dumps');
      const { status, signal, stderr } = diesUnder(ownData(node.path) + 250 * mb, dir, 'auto');
      assert.deepEqual({ status, signal }, { status: 1, signal: null }, stderr);
      const bundle = theBundle(t, dir);
      assert.equal(bundle.openPartFile(part), undefined);
      // It did not die of memory, so a missing snapshot is no gap; a sample records how much memory there was.
      assert.ok(!bundle.gaps.some(({ part: name }) => name === part));
      const { heapTier } = bundle.readJson<MemoryPart>('memory.json') ?? {};
      assert.match(
        `${heapTier?.taken}: ${heapTier?.reason}`,
        /^sample: memory is not in question, and a snapshot may take/,
      );
      const census = bundle.readJson<HeapCensusPart>('heap-census.json');
      const said = census?.shapes.find(({ name }) => name === '{at, next}')?.count ?? 0;
      assert.ok(Math.abs(said / 393_216 - 1) < 0.1, JSON.stringify(census));
      assert.ok((census?.sample?.lookedAt ?? Number.POSITIVE_INFINITY) <= 20_000);
    });

    test('where memory is in question there is a snapshot, or a gap says what is there instead', (t) => {
      const dir = join(temporaryFolder(t), 'dumps');
      const words = ['--max-old-space-size=100', '--require', preload, program, '60'];
      const { status, stderr } = spawnSync(node.path, words, {
        env: environment(dir, 'auto'),
        encoding: 'utf8',
      });
      assert.equal(status, 1, stderr);
      const crash = listBundles(dir).find(({ verdictKind }) => verdictKind === 'uncaught-exception');
      const bundle = openBundle(crash?.path ?? '');
      t.after(() => bundle.close());
      if (bundle.parts.some(({ name }) => name === part || name === 'heap-census.json')) return;
      assert.match(
        bundle.gaps.find(({ part: name }) => name === part)?.reason ?? '',
        /^a snapshot may (?:take|need) .*objects by class (?:are|is) in heap-census\.json, its statistics are in memory\.json$/,
      );
    });

    test('under a limit that has room the snapshot is there', {
      skip: !hasPrlimit && 'no prlimit (util-linux) here',
    }, async (t) => {
      const dir = join(temporaryFolder(t), 'dumps');
      const { status, stderr } = diesUnder(ownData(node.path) + 6000 * mb, dir, 'always');
      assert.equal(status, 1, stderr);
      const bytes = theBundle(t, dir).openPartFile(part);
      assert.ok(bytes);
      const snapshot = await readHeapSnapshot(copied(bytes.chunks(1 << 16)));
      assert.ok(snapshot.hasAllEdges);
      snapshot.close();
    });
  });

const deaths: [name: string, program: string, heap: string | undefined, hasSnapshot: boolean][] = [
  ['a crash', `throw new Error('x')`, undefined, false],
  ['a crash, whatever the price', `throw new Error('x')`, 'always', true],
  ['a rejection', `Promise.reject(new Error('x'))`, undefined, false],
  ['a crash, where only memory is a reason', `throw new Error('x')`, 'pressed', false],
  ['an exit code', 'process.exit(3)', undefined, false],
  ['an exit code, whatever the price', 'process.exit(3)', 'always', true],
  ['a failed start', `require('./nothing-there')`, undefined, false],
  ['a request to end', `process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 5000)`, undefined, false],
  [
    'an error that the program handles',
    `process.on('uncaughtException', () => {}); throw new Error('x')`,
    undefined,
    false,
  ],
];
for (const [name, script, heap, hasSnapshot] of deaths)
  test(`${name}: ${hasSnapshot ? 'a snapshot' : 'none, and none is missed'}`, (t) => {
    const dir = join(temporaryFolder(t), 'dumps');
    const [node] = testNodes.slice(-1);
    const { AGENTDUMP_HEAP: _, ...plain } = environment(dir, '');
    const env = { ...plain, AGENTDUMP_EXITS: 'all' };
    spawnSync(node!.path, ['--require', preload, '-e', script], {
      env: heap === undefined ? env : { ...env, AGENTDUMP_HEAP: heap },
      encoding: 'utf8',
    });
    const bundle = theBundle(t, dir);
    assert.equal(bundle.openPartFile(part) !== undefined, hasSnapshot);
    assert.ok(!bundle.gaps.some((gap) => gap.part === part));
  });

test('killed while the snapshot is written, at any instant: what is there is read, and what is not is said', async (t) => {
  const node = testNodes.at(-1)!.path;
  const whole = join(temporaryFolder(t), 'dumps');
  await dieAndKill(node, whole, () => false);
  const bytes = theBundle(t, whole).openPartFile(part)!.bytes;
  const answers: string[] = [];
  for (const share of shares) {
    const dir = join(temporaryFolder(t), 'dumps');
    await dieAndKill(node, dir, () => isThere(dir, share, bytes));
    answers.push(await answerOf(t, dir));
  }
  if (kills) t.diagnostic(answers.join('\n'));
  for (const answer of answers)
    assert.match(
      answer,
      /^(?:no bundle yet|not there yet|whole|\d+ nodes; .*the file was cut|this heap snapshot was cut|not a (?:whole )?heap snapshot)/,
    );
  assert.ok(
    answers.some((answer) => /was cut|not a whole/.test(answer)),
    answers.join('\n'),
  );
});

/** The program dies with a snapshot, and is killed as soon as `isTime` returns true. Resolves when it has ended. */
async function dieAndKill(node: string, dir: string, isTime: () => boolean): Promise<void> {
  const child = spawn(node, ['--require', preload, program, '6'], {
    env: environment(dir, 'always'),
    stdio: 'ignore',
  });
  const watch = setInterval(() => isTime() && child.kill('SIGKILL'), 1);
  await once(child, 'exit');
  clearInterval(watch);
}

/** A negative share: the bundle has been begun, but not this part. */
function isThere(dir: string, share: number, bytes: number): boolean {
  const written = writtenBytes(dir);
  return share < 0 ? existsSync(dir) : written >= Math.max(1, share * bytes);
}

/** Bytes of the part so far; -1 before it is begun. */
function writtenBytes(dir: string): number {
  try {
    const bundle = readdirSync(dir).find((name) => name.endsWith('.partial'));
    return statSync(join(dir, bundle ?? '', `${part}.unfinished`)).size;
  } catch {
    return -1;
  }
}

async function answerOf(t: TestContext, dir: string): Promise<string> {
  if (listBundles(dir).length === 0) return 'no bundle yet';
  const bundle = theBundle(t, dir);
  const bytes = bundle.openPartFile(part) ?? bundle.openBegunPart(part);
  if (!bytes) return 'not there yet';
  if (!bundle.openPartFile(part))
    assert.ok(
      bundle.gaps.some(({ part: name }) => name === part),
      'no gap names it',
    );
  try {
    const snapshot = await readHeapSnapshot(copied(bytes.chunks(1 << 16)));
    const [gap] = snapshot.gaps;
    const answer = gap ? `${snapshot.nodes.count} nodes; ${gap.section}: ${gap.reason}` : 'whole';
    snapshot.close();
    return answer;
  } catch (error) {
    assert.ok(error instanceof AgentdumpError, String(error));
    return error.message;
  }
}

/** A part's chunks share their memory. */
async function* copied(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}
