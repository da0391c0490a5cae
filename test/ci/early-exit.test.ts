/**
 * A process that ends in the middle of a test although nothing was thrown: an exit with code 0, which runners take for success, and an
 * event loop that runs empty. Also which ends of a process are none of that.
 */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { testNodes } from '../support/run/test-nodes.ts';
import {
  canRun,
  type RunnerName,
  runnerCommands,
  runUnderCi,
  suitesFolder,
} from '../support/runners/runner-matrix.ts';

const body = `
test('orders books', DONE);
test('pays the bill', async () => {
  await new Promise((done) => setTimeout(done, 30));
  shutDown();
});
test('ships', DONE);
function shutDown() {
  process.exit(0);
}
`;

interface Suite {
  file: string;
  head: string;
  done?: string;
  runner: RunnerName;
}

const suites: Record<string, Suite> = {
  'node:test': { file: 'node-test.mjs', head: `import { test } from 'node:test';`, runner: 'node:test' },
  mocha: { file: 'mocha.mjs', head: 'const test = it;', runner: 'mocha' },
  jest: { file: 'jest.cjs', head: '', runner: 'jest in band' },
  ava: { file: 'ava.mjs', head: `import test from 'ava';`, done: '(t) => t.pass()', runner: 'ava' },
  tap: {
    file: 'tap.mjs',
    head: `import t from 'tap'; const test = (name, body) => t.test(name, body);`,
    done: 'async () => {}',
    runner: 'tap',
  },
  playwright: {
    file: 'playwright.spec.mjs',
    head: `import { test } from '@playwright/test';`,
    runner: 'playwright',
  },
};

async function run(context: TestContext, { file, runner }: Suite, text: string, node?: string) {
  const folder = suitesFolder(context);
  writeFileSync(join(folder, file), text);
  return runUnderCi({ folder, death: 'none', command: runnerCommands[runner], ...(node && { node }) });
}

for (const [name, suite] of Object.entries(suites)) {
  const skip = name !== 'node:test' && canRun();
  test(`${name}: an exit with code 0 in a test is told, with its test and its place`, {
    skip,
  }, async (context) => {
    const { summary, output } = await run(
      context,
      suite,
      suite.head + body.replaceAll('DONE', suite.done ?? '() => {}'),
    );
    const bundle = summary?.bundles.find(({ test: told }) => told?.name.at(-1) === 'pays the bill');
    assert.ok(bundle, output);
    assert.match(bundle.title ?? '', /process\.exit\(0\)/);
    assert.equal(bundle.place?.line, 9);
    const told = summary?.tests.telling.find(({ bundle: own }) => own === bundle.name);
    assert.equal(told?.status, 'unfinished', output);
  });
}

const nodeTest = suites['node:test'] as Suite;

for (const { major, name, path } of testNodes) {
  // Later versions keep the process of a pending test alive.
  const skip = major > 22 && 'it hangs there, which is told as a hang';
  test(`${name}: an event loop that runs empty before a test has ended`, { skip }, async (context) => {
    const text = `${nodeTest.head}
const waiters = [];
test('pays the bill', () => enter());
async function enter() {
  await new Promise((done) => waiters.push(done));
}
`;
    const { summary, output } = await run(context, nodeTest, text, path);
    const bundle = summary?.bundles.find(({ test: told }) => told?.name.at(-1) === 'pays the bill');
    assert.match(bundle?.title ?? '', /“pays the bill” failed, waiting in enter/, output);
    assert.match(output, /still pending.*waiting at node-test\.mjs:5/);
    assert.equal(bundle?.place?.line, 5);
    // What else is suspended would be taken for it.
    assert.equal(bundle?.confidence, 'likely');
  });

  test(`${name}: an exit with code 0 in a hook before the tests of a suite`, async (context) => {
    const text = `import { before, describe, it } from 'node:test';
describe('books', () => {
  before(async () => {
    await new Promise((done) => setTimeout(done, 30));
    process.exit(0);
  });
  it('orders', () => {});
});
`;
    const { summary, output } = await run(context, nodeTest, text, path);
    const [bundle, ...others] = summary?.bundles ?? [];
    assert.match(bundle?.title ?? '', /process\.exit\(0\)/, output);
    assert.deepEqual(bundle?.test?.name, ['books', 'before hook']);
    assert.equal(bundle?.place?.line, 5);
    assert.deepEqual(others, []);
    assert.deepEqual(
      summary?.tests.telling.map(({ name: told, status }) => [told.join(' › '), status]),
      [['books › before hook', 'unfinished']],
      output,
    );
  });

  test(`${name}: a process that is ended after its tests is no early end`, async (context) => {
    const text = `import { after, describe, it } from 'node:test';
describe('books', () => {
  it('orders', () => {});
  it.skip('pays', () => {});
  after(() => process.exit(0));
});
`;
    const { summary, output, report } = await run(context, nodeTest, text, path);
    assert.equal(summary, undefined, output);
    assert.equal(existsSync(report), false);
  });
}
