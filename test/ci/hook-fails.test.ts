/** A test of node:test whose `beforeEach` throws has failed, with that error, although Node 24 never starts it. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testNodes } from '../support/run/test-nodes.ts';
import { runnerCommands, runUnderCi, suitesFolder } from '../support/runners/runner-matrix.ts';

const text = `import { beforeEach, describe, it } from 'node:test';
describe('books', () => {
  beforeEach(() => {
    throw new Error('fixture 3 is missing');
  });
  it('reads orders', () => {});
});
`;

for (const { name, path } of testNodes)
  test(`${name}: a hook that fails a test`, async (context) => {
    const folder = suitesFolder(context);
    writeFileSync(join(folder, 'node-test.mjs'), text);
    const command = runnerCommands['node:test'];
    const { summary, output } = await runUnderCi({ folder, death: 'none', command, node: path });
    const [told] = summary?.tests.telling ?? [];
    assert.deepEqual(told?.name, ['books', 'reads orders'], output);
    assert.equal(told?.status, 'failed');
    assert.equal(told?.error?.message, 'fixture 3 is missing');
    assert.equal(told?.place?.line, 4);
    assert.equal(summary?.tests.failed, 1);
    assert.deepEqual(summary?.bundles, []);
  });
