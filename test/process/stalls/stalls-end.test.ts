/**
 * Programs that stall now and then, for about the watchdog's limit, and end by themselves: they must still do so, whenever
 * the watchdog inspects them. `AGENTDUMP_TEST_STALLS=200 node test/support/run/run-tests.mjs --all stalls-end` runs 200 on each
 * Node.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nodesInTurn } from '../../support/run/test-nodes.ts';
import { runVictim, temporaryFolder } from '../../support/victims/run-victim.ts';

const runs = Number(process.env['AGENTDUMP_TEST_STALLS'] ?? 5);

for (const node of nodesInTurn)
  describe(node.name, { concurrency: 2 }, () => {
    for (let seed = 0; seed < runs; seed++) {
      const limitMs = 50 + ((seed * 97) % 250);
      test(`${limitMs} ms, seed ${seed}`, async (t) => {
        const dir = temporaryFolder(t);
        const victim = {
          file: 'stalls/hang-ends-anytime.cjs',
          args: [String(limitMs), String(seed)],
          env: { AGENTDUMP_HANG_MS: String(limitMs) },
          bundles: [],
        };
        const { code, signal, stdout, stderr } = await runVictim(node, victim, { preload: true, dir });
        assert.deepEqual({ code, signal, stderr }, { code: 7, signal: null, stderr: '' });
        assert.match(stdout, /^ready\n(?:3 left\n)?(?:2 left\n)?1 left\n$/);
      });
    }
  });
