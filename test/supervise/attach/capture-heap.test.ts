/**
 * `agentdump capture --heap` on the Nodes of the run, from a copy of the memory: objects are counted correctly, it contains
 * no secret, the process continues as before, and nothing of the copy remains. If the memory can't be read, V8 is asked.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { type Heap, openHeap } from '../../../src/analysis/memory/heap.ts';
import { parseQuery } from '../../../src/analysis/memory/query/parse.ts';
import { runQuery } from '../../../src/analysis/memory/query/run.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { readHeap } from '../../../src/cli/commands/core-digest.ts';
import {
  type Capture,
  type CaptureOptions,
  captureLive,
} from '../../../src/supervise/attach/capture-live.ts';
import { makeScrubber } from '../../../src/supervise/scrub/scrubber.ts';
import { majorsInTurn, nodeOf, onlyWide, testMajors, usualNode } from '../../support/run/test-nodes.ts';
import { assertOfSchema } from '../../support/system/of-schema.ts';

const secret = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789';
const orders = 3000;
const program = `
  class Order {
    #key = '${secret}'.slice(0);
    constructor(id) { this.id = id; this.lines = [{ id }]; this.notes = new Map([[id, { id }]]); }
    get key() { return this.#key; }
  }
  class Gone {}
  globalThis.orders = Array.from({ length: ${orders} }, (_, id) => new Order(id));
  globalThis.gone = new WeakRef(new Gone());
  globalThis['${secret}'] = { named: true };
  process.stdin.on('data', () => console.log('served'));
  console.log('ready');`;

const dir = mkdtempSync(join(tmpdir(), 'agentdump-capture-heap-'));
const victims: ChildProcess[] = [];
after(() => {
  for (const child of victims) child.kill('SIGKILL');
  rmSync(dir, { recursive: true });
});

async function startVictim(node: string, code = program): Promise<ChildProcess & { pid: number }> {
  // A port of its own, because other tests use the default one.
  const child = spawn(node, ['--inspect-port=0', '-e', code], { stdio: ['pipe', 'pipe', 'ignore'] });
  victims.push(child);
  await once(child.stdout, 'data');
  return child as ChildProcess & { pid: number };
}

async function assertServes(child: ChildProcess): Promise<void> {
  const served = once(child.stdout!, 'data');
  child.stdin!.write('order\n');
  assert.match(String(await served), /served/);
}

const stateOf = (pid: number): string | undefined =>
  /\) (\w) /.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1];

const capture = (pid: number, more: Partial<CaptureOptions> = {}): Promise<Capture> =>
  captureLive({ pid, dir, scrubber: makeScrubber({}), heap: true, readHeap, ...more });

interface Read {
  text: string;
  heap: Heap;
  gaps: string[];
  count(query: string): number;
}

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function read(path: string): Promise<Read> {
  const bundle = openBundle(path);
  try {
    const part = bundle.readPart('heap.heapsnapshot.gz');
    assert.ok(part, 'there is a heap');
    const account = await analyzeBundle(bundle);
    assertOfSchema(account);
    assert.ok(account.memory?.classes?.length);
    const bytes = gunzipSync(part);
    const heap = await openHeap(inOnePiece(bytes));
    const count = (query: string) => runQuery(heap, parseQuery(query), orders * 2).matches;
    return { text: bytes.toString('latin1'), heap, gaps: account.gaps.map(({ reason }) => reason), count };
  } finally {
    bundle.close();
  }
}

const skip = process.platform !== 'linux' || process.arch !== 'x64';

for (const major of majorsInTurn(...testMajors))
  test(`Node ${major}: every object by its class, out of a copy of its memory; it goes on`, {
    skip,
  }, async () => {
    const child = await startVictim(nodeOf(major));
    const { path, heap: taken } = await capture(child.pid);
    assert.equal(taken?.reason, undefined);
    assert.equal(taken?.from, 'memory');
    assert.ok(taken.pausedMs > 0);
    await assertServes(child);
    const { text, count, heap, gaps } = await read(path);
    assert.equal(count('class = Order'), orders);
    assert.equal(count('class = Order and .notes.size = 1 and has .lines'), orders);
    assert.equal(heap.snapshot.header.hasLastingIds, false);
    assert.ok(!text.includes(secret), 'no secret is in it');
    assert.ok(
      gaps.some((reason) => /copy of the process's memory, for which it stood still for \d+ ms/.test(reason)),
      gaps.join('\n'),
    );
    assert.deepEqual(
      readdirSync(dir).filter((name) => !/\.agentdump$|^ledger$/.test(name)),
      [],
    );
  });

test('one that somebody has stopped stays stopped, and gives its heap', {
  skip: skip || onlyWide,
}, async () => {
  const child = await startVictim(usualNode.path);
  child.kill('SIGSTOP');
  while (stateOf(child.pid) !== 'T') await pause(5);
  const { path, answered, heap } = await capture(child.pid);
  assert.deepEqual([answered, heap?.from, stateOf(child.pid)], [false, 'memory', 'T']);
  const { count } = await read(path);
  assert.equal(count('class = Order'), orders);
  child.kill('SIGCONT');
  await assertServes(child);
});

test('where its memory can’t be read, V8 writes the snapshot, and it is said why', {
  skip: onlyWide,
}, async () => {
  const child = await startVictim(usualNode.path);
  const reader = () => Promise.reject(new Error('this V8 was never compared'));
  const { path, heap } = await capture(child.pid, { readHeap: reader });
  assert.deepEqual([heap?.from, heap?.reason], ['v8', skip ? heap?.reason : 'this V8 was never compared']);
  await assertServes(child);
  const { count, text, heap: snapshot } = await read(path);
  assert.equal(count('class = Order'), orders);
  assert.equal(snapshot.snapshot.header.hasLastingIds, true);
  assert.ok(!text.includes(secret));
});

test('stopped amidst a collection: its memory is copied again, thrice at most', {
  skip: skip || onlyWide,
}, async () => {
  const child = await startVictim(usualNode.path);
  let reads = 0;
  const { heap } = await capture(child.pid, {
    readHeap: async (core, redaction) => ({
      ...(await readHeap(core, redaction)),
      isCollecting: ++reads > 0,
    }),
  });
  assert.deepEqual([heap?.from, reads], ['memory', 3]);
  await assertServes(child);
});

test('a reader that leaves the planted secret out proves nothing: V8 is asked', {
  skip: skip || onlyWide,
}, async () => {
  const child = await startVictim(usualNode.path);
  const { heap } = await capture(child.pid, {
    readHeap: (core, { redactorFor, spare }) => readHeap(core, { redactorFor, spare, planted: 'another' }),
  });
  assert.equal(heap?.from, 'v8');
  assert.match(heap.reason ?? '', /planted secret was not in it/);
});

for (const signal of ['SIGKILL', 'SIGSTOP'] as const)
  test(`${signal} while the process is stopped for us: it goes on all the same`, { skip }, async (t) => {
    const child = await startVictim(
      usualNode.path,
      `process.on('SIGCONT', () => console.log('continued'));${program}`,
    );
    const continued = once(child.stdout!, 'data');
    const guard = JSON.stringify(
      new URL('../../../src/supervise/native/guard-stop.ts', import.meta.url).href,
    );
    const code = `const { guardStop } = await import(${guard});
    guardStop(${child.pid});
    process.kill(${child.pid}, 'SIGSTOP');
    process.kill(process.pid, '${signal}');`;
    const words = [...process.execArgv, '--input-type=module', '-e', code];
    const stopper = spawn(process.execPath, words, { stdio: 'inherit' });
    t.after(() => stopper.kill('SIGKILL'));
    // It may be stopped for too short a time to be seen so. Nobody but the guard continues it.
    assert.match(String(await continued), /continued/);
    await assertServes(child);
    if (signal === 'SIGKILL') assert.ok(stopper.signalCode ?? (await once(stopper, 'exit')));
    else assert.equal(stateOf(stopper.pid!), 'T');
  });
