/** Twelve programs that leak and eight that do not, each known by construction: does growth name the container, and no other? */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { computeDigest, computeGrowth, type HeapDigest } from '../../../src/analysis/memory/growth/growth.ts';
import { growthSuspects } from '../../../src/analysis/memory/growth/growth-suspects.ts';
import { openHeap } from '../../../src/analysis/memory/heap.ts';
import type { HeapSuspect } from '../../../src/model/heap.ts';
import { usualNode } from '../../support/test-nodes.ts';

const program = fileURLToPath(new URL('../../../fixtures/programs/heap-leaks.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'agentdump-leaks-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** By way: where it leaks, and of what class. */
const leaks: Record<string, [RegExp, string]> = {
  sessions: [/app\.store\.byId$/, 'Session'],
  history: [/\.history$/, '{id, url, body}'],
  listeners: [/app\.bus\._events\.config$/, 'Function'],
  intervals: [/timerListMap\[\*\]$/, 'Timeout'],
  'wrapped handler': [/global\.app$/, 'Function'],
  'pending promises': [/app\.waiting$/, 'Promise'],
  'linked list': [/app\.log$/, '{entry, older}'],
  dictionary: [/app\.pages\.byUrl$/, '{id, url, body}'],
  buffers: [/app\.uploads\.parts$/, 'Buffer'],
  'log lines': [/app\.logger\.transports\[\*\]\.lines$/, '(string)'],
  'metric labels': [/app\.metrics\.requests\.hashMap$/, '{labels}'],
  'async context': [/\.spans$/, '{id, url, body}'],
};
const healthy = [
  'LRU at its limit',
  'ring',
  'table',
  'pool',
  'timers',
  'server',
  'garbage',
  'expiring cache',
].map((name) => `healthy: ${name}`);

async function suspectsOf(way: string, megabytes: number): Promise<HeapSuspect[]> {
  const paths = ['a', 'b', 'c'].map((name) => join(folder, `${name}.heapsnapshot`));
  for (const path of paths) rmSync(path, { force: true });
  execFileSync(usualNode.path, [program, way, String(megabytes), ...paths]);
  const digests: HeapDigest[] = [];
  for (const path of paths) {
    const heap = await openHeap(path);
    digests.push(computeDigest(heap, digests.length === 0));
    if (digests.length === paths.length) return growthSuspects(computeGrowth(digests, heap, 30), 10);
  }
  return [];
}

for (const megabytes of [0, 20]) {
  for (const [way, [where, what]] of Object.entries(leaks))
    test(`${way}, beside ${megabytes} MB that stay: named first, with what is added`, async () => {
      const [first] = await suspectsOf(way, megabytes);
      assert.match(first?.path ?? '', where);
      assert.ok(first?.sentence.includes(` of class ${what} `), first?.sentence);
      assert.equal(first?.confidence, 'likely');
    });
  for (const way of healthy)
    test(`${way}, beside ${megabytes} MB that stay: no suspect`, async () => {
      assert.deepEqual(
        (await suspectsOf(way, megabytes)).map(({ sentence }) => sentence),
        [],
      );
    });
}
