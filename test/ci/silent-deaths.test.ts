/**
 * Processes that a signal ended in the middle of a test: the process that started them identifies them, and each has its own
 * bundle.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { onlyWide } from '../support/run/test-nodes.ts';
import { runUnderCi } from '../support/runners/runner-matrix.ts';

const aborts = `import { test } from 'node:test';
test('dies', async () => { await new Promise((done) => setTimeout(done, 20)); process.abort(); });`;

test('a file that ran twice and aborted twice: two bundles, each of its own process', {
  skip: onlyWide,
}, async (context) => {
  const { summary } = await run(context, {
    'a.test.mjs': aborts,
    'twice.mjs': `import { spawn } from 'node:child_process';
const once = () => new Promise((done) => spawn(process.execPath, ['a.test.mjs']).on('close', done));
await once();
await once();
process.exitCode = 1;`,
  });
  const { tests, bundles } = summary ?? assert.fail('no summary');
  const own = bundles.filter(({ test: one }) => one?.name[0] === 'dies');
  assert.deepEqual(
    own.map(({ kind }) => kind),
    ['abort', 'abort'],
  );
  const named = tests.telling.map(({ bundle }) => bundle);
  assert.deepEqual(named.sort(), own.map(({ name }) => name).sort());
});

test('a test file that was killed when its tests had ended', async (context) => {
  const { summary } = await run(
    context,
    {
      'a.test.mjs': `import { test } from 'node:test';
test('passes', () => {});
process.on('exit', () => process.kill(process.pid, 'SIGKILL'));`,
    },
    ['--test', 'a.test.mjs'],
  );
  assert.deepEqual(
    summary?.bundles.map(({ kind, test: one }) => [kind, one?.file]),
    [['killed', 'a.test.mjs']],
  );
});

test('programs that a test kills on purpose are no finding', { skip: onlyWide }, async (context) => {
  const { summary } = await run(context, {
    'twice.mjs': `import { spawn } from 'node:child_process';
import { once } from 'node:events';
const stays = () => spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000); console.log(1)']);
for (const kill of [(child) => child.kill('SIGABRT'), (child) => process.kill(child.pid, 'SIGKILL')]) {
  const child = stays();
  await once(child.stdout, 'data');
  kill(child);
  await once(child, 'close');
}
process.exitCode = 1;`,
  });
  assert.equal(summary?.outcome.kind, 'failed');
  assert.deepEqual(summary.bundles, []);
});

const endedAtItsWords = (file: string, words: string) => `import { spawn } from 'node:child_process';
const child = spawn(process.execPath, ['--max-old-space-size=40', '${file}']);
child.stderr.on('data', (chunk) => String(chunk).includes('${words}') && child.kill('SIGTERM'));
child.on('close', () => { process.exitCode = 1; });`;

const fillsItsHeap = 'const kept = []; for (;;) kept.push(new Array(1_000).fill(kept.length));';

for (const [when, text, names] of [
  ['in a test', `import { test } from 'node:test';\ntest('fills', () => { ${fillsItsHeap} });`, ['fills']],
  ['before its tests', `import 'node:test';\n${fillsItsHeap}`, []],
] as const)
  test(`out of heap ${when}, and ended by its parent as soon as V8 had said so, as jest does`, async (context) => {
    const { summary } = await run(context, {
      'a.test.mjs': text,
      'twice.mjs': endedAtItsWords('a.test.mjs', 'Last few GCs'),
    });
    assert.deepEqual(
      // Since Node 24 the runner has not begun before the first test.
      summary?.bundles.map(({ kind, title, test: one }) => [kind, title, one?.name ?? []]),
      [['heap-out-of-memory', 'The JavaScript heap ran out of memory', names]],
    );
  });

test('a test that spins, ended by its parent: the signal is told, and who sent it', {
  skip: onlyWide,
}, async (context) => {
  const { summary } = await run(context, {
    'a.test.mjs': `import { test } from 'node:test';
import { writeSync } from 'node:fs';
test('spins', () => { writeSync(2, 'spinning'); for (;;) Math.random(); });`,
    'twice.mjs': endedAtItsWords('a.test.mjs', 'spinning'),
  });
  const [bundle, ...others] = summary?.bundles ?? [];
  assert.deepEqual(others, []);
  assert.equal(bundle?.kind, 'terminated');
  assert.match(bundle.title ?? '', /^Stopped by SIGTERM, sent by its parent process/);
  assert.deepEqual(bundle.test?.name, ['spins']);
});

function run(context: TestContext, files: Record<string, string>, words: string[] = ['twice.mjs']) {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-silent-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return runUnderCi({ folder, death: 'none', command: ['node', ...words], env: { NODE_OPTIONS: '' } });
}

const exits = `import { test } from 'node:test';
test('leaves', async () => { setTimeout(() => process.exit(3), 50); });
test('never ends', async () => { await new Promise((done) => setTimeout(done, 5000)); });`;
const startsAndForgets = `import { spawn } from 'node:child_process';
import { once } from 'node:events';
const forget = async () => { await once(spawn(process.execPath, ['a.test.mjs'], { env: { ...process.env, NODE_TEST_CONTEXT: '' } }), 'close'); };`;

test('a process that exits in the middle of a test, and a command that overlooks it: a report, and its own exit code', async (context) => {
  const { code, summary } = await run(
    context,
    {
      'a.test.mjs': exits,
      'main.mjs': `${startsAndForgets}\nawait forget();`,
    },
    ['main.mjs'],
  );
  assert.equal(code, 0);
  assert.equal(summary?.outcome.kind, 'died');
  assert.deepEqual(
    summary.bundles.map(({ kind, test: one }) => [kind, one?.name]),
    [['exit', ['leaves']]],
  );
});

test('the same, started by a test: that one is to judge it', async (context) => {
  const { code, summary } = await run(
    context,
    {
      'a.test.mjs': exits,
      'main.test.mjs': `import { test } from 'node:test';\n${startsAndForgets}\ntest('forgets', forget);`,
    },
    ['--test', 'main.test.mjs'],
  );
  assert.deepEqual([code, summary], [0, undefined]);
});
