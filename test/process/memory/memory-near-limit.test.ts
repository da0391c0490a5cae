/**
 * Memory near its limit: one light snapshot is written, and when the heap runs out of memory the account says what filled it.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import { sweepSessions } from '../../../src/supervise/finish/sweep.ts';
import { makeScrubber } from '../../../src/supervise/scrub/scrubber.ts';
import { onlyWide } from '../../support/run/test-nodes.ts';
import { accountOf } from '../../support/victims/run-account.ts';
import { findNodes, preload, programs, temporaryFolder } from '../../support/victims/run-victim.ts';

for (const node of findNodes())
  describe(node.name, () => {
    test('a heap that fills up leaves a snapshot, and its death names who filled it', {
      skip: onlyWide,
    }, async (t) => {
      const dir = join(temporaryFolder(t), 'dumps');
      const child = spawn(
        node.path,
        ['--max-old-space-size=60', '--require', preload, join(programs, 'heap/heap-fills.cjs')],
        {
          stdio: 'ignore',
          env: {
            PATH: process.env['PATH'],
            AGENTDUMP_DIR: dir,
            AGENTDUMP_MEMORY_PERCENT: '60',
            AGENTDUMP_HANG_MS: '600000',
          },
        },
      );
      t.after(() => child.kill('SIGKILL'));
      await once(child, 'exit');
      const swept = sweepSessions({ dir, witness: { foundBy: 'sweep' }, scrubber: makeScrubber({}) });
      // The bundle of the death, and that of the snapshot if it was not sealed yet when the heap ran out.
      assert.ok(
        swept.length > 0 && swept.every(({ result }) => result.outcome === 'sealed'),
        JSON.stringify(swept),
      );
      const bundles = listBundles(dir).map(({ path }) => path);
      assert.equal(bundles.length, 2, bundles.join(', '));
      for (const path of bundles) {
        const { memory, verdict } = await accountOf(path);
        const [suspect] = memory?.suspects ?? [];
        assert.match(suspect?.title ?? '', /^allocated in rememberResults \(.*heap-fills\.cjs:\d+:\d+\)$/);
        if (path.includes('-snapshot-')) {
          assert.equal(verdict?.kind, 'snapshot');
          assert.match(verdict?.title ?? '', /memory is at \d+ % of V8's heap limit/);
        }
      }
    });
  });
