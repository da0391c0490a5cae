/** No frame of the preload is on the stack of a call that fails, nor of a listener of a channel. Listeners of received bytes have one. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nodesInTurn } from '../../support/run/test-nodes.ts';
import { runVictim, temporaryFolder } from '../../support/victims/run-victim.ts';

const victim = { file: 'host/stacks.cjs', bundles: [] };

for (const node of nodesInTurn)
  describe(node.name, () => {
    test('calls that fail, and channels, while agentdump records', async (t) => {
      const outcome = await runVictim(node, victim, { preload: true, dir: temporaryFolder(t) });
      assert.equal(outcome.stdout, 'all looked at\n', outcome.stderr);
      assert.equal(outcome.code, 0);
    });
  });
