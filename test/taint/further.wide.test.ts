/**
 * The second table of places (further-places.ts): a throw under the preload with heap and locals, and an abort whose core is
 * reduced.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noCores } from '../support/cores/core-victims.ts';
import { testNodes } from '../support/run/test-nodes.ts';
import { furtherInside, furtherSource } from './further-places.ts';
import { makeTaint } from './places.ts';
import { findTaint } from './readings.ts';
import { type Death, runTainted } from './run-tainted.ts';

const program = 'further.cjs';
const deaths: Readonly<Record<string, Death & { skip?: string | false }>> = {
  'an exception, with locals and heap': {
    program,
    how: 'throw',
    env: { AGENTDUMP_HEAP: 'always', AGENTDUMP_LOCALS: 'uncaught' },
  },
  'an abort, with its core': { program, how: 'abort', run: [], skip: noCores },
};
const seed = Number(process.env['AGENTDUMP_TEST_SEED'] ?? 20_261_127);

for (const [i, [name, { skip, ...death }]] of Object.entries(deaths).entries()) {
  const node = testNodes[i % testNodes.length]!;
  test(`${name}: no secret of the second table in any file or answer (${node.name})`, {
    skip: skip ?? false,
  }, async () => {
    const taint = makeTaint(seed + i, { inside: furtherInside, source: furtherSource });
    const { bundles, files, told } = await runTainted(node.path, death, taint);
    assert.ok(bundles.length > 0, `no bundle: ${told}`);
    assert.match(told, /it failed|code null/);
    assert.deepEqual(findTaint(files, taint.canaries), []);
  });
}
