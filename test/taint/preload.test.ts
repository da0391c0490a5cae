/**
 * No secret of a program leaves it: a program with a secret in every place dies under the preload, and every file that it
 * leaves, and every output of every command about it, is searched for each secret in every encoding.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWideRun, nodesInTurn, onlyWide, testNodes } from '../support/run/test-nodes.ts';
import { makeTaint } from './places.ts';
import { findTaint } from './readings.ts';
import { type Death, runTainted } from './run-tainted.ts';

/** Every command that reads a heap is asked about it: the quick run has the rest alone. */
const heap = { AGENTDUMP_HEAP: isWideRun ? 'always' : 'off' };
const deaths: Readonly<Record<string, Death & { skip?: string | false }>> = {
  'an exception, with locals and heap': { how: 'throw', env: { ...heap, AGENTDUMP_LOCALS: 'uncaught' } },
  'an exit': { how: 'exit', env: { AGENTDUMP_HEAP: 'off' }, skip: onlyWide },
  'a rejection': { how: 'reject', skip: onlyWide },
  'a hang': { how: 'hang', env: { AGENTDUMP_HANG_MS: '500' }, skip: onlyWide },
};
const seed = Number(process.env['AGENTDUMP_TEST_SEED'] ?? 20_261_125);

for (const node of nodesInTurn)
  for (const [name, { skip, ...death }] of Object.entries(deaths))
    test(`${node.name}: ${name}: no secret in any file or answer`, { skip: skip ?? false }, async () => {
      const taint = makeTaint(seed + testNodes.indexOf(node));
      const { bundles, files, told } = await runTainted(node.path, death, taint);
      assert.ok(bundles.length > 0, `no bundle: ${told}`);
      assert.deepEqual(findTaint(files, taint.canaries), []);
    });

test('the search finds what is there, in each of its readings', () => {
  const { canaries } = makeTaint(seed);
  for (const canary of canaries.values())
    for (const text of [
      canary,
      JSON.stringify(JSON.stringify({ a: canary })),
      Buffer.from(`xy${canary}`).toString('base64'),
      Buffer.from(canary).toString('hex'),
      encodeURIComponent(canary),
      Buffer.from(canary, 'utf16le').toString('latin1'),
      JSON.stringify([...Buffer.from(canary)]),
    ])
      assert.notDeepEqual(findTaint([{ path: 'x', text }], canaries), [], text);
});
