/**
 * A stall's bundle is sealed while it lasts. What became of the stall is recorded beside the bundle, and the seal remains
 * valid.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { readSequel } from '../../../src/bundle/read/sequel.ts';
import { sweepSessions } from '../../../src/supervise/finish/sweep.ts';
import { makeScrubber } from '../../../src/supervise/scrub/scrubber.ts';
import { nodesInTurn, onlyWide } from '../../support/run/test-nodes.ts';
import { spawnUntil } from '../../support/victims/run-until-bundle.ts';
import { preload, programs, runVictim, temporaryFolder } from '../../support/victims/run-victim.ts';

for (const node of nodesInTurn)
  describe(node.name, () => {
    test('a process that ends by itself in its stall says so', { skip: onlyWide }, async (t) => {
      const dir = temporaryFolder(t);
      const victim = { file: 'stalls/hang-recovers.cjs', env: { AGENTDUMP_HANG_MS: '1000' }, bundles: [] };
      await runVictim(node, victim, { preload: true, dir });
      assert.equal(listBundles(join(dir, 'dumps'))[0]?.sequel?.event, 'ended');
    });

    test('a loop that comes back says so beside its bundle', { skip: onlyWide }, async (t) => {
      const dir = temporaryFolder(t);
      const env = { AGENTDUMP_HANG_MS: '1000' };
      const victim = { file: 'stalls/hang-recovers.cjs', args: ['5000'], env, bundles: [] };
      await runVictim(node, victim, { preload: true, dir });
      const [listed] = listBundles(join(dir, 'dumps'));
      assert.equal(listed?.sequel?.event, 'recovered');
      assert.equal(readSequel(listed.path)?.event, 'recovered');
      const bundle = openBundle(listed.path);
      const { verdict } = await analyzeBundle(bundle);
      bundle.close();
      assert.ok(bundle.sealed);
      assert.match(
        verdict?.summary ?? '',
        /It recovered after [\d.]+ m?s in all, and the process continued\.$/,
      );
    });

    test('killed in its stall: the next that comes says so', async (t) => {
      const dir = join(temporaryFolder(t), 'dumps');
      const words = ['--require', preload, join(programs, 'stalls/hang-spin.cjs')];
      const env = { AGENTDUMP_HANG_MS: '400' };
      const { child, ended, bundle } = spawnUntil(node.path, words, dir, env, /-event-loop-hang-/);
      t.after(() => child.kill('SIGKILL'));
      const path = await bundle;
      assert.equal(readSequel(path), undefined);
      child.kill('SIGKILL');
      await ended;
      sweepSessions({ dir, witness: { foundBy: 'sweep' }, scrubber: makeScrubber({}) });
      assert.equal(readSequel(path)?.event, 'died');
      const hung = openBundle(path);
      const { verdict } = await analyzeBundle(hung);
      hung.close();
      assert.match(verdict?.summary ?? '', /It did not recover: the process died during the hang\./);
    });
  });
