/**
 * Under a cgroup's memory limit, where the kernel really kills: a snapshot that the user demands may get the program killed,
 * one that the tier decides on never does, and the bundle contains what fits instead.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { nodesInTurn, testNodes } from '../../support/run/test-nodes.ts';
import { makeMemoryCgroup } from '../../support/system/memory-cgroup.ts';
import { preload, programs, temporaryFolder } from '../../support/victims/run-victim.ts';

const program = join(programs, 'heap/heap-to-dump.cjs');
const mb = 1024 ** 2;
/** Enough for the program and a census, but not for a snapshot of 400,000 objects. */
const limitBytes = 300 * mb;
const group = makeMemoryCgroup(limitBytes);
group?.remove();
const skip = group === undefined && 'no memory cgroup can be made here';

function dieIn(node: string, heap: string, dir: string, limit = limitBytes) {
  const cgroup = makeMemoryCgroup(limit)!;
  try {
    const [file, words] = cgroup.within(node, ['--require', preload, program, '12']);
    const env = { PATH: process.env['PATH'], AGENTDUMP_DIR: dir, AGENTDUMP_HEAP: heap };
    const { status, signal, stderr } = spawnSync(file, words, { env, encoding: 'utf8' });
    return { status, signal, stderr, oomKills: cgroup.oomKills() };
  } finally {
    cgroup.remove();
  }
}

for (const node of nodesInTurn)
  describe(node.name, { skip }, () => {
    test('the snapshot that does not fit is left out, and a sample of the objects is counted', async (t) => {
      const dir = join(temporaryFolder(t), 'dumps');
      const { status, signal, stderr, oomKills } = dieIn(node.path, 'auto', dir);
      assert.deepEqual({ status, signal, oomKills }, { status: 1, signal: null, oomKills: 0 }, stderr);
      const [found] = listBundles(dir);
      const bundle = openBundle(found!.path);
      t.after(() => bundle.close());
      const { memory, gaps, verdict } = await analyzeBundle(bundle);
      assert.equal(verdict?.kind, 'uncaught-exception');
      assert.ok(!gaps.some(({ part }) => part === 'heap.heapsnapshot.gz'));
      const shape = memory?.classes?.find(({ name }) => name === '{at, next}');
      assert.ok(shape && Math.abs(shape.count / 196_608 - 1) < 0.1, JSON.stringify(memory?.classes));
      const collection = memory?.suspects?.find(({ rule }) => rule === 'large-collection');
      assert.equal(
        collection?.sentence,
        'One Array had 196,608 entries, the last of them {at, next}. It was reached as globalThis.items.',
      );
    });

    test('with hardly any room left it dies its own death', (t) => {
      const dir = join(temporaryFolder(t), 'dumps');
      const { status, oomKills, stderr } = dieIn(node.path, 'auto', dir, 110 * mb);
      assert.deepEqual({ status, oomKills }, { status: 1, oomKills: 0 }, stderr);
      const bundle = openBundle(listBundles(dir)[0]!.path);
      t.after(() => bundle.close());
      assert.equal(bundle.openPartFile('heap.heapsnapshot.gz'), undefined);
      assert.ok(bundle.openPartFile('memory.json'));
    });
  });

test('the limit bites: a snapshot that was ordered is what gets the program killed', { skip }, (t) => {
  const dir = join(temporaryFolder(t), 'dumps');
  const { signal, oomKills } = dieIn(testNodes.at(-1)!.path, 'always', dir);
  assert.deepEqual({ signal, oomKills }, { signal: 'SIGKILL', oomKills: 1 });
});
