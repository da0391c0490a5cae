/**
 * How node:test is observed: before Node 24 by the reporter of its root suite, which must not exist before the program asks
 * for it.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { nodesInTurn, onlyWide, usualNode } from '../support/run/test-nodes.ts';
import { runUnderCi } from '../support/runners/runner-matrix.ts';

/** The root suite listens for uncaught exceptions, and has its hooks from the first test on. */
const looksAtRoot = `
const { Readable } = require('node:stream');
const seen = { before: process.listenerCount('uncaughtException') };
const { test } = require('node:test');
seen.loaded = process.listenerCount('uncaughtException');
test('named', (context) => {
  seen.own = Object.hasOwn(Readable.prototype, 'on') && Readable.prototype.on === Readable.prototype.addListener;
  seen.native = Readable.prototype.on.length;
  console.error('seen ' + JSON.stringify(seen));
  throw new Error('expected 3 hotels');
});
`;

/** A second tree of tests in the process, whose reporter the program listens to. */
const runsFiles = `
const { run } = require('node:test');
run({ files: [__dirname + '/one.cjs'] })
  .on('test:fail', () => { process.exitCode = 1; })
  .on('data', () => {})
  .on('end', () => console.error('roots ' + process.listenerCount('beforeExit')));
`;

/** A suite or test that waits for its inner tests is not listed as unfinished. */
const diesWithin = `
const { describe, it } = require('node:test');
describe('booking', () => {
  it('finds', () => {});
  it('is skipped', { skip: true }, () => {});
  describe('paying', () => {
    it('adds up', () => {});
    it('pays', async (context) => {
      await context.test('in time', () => {});
      await context.test('twice', () => process.kill(process.pid, 'SIGKILL'));
    });
  });
});
`;

/** Fails on purpose, as tests of error handling do. */
const losesWorker = `
const { test } = require('node:test');
const { Worker } = require('node:worker_threads');
test('survives its worker', (context, done) => {
  new Worker(__dirname + '/dies.cjs').on('error', () => done());
});
test('adds', () => { throw new Error('expected 3 hotels'); });
`;

const passesWithin = diesWithin.replace("process.kill(process.pid, 'SIGKILL')", "assert.fail('paid twice')");

for (const { name: version, path: node } of nodesInTurn) {
  test(`${version}: the root suite is made when the first test asks for it, and the test is named`, async (context) => {
    const { summary, output } = await runScript(context, node, { 'one.cjs': looksAtRoot }, 'one.cjs');
    const seen = JSON.parse(/seen (.*)/.exec(output)?.[1] ?? '{}');
    assert.deepEqual(seen, { before: 0, loaded: 0, own: true, native: 2 }, output);
    assert.deepEqual(
      summary?.tests.telling.map(({ name, status }) => [name, status]),
      [[['named'], 'failed']],
    );
  });

  test(`${version}: suites are neither counted nor said not to have finished`, {
    skip: onlyWide,
  }, async (context) => {
    const killed = await runScript(context, node, { 'one.cjs': diesWithin }, 'one.cjs');
    const running = ['booking', 'paying', 'pays', 'twice'];
    assert.deepEqual(killed.summary?.bundles[0]?.test?.name, running, killed.output);
    assert.deepEqual(
      killed.summary?.tests.telling.map(({ name, status }) => [name, status]),
      [[running, 'unfinished']],
    );
    const failed = await runScript(
      context,
      node,
      { 'one.cjs': `const assert = require('node:assert');${passesWithin}` },
      'one.cjs',
    );
    assert.deepEqual(
      failed.summary?.tests.telling.map(({ name, status }) => [name, status]),
      [[running, 'failed']],
    );
    const { finished, failed: red, unfinished } = failed.summary?.tests ?? {};
    assert.deepEqual({ finished, red, unfinished }, { finished: 6, red: 1, unfinished: 0 });
  });

  test(`${version}: a worker that dies on purpose is neither a test file nor a problem`, {
    skip: onlyWide,
  }, async (context) => {
    const files = { 'one.cjs': losesWorker, 'dies.cjs': 'throw new SyntaxError("on purpose");' };
    const { output, summary } = await runScript(context, node, files, ['--test', 'one.cjs']);
    const [dead] = summary?.bundles ?? [];
    assert.deepEqual([dead?.handled, dead?.test?.file === 'dies.cjs'], [true, false], JSON.stringify(dead));
    assert.match(output, /✖ adds: Error: expected 3 hotels/);
    assert.doesNotMatch(output, /✖ .*on purpose/);
  });

  test(`${version}: who runs files by run() gets no root suite of ours`, {
    skip: onlyWide,
  }, async (context) => {
    const files = { 'all.cjs': runsFiles, 'one.cjs': looksAtRoot };
    const { output, summary } = await runScript(context, node, files, 'all.cjs');
    const bare = await runScript(context, node, files, 'all.cjs', { AGENTDUMP: 'off' });
    assert.match(output, /roots \d/);
    assert.equal(/roots \d/.exec(output)?.[0], /roots \d/.exec(bare.output)?.[0]);
    assert.deepEqual(
      summary?.tests.telling.map(({ name }) => name),
      [['named']],
    );
  });
}

/** A continuation of a promise has an id of its own only while promises are followed. */
const looksAtPromises = `
import { executionAsyncId } from 'node:async_hooks';
await new Promise((resolve) => setImmediate(resolve));
await null;
console.error('followed ' + (executionAsyncId() > 0));
`;

test('the promises of a script below node --test are followed only if it mentions node:test', {
  skip: usualNode.major < 24,
}, async (context) => {
  for (const [text, followed] of [
    [looksAtPromises, false],
    [`// 'node:test'${looksAtPromises}`, true],
  ] as const) {
    const { output } = await runScript(context, usualNode.path, { 'one.mjs': text }, ['--test', 'one.mjs']);
    assert.match(output, new RegExp(`followed ${followed}`), output);
  }
});

function runScript(
  context: TestContext,
  node: string,
  files: Record<string, string>,
  script: string | string[],
  env: Record<string, string> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-root-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return runUnderCi({
    folder,
    death: 'none',
    command: [node, ...[script].flat()],
    node,
    env: { NODE_OPTIONS: '', ...env },
  });
}
