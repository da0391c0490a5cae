/**
 * Leaks that structures of Node hold (listeners, contexts, modules, channels) and healthy programs that use them. They were
 * written, with what a reader must be told, before the rules were tried on them.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { computeDigest, computeGrowth } from '../../../../src/analysis/memory/growth/growth.ts';
import { growthSuspects } from '../../../../src/analysis/memory/growth/growth-suspects.ts';
import { openHeap } from '../../../../src/analysis/memory/heap.ts';
import { computeSuspects } from '../../../../src/analysis/memory/suspects/suspects.ts';
import { nodesInTurn } from '../../../support/run/test-nodes.ts';

const program = fileURLToPath(
  new URL('../../../../fixtures/programs/heap/heap-leaks-in-node.cjs', import.meta.url),
);
const folder = mkdtempSync(join(tmpdir(), 'agentdump-leaks-in-node-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/**
 * By way: the path of the first suspect of two snapshots, and what the first suspect of the later one must say; undefined where
 * one snapshot does not tell it on every Node.
 */
const leaks: Record<string, [RegExp, RegExp | undefined]> = {
  'module reloaded': [/fs\.close$/, undefined],
  'vm contexts': [/app\.sandboxes$/, /45 JavaScript contexts.*app\.sandboxes/],
  'abort listeners': [/app\.shutdown\["#signal"\]/, /4,500 listeners for "abort".*app\.shutdown/],
  'errors kept': [/app\.failures$/, /app\.failures/],
  'exit handlers': [/process\._events\.exit$/, /4,500 listeners for "exit"/],
  'agents per request': [/app\.agents$/, /app\.agents/],
  'memo by key': [/app\.memo$/, /app\.memo/],
  'channel subscribers': [/app\.channel\._subscribers$/, /app\.channel\._subscribers/],
  'seen ids': [/app\.seen$/, /app\.seen/],
};
const healthy = ['LRU', 'ring', 'sessions', 'listeners', 'table'].map((name) => `healthy: ${name}`);

async function suspectsOf(node: string, way: string) {
  const [first, second] = ['a', 'b'].map((name) => join(folder, `${name}.heapsnapshot`)) as [string, string];
  execFileSync(node, [program, way, first, second]);
  const earlier = computeDigest(await openHeap(first), true);
  const heap = await openHeap(second);
  const digests = [earlier, computeDigest(heap, false)];
  return { byGrowth: growthSuspects(computeGrowth(digests, heap, 30), 10), atOnce: computeSuspects(heap) };
}

for (const { name, path: node } of nodesInTurn) {
  for (const [way, [grown, said]] of Object.entries(leaks))
    test(`${name}, ${way}: named first by two snapshots${said ? ', and by one' : ''}`, async () => {
      const { byGrowth, atOnce } = await suspectsOf(node, way);
      assert.match(byGrowth[0]?.path ?? '', grown);
      if (said) assert.match(atOnce[0]?.title ?? '', said);
    });

  for (const way of healthy)
    test(`${name}, ${way}: no suspect`, async () => {
      const { byGrowth, atOnce } = await suspectsOf(node, way);
      assert.deepEqual(
        [...byGrowth, ...atOnce].map(({ title }) => title),
        [],
      );
    });
}
