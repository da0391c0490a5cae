/**
 * Which exits leave a bundle: that of a script of the project does; that of an installed tool like a linter does not, because
 * its output says why.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { runUnderCi } from '../support/runners/runner-matrix.ts';

const script = 'console.error("2 problems"); process.exit(2);';

test('an installed tool that ends with an exit code leaves no bundle', async (context) => {
  const { code, summary } = await runScript(context, 'node_modules/lint/cli.cjs');
  assert.equal(code, 2);
  assert.equal(summary?.outcome.kind, 'failed');
  assert.deepEqual(summary?.bundles, []);
  assert.match(summary?.leftOut?.[0]?.reason ?? '', /its output says why/);
});

test('a script of the project that does leaves one, with the stack of the call', async (context) => {
  const { code, summary } = await runScript(context, 'scripts/check.cjs');
  assert.equal(code, 2);
  assert.deepEqual(
    summary?.bundles.map(({ kind }) => kind),
    ['exit'],
  );
});

function runScript(context: TestContext, path: string) {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-exits-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), script);
  return runUnderCi({ folder, death: 'none', command: ['node', path], env: { NODE_OPTIONS: '' } });
}
