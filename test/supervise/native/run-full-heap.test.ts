/**
 * A heap that runs out of memory under `agentdump run`, on the Nodes of the run: read from a copy of the memory, with what
 * filled it and without secrets, while the next life does not wait for it. If nothing could be copied, it is read from the
 * core.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import { partNames } from '../../../src/bundle/layout/bundle.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { readHeapApart } from '../../../src/cli/commands/core-digest.ts';
import { readHeapOfCore } from '../../../src/supervise/finish/dead-heap.ts';
import { makeCore, noCores } from '../../support/cores/core-victims.ts';
import {
  isWideRun,
  majorsInTurn,
  nodeOf,
  onlyWide,
  testMajors,
  usualNode,
} from '../../support/run/test-nodes.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'agentdump-full-heap-'));
after(() => rmSync(root, { recursive: true }));
const skip =
  process.platform !== 'linux' || process.arch !== 'x64'
    ? 'a heap is read out of memory on Linux x64 only'
    : false;

const secret = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789';
/** Its second life says so and ends regularly. */
const victim = `const { existsSync, writeFileSync } = require('node:fs');
if (existsSync('second')) { console.log('second life'); process.exit(0); }
writeFileSync('second', '');
class Order { #key = '${secret}'.slice(0); constructor(id) { this.id = id; this.lines = [{ id }]; } get key() { return this.#key; } }
globalThis.orders = [];
function fill() { for (let i = 0; i < 2000; i++) orders.push(new Order(orders.length)); setImmediate(fill); }
fill();`;

interface Options {
  node?: string;
  words?: string[];
  variables?: Record<string, string>;
}

function prepare(
  name: string,
  { node = usualNode.path, words = [] }: Options,
): { cwd: string; line: string[] } {
  const cwd = join(root, name);
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'victim.cjs'), victim);
  const program = [node, `--max-old-space-size=${isWideRun ? 40 : 24}`, 'victim.cjs'];
  return { cwd, line: [agentdump, 'run', '--dir', join(cwd, 'dumps'), ...words, '--', ...program] };
}

const environment = (variables: Record<string, string> = {}) => ({
  ...process.env,
  NODE_OPTIONS: '',
  ...variables,
});

function run(name: string, options: Options) {
  const { cwd, line } = prepare(name, options);
  const result = spawnSync(process.execPath, line, {
    cwd,
    encoding: 'utf8',
    env: environment(options.variables),
  });
  return { cwd, result, bundle: ofDeath(cwd) ?? assert.fail(result.stderr) };
}

/** The bundle of the death, not the one written when the memory was near its limit. */
function ofDeath(cwd: string): string | undefined {
  return listBundles(join(cwd, 'dumps')).find(({ verdictKind }) => verdictKind === 'heap-out-of-memory')
    ?.path;
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

async function accountOf(path: string) {
  const bundle = openBundle(path);
  try {
    const gaps = bundle.gaps.filter(({ part }) => part === partNames.heapSnapshot);
    const heap = bundle.readPart(partNames.heapSnapshot);
    return {
      account: await analyzeBundle(bundle),
      heap,
      reasons: gaps.map(({ reason }) => reason).join('\n'),
    };
  } finally {
    bundle.close();
  }
}

/** If the process ended before it could be stopped, the kernel's core is used in place of the copy. */
const origin =
  /^read out of (?:a copy of the process’s memory, for which it stood still for \d+ ms|the kernel’s core)/;

async function assertHeap(path: string): Promise<void> {
  const { account, heap, reasons } = await accountOf(path);
  assert.ok(heap, reasons);
  assert.match(reasons, origin);
  const text = gunzipSync(heap).toString('latin1');
  assert.equal(text.includes(secret), false);
  assert.equal(text.includes('"Order"'), true);
  assert.equal(account.verdict?.kind, 'heap-out-of-memory');
  const told = account.verdict?.evidence.find(({ part }) => part === partNames.heapSnapshot);
  assert.match(told?.fact ?? '', /global\.orders/);
}

suite('a full heap', { skip }, () => {
  for (const major of majorsInTurn(...testMajors))
    test(`Node ${major}: out of a copy of its memory, taken before it ends as it would have`, async () => {
      const { cwd, result, bundle } = run(`copy-${major}`, { node: nodeOf(major) });
      assert.equal(result.signal, 'SIGABRT');
      assert.match(result.stderr, /JavaScript heap out of memory/);
      await assertHeap(bundle);
      for (const path of filesBelow(cwd))
        if (!path.endsWith('victim.cjs')) assert.equal(readFileSync(path).includes(secret), false, path);
    });

  test('the next life begins before the heap is read', { skip: onlyWide }, async () => {
    const { cwd, line } = prepare('restart', { words: ['--restart', 'on-failure', '--restart-delay', '1'] });
    const child = spawn(process.execPath, line, {
      cwd,
      env: environment(),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let atSecondLife: string | undefined = 'not begun';
    child.stdout.once('data', () => {
      atSecondLife = ofDeath(cwd);
    });
    const code = await new Promise((resolve) => child.once('exit', resolve));
    assert.equal(code, 0);
    assert.equal(atSecondLife, undefined);
    await assertHeap(ofDeath(cwd) ?? assert.fail());
  });

  test('with AGENTDUMP_HEAP=off there is none', { skip: onlyWide }, async () => {
    const { bundle } = run('off', { variables: { AGENTDUMP_HEAP: 'off' } });
    const { heap, reasons } = await accountOf(bundle);
    assert.equal(heap, undefined);
    assert.equal(reasons, '');
  });

  test('a report that the program asks for stops nothing', () => {
    const { cwd, line } = prepare('asked', {});
    writeFileSync(
      join(cwd, 'victim.cjs'),
      'process.report.writeReport(); setTimeout(() => console.log("ended"), 300)',
    );
    const result = spawnSync(process.execPath, line, { cwd, encoding: 'utf8', env: environment() });
    assert.equal(result.status, 0);
    assert.equal(result.stdout, 'ended\n');
    assert.equal(existsSync(join(cwd, 'dumps')) && ofDeath(cwd) !== undefined, false);
  });

  test('what could not be copied is read out of the kernel’s core', {
    skip: noCores || onlyWide,
  }, async () => {
    const program = `globalThis.orders = []; for (;;) orders.push({ key: '${secret}' + orders.length });`;
    const death = makeCore(usualNode.path, ['--max-old-space-size=20', '-e', program]);
    try {
      const full = { pid: 0, gap: 'there was no room' };
      const { read, gaps } = await readHeapOfCore(full, death.core, async (path) => readHeapApart(path, []));
      assert.match(gaps[0] ?? '', /^read out of the kernel’s core \(there was no room\)/);
      const text = gunzipSync(Buffer.concat([...(read?.members.take() ?? [])])).toString('latin1');
      assert.equal(text.includes(secret), false);
      assert.equal(text.includes('"orders"'), true);
    } finally {
      death.remove();
    }
  });
});
