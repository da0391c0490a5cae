/**
 * The kernel kills a program under `agentdump run` for the memory of its cgroup: the bundle has its heap, from a copy that
 * was taken when the limit was near, and no secret. Where the heap could not be read afterwards, the bundle says so.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
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
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { majorsInTurn, nodeOf, onlyWide, testMajors, usualNode } from '../../support/run/test-nodes.ts';
import { type MemoryCgroup, makeMemoryCgroup } from '../../support/system/memory-cgroup.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'agentdump-near-limit-'));
after(() => rmSync(root, { recursive: true }));
const limitBytes = 160 * 1024 ** 2;
const probe =
  process.platform === 'linux' && process.arch === 'x64' ? makeMemoryCgroup(limitBytes) : undefined;
probe?.remove();
const skip = probe === undefined ? 'no memory cgroup can be made here' : onlyWide;

const secret = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789';
/** Fills the heap up to 82 % of its cgroup's limit, waits for the file `go`, and goes on until it is killed. */
const victim = `const { existsSync, readFileSync } = require('node:fs');
class Order { #key = '${secret}'.slice(0); constructor(id) { this.id = id; this.lines = Array.from({ length: 60 }, (_, i) => id + i + 0.5); } get key() { return this.#key; } }
globalThis.orders = [];
function fill() {
  // Pages of the executable are not on the account of this cgroup.
  const isFull = 1024 * /RssAnon:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'latin1'))[1] > ${limitBytes * 0.82};
  if (!isFull || existsSync('go')) for (let i = 0; i < 2000; i++) orders.push(new Order(orders.length));
  setTimeout(fill, isFull ? 10 : 0);
}
fill();`;

interface Run {
  child: ChildProcess;
  cwd: string;
  group: MemoryCgroup;
}

function start(name: string, node: string, isInside: boolean): Run {
  const cwd = join(root, name);
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'victim.cjs'), victim);
  const group = makeMemoryCgroup(limitBytes) ?? assert.fail();
  const program = [node, '--max-old-space-size=4000', 'victim.cjs'];
  const [shell, inGroup] = group.within(program[0]!, program.slice(1));
  const run = (command: readonly string[]) => [
    agentdump,
    'run',
    '--dir',
    join(cwd, 'dumps'),
    '--',
    ...command,
  ];
  const [file, words] = isInside
    ? group.within(process.execPath, run(program))
    : [process.execPath, run([shell, ...inGroup])];
  const env = { ...process.env, NODE_OPTIONS: '', TMPDIR: cwd };
  const child = spawn(file, words, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] });
  return { child, cwd, group };
}

/** Whether the process has the file without a name that holds the copy. */
function holdsCopy(pid: number): boolean {
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return /agentdump-copy-.* \(deleted\)$/.test(readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch {
      return false;
    }
  });
}

async function killed({ child, cwd, group }: Run, isReady: (pid: number) => boolean): Promise<string> {
  const ended = once(child, 'exit');
  while (child.exitCode === null && child.signalCode === null && !isReady(child.pid!)) await pause(20);
  writeFileSync(join(cwd, 'go'), '');
  const [, signal] = await ended;
  assert.equal(signal, 'SIGKILL');
  assert.equal(group.oomKills(), 1);
  group.remove();
  const found = listBundles(join(cwd, 'dumps')).find(({ verdictKind }) => verdictKind !== 'snapshot');
  return found?.path ?? assert.fail('no bundle');
}

async function accountOf(path: string) {
  const bundle = openBundle(path);
  try {
    const heap = bundle.readPart(partNames.heapSnapshot);
    const gaps = bundle.gaps.filter(({ part }) => part === partNames.heapSnapshot);
    const { verdict } = await analyzeBundle(bundle);
    return { heap, verdict, reasons: gaps.map(({ reason }) => reason).join('\n') };
  } finally {
    bundle.close();
  }
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

suite('killed for the memory of its cgroup', { skip }, () => {
  for (const major of majorsInTurn(...testMajors))
    test(`Node ${major}: the heap is that of the moment when the limit was near`, async () => {
      const run = start(`outside-${major}`, nodeOf(major), false);
      const { heap, verdict, reasons } = await accountOf(await killed(run, holdsCopy));
      assert.equal(verdict?.kind, 'system-out-of-memory');
      assert.ok(heap, reasons);
      assert.match(
        reasons,
        /stood still for \d+ ms when memory was at \d+ % of the cgroup’s limit, [\d.]+ s before it was killed/,
      );
      const text = gunzipSync(heap).toString('latin1');
      assert.equal(text.includes('"Order"'), true);
      const told = verdict?.evidence.find(({ part }) => part === partNames.heapSnapshot);
      assert.match(told?.fact ?? '', /global\.orders/);
      for (const path of filesBelow(run.cwd))
        if (!path.endsWith('victim.cjs')) assert.equal(readFileSync(path).includes(secret), false, path);
      assert.equal(text.includes(secret), false);
    });

  test('in the same cgroup as its supervisor, where reading the copy would not fit: nothing is stopped for it', async () => {
    const run = start('inside', usualNode.path, true);
    const { heap, verdict, reasons } = await accountOf(await killed(run, () => true));
    assert.equal(verdict?.kind, 'system-out-of-memory');
    assert.equal(heap, undefined);
    assert.match(reasons, /the heap could not be read: a copy takes \d+ bytes, and \d+ may be taken/);
  });
});
