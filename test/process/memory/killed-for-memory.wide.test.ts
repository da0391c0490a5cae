/** The kernel kills an unsupervised program for the memory of its cgroup: the next sweep reports what happened. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { sweepSessions } from '../../../src/supervise/finish/sweep.ts';
import { makeScrubber } from '../../../src/supervise/scrub/scrubber.ts';
import { makeMemoryCgroup } from '../../support/system/memory-cgroup.ts';
import { findNodes, preload, programs, temporaryFolder } from '../../support/victims/run-victim.ts';

const limitBytes = 300 * 1024 ** 2;

for (const node of findNodes())
  test(`${node.name}: killed by the kernel, found by the next`, async (t) => {
    const cgroup = makeMemoryCgroup(limitBytes);
    if (!cgroup) return t.skip('no memory cgroup of our own can be made here');
    t.after(() => cgroup.remove());
    const dir = join(temporaryFolder(t), 'dumps');
    const words = ['--require', preload, join(programs, 'heap/cgroup-fills.mjs')];
    const [file, within] = cgroup.within(node.path, words);
    const { signal } = spawnSync(file, within, { env: { PATH: process.env['PATH'], AGENTDUMP_DIR: dir } });
    assert.deepEqual([signal, cgroup.oomKills()], ['SIGKILL', 1]);
    sweepSessions({ dir, witness: { foundBy: 'sweep' }, scrubber: makeScrubber({}) });
    const [died] = listBundles(dir).filter(({ verdictKind }) => verdictKind !== 'snapshot');
    assert.ok(died);
    const bundle = openBundle(died.path);
    const { verdict, memory } = await analyzeBundle(bundle);
    bundle.close();
    assert.equal(verdict?.kind, 'system-out-of-memory', JSON.stringify(verdict));
    assert.ok((memory?.history?.length ?? 0) > 1, 'memory has a history');
  });
