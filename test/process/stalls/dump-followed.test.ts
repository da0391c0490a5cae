/**
 * A dump of a program whose promises are followed, when it takes so long that a part of it is cut. Node pushes an id before each
 * reaction of a promise then, and pops it after it; of a reaction that a time limit ends it pops none, and aborts the process in
 * a later callback. So nothing of ours that runs reactions may be cut.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { nodesInTurn } from '../../support/run/test-nodes.ts';
import { runVictim, temporaryFolder } from '../../support/victims/run-victim.ts';

const ways = {
  storage: 'followed by an AsyncLocalStorage',
  hook: 'followed by an async hook',
  limit: 'called by code with a time limit of the program, where reactions are not run at all',
};

for (const node of nodesInTurn)
  describe(node.name, () => {
    for (const [way, name] of Object.entries(ways))
      test(name, async (t) => {
        const dir = temporaryFolder(t);
        const victim = {
          file: 'stalls/dump-with-costly-stacks.cjs',
          args: [way],
          env: { AGENTDUMP_HEAP: 'off' },
          bundles: [],
        };
        const { code, signal, stdout, stderr } = await runVictim(node, victim, { preload: true, dir });
        assert.deepEqual({ code, signal, stderr }, { code: 7, signal: null, stderr: '' });
        assert.equal(stdout, '600 wait\n');
        const [listed, ...others] = listBundles(join(dir, 'dumps'));
        assert.ok(listed && others.length === 0);
        const bundle = openBundle(listed.path);
        const text = bundle.readPart('suspended.json')?.toString() ?? '';
        const gaps = bundle.gaps.filter(({ part }) => part === 'suspended.json').map(({ reason }) => reason);
        bundle.close();
        if (way === 'limit') assert.match(gaps.join(), /^code run by node:vm led here/);
        // As many as there is time for, and never none of it.
        else assert.match(gaps.join() + text, /^\d+ of \d+ promises were looked at|acquire/);
      });
  });
