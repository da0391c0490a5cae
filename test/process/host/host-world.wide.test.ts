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

const ends = { written: 0, 'not its own': 0 };
let cases = 0;

for (const [at, node] of testNodes.entries())
  describe(node.name, { concurrency: 2 }, () => {
    const all = replaceable.flatMap((what) => ways.map((how) => [what, how] as const));
    const some = node === usualNode ? partInTurn(all, 3) : all.filter((_, index) => index % step === at);
    cases += some.length;
    for (const what of some)
      test(what.join(' '), async (t) => {
        const end = await dieInItsWorld(t, node, what);
        assert.ok(end !== 'refused', 'no bundle');
        ends[end]++;
      });
  });

// Not beside the cases, of which it would count those that have ended by then.
test('all have ended, and some left a bundle', (t) => {
  t.diagnostic(JSON.stringify(ends));
  assert.equal(ends.written + ends['not its own'], cases);
  assert.ok(ends.written > 0);
});
