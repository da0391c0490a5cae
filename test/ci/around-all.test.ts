/**
 * Hooks around all tests, which runners report as no test: one that hangs, exits with 0 or fails later is named; one that fails is told by
 * the tests that it failed. And test files that fail while they are read.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { testNodes } from '../support/run/test-nodes.ts';
import {
  canRun,
  olderRunners,
  type RunnerName,
  runnerCommands,
  runUnderCi,
  suitesFolder,
} from '../support/runners/runner-matrix.ts';

interface Place {
  runner: RunnerName;
  file: string;
  head: string;
  hook: string;
  installed?: string;
}

const nodeTest: Place = {
  runner: 'node:test',
  file: 'node-test.mjs',
  head: "import { before as beforeAll, test } from 'node:test';",
  hook: 'before hook',
};
const jest: Place = { runner: 'jest in band', file: 'jest.cjs', head: '', hook: 'beforeAll hook' };
const vitest: Place = {
  runner: 'vitest forks',
  file: 'vitest.mjs',
  head: "import { beforeAll, test } from 'vitest';",
  hook: 'beforeAll hook',
};

async function run(context: TestContext, place: Place, body: string, node?: string) {
  const { file, head, runner, installed } = place;
  const folder = suitesFolder(context, installed);
  writeFileSync(join(folder, file), `${head}\n${body}\n`);
  return runUnderCi({ folder, death: 'none', command: runnerCommands[runner], ...(node && { node }) });
}

const exits = `beforeAll(async () => {
  await new Promise((done) => setTimeout(done, 30));
  process.exit(0);
});
test('orders', () => {});`;

const fails = `beforeAll(async () => {
  await new Promise((done) => setTimeout(done, 30));
  throw new TypeError('no fixture');
});
test('orders', () => {});`;

const failsLater = `beforeAll(() => {
  setTimeout(() => {
    throw new TypeError('a late fixture');
  }, 60);
});
test('orders', () => new Promise((done) => setTimeout(done, 500)));`;

for (const { name, path } of testNodes) {
  test(`${name}: an exit with code 0 in a hook before all tests`, async (context) => {
    const { summary, output } = await run(context, nodeTest, exits, path);
    const [bundle, ...others] = summary?.bundles ?? [];
    assert.match(bundle?.title ?? '', /process\.exit\(0\)/, output);
    assert.deepEqual(bundle?.test?.name, ['before hook']);
    assert.equal(bundle?.place?.line, 4);
    assert.deepEqual(others, []);
  });

  test(`${name}: a hook before all tests that fails has ended`, async (context) => {
    const { summary, output } = await run(context, nodeTest, fails, path);
    assert.deepEqual(summary?.bundles, [], output);
    assert.deepEqual(
      summary?.tests.telling.map(({ name: told, status, place }) => [told, status, place?.line]),
      [[['orders'], 'failed', 4]],
      output,
    );
  });

  test(`${name}: a hook before all tests that has passed is not unfinished`, async (context) => {
    const { summary, output } = await run(context, nodeTest, failsLater, path);
    const [bundle] = summary?.bundles ?? [];
    assert.match(bundle?.title ?? '', /a late fixture/, output);
    assert.match(
      bundle?.summary ?? '',
      /^(?:The hook before hook began it|Which test began it is not known)/,
    );
    assert.ok(!summary?.tests.telling.some(({ name: told }) => told.at(-1) === 'before hook'), output);
  });
}

const skip = canRun();

test('jest: an exit with code 0 in beforeAll', { skip }, async (context) => {
  const { summary, output } = await run(context, jest, exits);
  const [bundle] = summary?.bundles ?? [];
  assert.match(bundle?.title ?? '', /process\.exit\(0\)/, output);
  assert.deepEqual(bundle?.test?.name, ['beforeAll hook']);
  assert.equal(bundle?.place?.line, 4);
});

test('jest: a late error of beforeAll is that of the hook', { skip }, async (context) => {
  const { summary, output } = await run(context, jest, failsLater);
  const bundle = summary?.bundles.find(({ title }) => title?.includes('a late fixture'));
  assert.match(bundle?.summary ?? '', /^The hook beforeAll hook began it/, output);
});

for (const [what, body] of Object.entries({ 'an exit in': exits, 'a failing': fails }))
  test(`vitest: ${what} beforeAll`, { skip }, async (context) => {
    const { summary, output } = await run(context, vitest, body);
    const [told] = summary?.tests.telling ?? [];
    assert.deepEqual(told?.name, ['beforeAll hook'], output);
    assert.equal(told?.status, 'failed');
    assert.equal(told?.place?.line, 4);
  });

for (const [what, place] of Object.entries({
  vitest,
  jest,
  'jest 29': { ...jest, installed: olderRunners },
}))
  test(`${what}: a file that throws while it is read`, { skip }, async (context) => {
    const { summary, output } = await run(context, place, "throw new TypeError('no module');");
    const [told, ...others] = summary?.tests.telling ?? [];
    assert.equal(told?.error?.message, 'no module', output);
    assert.ok(told?.file?.endsWith(place.file), output);
    assert.equal(told?.place?.line, 2);
    assert.deepEqual(others, []);
    assert.equal(summary?.gaps, undefined);
  });

test('mocha: a run without a test says so', { skip }, async (context) => {
  const mocha: Place = { runner: 'mocha', file: 'mocha.mjs', head: '', hook: '' };
  const { summary, output } = await run(context, mocha, "throw new TypeError('no module');");
  assert.match(`${summary?.gaps}`, /^no test of mocha was seen to begin/, output);
});
