/** Jest runs each test file in a V8 context of its own: what its test waits for is told nevertheless. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { canRun, runnerCommands, runUnderCi, suitesFolder } from '../../support/runners/runner-matrix.ts';

const suite = `
const waiters = [];
async function acquire() {
  await new Promise((settle) => waiters.push(settle));
}
test('orders books', () => {});
test('pays the bill', async () => {
  await acquire();
}, 500);
`;

test('where a test of jest that reached its time limit was waiting', { skip: canRun() }, async (context) => {
  const folder = suitesFolder(context);
  writeFileSync(join(folder, 'jest.cjs'), suite);
  const command = runnerCommands['jest in band'];
  const { summary, output } = await runUnderCi({ folder, death: 'none', command });
  const [bundle] = summary?.bundles ?? [];
  assert.match(bundle?.title ?? '', /“pays the bill” failed, waiting in acquire/, output);
  assert.equal(bundle?.place?.line, 4);
  assert.match(output, /ms for a test, waiting at jest\.cjs:4/);
});
