/** A heap that is filled by one synchronous loop: no timer runs, but the account still says what grew and what filled it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { sweepSessions } from '../../../src/supervise/finish/sweep.ts';
import { makeScrubber } from '../../../src/supervise/scrub/scrubber.ts';
import { findNodes, preload, programs, temporaryFolder } from '../../support/victims/run-victim.ts';

const ways: Record<string, RegExp> = {
  objects: /collectOrders|Order/,
  promises: /parsePage|heap-fills-at-once\.cjs:22:/,
};

for (const node of findNodes())
  describe(node.name, { concurrency: 2 }, () => {
    for (const [way, culprit] of Object.entries(ways))
      test(`filled by ${way}`, async (t) => {
        const dir = join(temporaryFolder(t), 'dumps');
        const victim = join(programs, 'heap/heap-fills-at-once.cjs');
        const child = spawn(node.path, ['--max-old-space-size=320', '--require', preload, victim, way], {
          stdio: 'ignore',
          env: { PATH: process.env['PATH'], AGENTDUMP_DIR: dir, AGENTDUMP_HEAP: 'off' },
        });
        t.after(() => child.kill('SIGKILL'));
        const [, signal] = await once(child, 'exit');
        assert.equal(signal, 'SIGABRT');
        sweepSessions({ dir, witness: { foundBy: 'sweep' }, scrubber: makeScrubber({}) });
        const path = listBundles(dir).find(({ verdictKind }) => verdictKind === 'heap-out-of-memory')?.path;
        assert.ok(
          path,
          listBundles(dir)
            .map(({ name }) => name)
            .join(', '),
        );
        const bundle = openBundle(path);
        const { memory, verdict } = await analyzeBundle(bundle);
        bundle.close();
        assert.equal(verdict?.kind, 'heap-out-of-memory');
        assert.match(verdict?.confidence ?? '', /^(?:certain|likely)$/);
        assert.match(memory?.suspects?.[0]?.title ?? '', culprit);
        const [first, last] = [memory?.history?.[0], memory?.history?.at(-1)];
        assert.ok((last?.heapUsedBytes ?? 0) > (first?.heapUsedBytes ?? 0), 'memory has a history');
      });
  });
