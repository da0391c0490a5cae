/**
 * Mocha: what a hook around all tests leaves behind is attributed to the hook, not to the test that mocha calls the current one; a test
 * that fails after it has passed.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { canRun, runnerCommands, runUnderCi, suitesFolder } from '../../support/runners/runner-matrix.ts';

const suite = `
describe('booking', () => {
  before(() => { setTimeout(() => { throw new TypeError('the pool is gone'); }, 300); });
  it('finds hotels', () => {});
  it('books the cheapest', () => new Promise((resolve) => setTimeout(resolve, 2_000)));
});
`;

test('mocha: a late throw out of a hook before all tests', { skip: canRun() }, async (context) => {
  const folder = suitesFolder(context);
  writeFileSync(join(folder, 'hooked.mjs'), suite);
  const command = [runnerCommands.mocha[0], 'hooked.mjs'];
  const { summary, output } = await runUnderCi({ folder, death: 'none', command });
  const own = summary?.bundles.find(({ title }) => title?.includes('the pool is gone'));
  assert.match(own?.summary ?? output, /The hook booking › "before all" hook[^.]* began it/);
});

const twice = `
describe('booking', () => {
  it('finds hotels', (done) => { done(); setTimeout(() => done(new Error('the pool is gone')), 300); });
  it('books the cheapest', () => new Promise((resolve) => setTimeout(resolve, 1_000)));
});
`;

test('mocha: a test that passed and calls done() again has failed', { skip: canRun() }, async (context) => {
  const folder = suitesFolder(context);
  writeFileSync(join(folder, 'twice.mjs'), twice);
  const command = [runnerCommands.mocha[0], 'twice.mjs'];
  const { summary, output } = await runUnderCi({ folder, death: 'none', command });
  assert.equal(summary?.tests.failed, 1, output);
  const [failed] = summary?.tests.telling ?? [];
  assert.deepEqual([failed?.name, failed?.status], [['booking', 'finds hotels'], 'failed']);
  assert.match(failed?.error?.message ?? '', /the pool is gone/);
});
