/** Everything of host-world.ts and more, replaced by what exits or throws, while the program works (in `.ci/run` a part). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { partInTurn, testNodes, usualNode } from '../../support/run/test-nodes.ts';
import { replaceable, replaceableInLife } from '../../support/victims/host-world.ts';
import { liveInItsWorld, works } from './host-world-runs.ts';

/** Each Node runs every `step`th case, the usual one every fourth. */
const step = Number(process.env['AGENTDUMP_TEST_WORLDS'] ?? 24);

const ends = { lives: 0, 'not its own': 0 };
let cases = 0;

for (const [at, node] of testNodes.entries())
  describe(node.name, { concurrency: 4 }, () => {
    const all = [...replaceable, ...replaceableInLife].flatMap((what, index) =>
      ['exits', 'throws'].map((how) => [what, how, works[index % works.length] as string] as const),
    );
    const some = partInTurn(
      all.filter((_, index) => index % (node === usualNode ? 4 : step) === at % 4),
      3,
    );
    cases += some.length;
    for (const what of some)
      test(what.join(' '), async (t) => {
        ends[await liveInItsWorld(t, node, what)]++;
      });
  });

// Beside the cases it would count those that have ended by then, and of one Node's few cases all may end before their work.
test('all have ended, and some live', () => {
  assert.equal(ends.lives + ends['not its own'], cases);
  assert.ok(ends.lives > 0);
});
