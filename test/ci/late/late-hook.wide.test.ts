/** What a hook around all tests leaves behind is attributed to the hook, not to the test that mocha calls the current one. */
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
