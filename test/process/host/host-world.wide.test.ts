/**
 * Everything of host-world.ts, in each way, on each Node (in `.ci/run` a part): the death is unchanged, and there is
 * always a bundle.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { partInTurn, testNodes, usualNode } from '../../support/run/test-nodes.ts';
import { replaceable, ways } from '../../support/victims/host-world.ts';
import { dieInItsWorld } from './host-world-runs.ts';

/** Nodes other than the usual one run every `step`th case. */
const step = Number(process.env['AGENTDUMP_TEST_WORLDS'] ?? 12);

for (const [at, node] of testNodes.entries())
  describe(node.name, { concurrency: 2 }, () => {
    const all = replaceable.flatMap((what) => ways.map((how) => [what, how] as const));
    const some = node === usualNode ? partInTurn(all, 3) : all.filter((_, index) => index % step === at);
    const ends = { written: 0, refused: 0, 'not its own': 0 };
    for (const what of some)
      test(what.join(' '), async (t) => {
        ends[await dieInItsWorld(t, node, what)]++;
      });
    test('all leave a bundle', (t) => {
      t.diagnostic(JSON.stringify(ends));
      assert.ok(ends.written > 0 && ends.refused === 0, JSON.stringify(ends));
    });
  });
