/** Processes that a signal ended in the middle of a test: whoever started them knows which, and each has its own bundle. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { runUnderCi } from '../support/runner-matrix.ts';

const aborts = `import { test } from 'node:test';
test('dies', async () => { await new Promise((done) => setTimeout(done, 20)); process.abort(); });`;

test('a file that ran twice and aborted twice: two bundles, each of its own process', async (context) => {
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

test('programs that a test kills on purpose are no finding', async (context) => {
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

function run(context: TestContext, files: Record<string, string>, words: string[] = ['twice.mjs']) {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-silent-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return runUnderCi({ folder, death: 'none', command: ['node', ...words], env: { NODE_OPTIONS: '' } });
}
