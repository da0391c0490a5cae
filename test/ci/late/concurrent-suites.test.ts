/** Tests of suites that run at the same time, or that a filter leaves out, are named below their own suites. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runUnderCi } from '../../support/runners/runner-matrix.ts';

const suite = `
const { describe, it } = require('node:test');
const pause = () => new Promise((resolve) => setTimeout(resolve, 30));
describe('port', { concurrency: true }, () => {
  describe('quay', { concurrency: true }, () => {
    it('keeps', pause);
    it('unloads', async () => { await pause(); throw new Error('no crane'); });
  });
  describe('shed', { concurrency: true }, () => {
    it('sweeps', pause);
    it('keeps', async (t) => { await pause(); await t.test('locks', () => { throw new Error('no key'); }); });
  });
});
`;

test('node:test, suites side by side, whole and filtered', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-suites-'));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  writeFileSync(join(folder, 'port.test.cjs'), suite);
  const failed = async (...options: string[]): Promise<string[]> => {
    const command = ['node', '--test', ...options, 'port.test.cjs'];
    const { summary, output } = await runUnderCi({ folder, death: 'none', command });
    assert.ok(summary, output);
    return summary.tests.telling.map(({ name }) => name.join(' › ')).sort();
  };
  assert.deepEqual(await failed(), ['port › quay › unloads', 'port › shed › keeps › locks']);
  assert.deepEqual(await failed('--test-name-pattern=locks|shed'), ['port › shed › keeps › locks']);
});
