/**
 * Programs that leak and eight that do not, each known by construction: does growth name the container and no other, and does
 * the first suspect of a single snapshot name it too?
 */
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
import { computeSuspects } from '../../../src/analysis/memory/suspects/suspects.ts';
import type { HeapSuspect } from '../../../src/model/heap.ts';
import { partInTurn, usualNode } from '../../support/run/test-nodes.ts';

const program = fileURLToPath(new URL('../../../fixtures/programs/heap/heap-leaks.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'agentdump-leaks-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** By kind of leak: the container, and the class of its objects. */
const leaks: Record<string, [RegExp, string]> = {
  sessions: [/app\.store\.byId$/, 'Session'],
  history: [/\.history$/, '{id, url, body}'],
  listeners: [/app\.bus\._events\.config$/, 'Function'],
  intervals: [/timerListMap\[\*\]$/, 'Timeout'],
  'wrapped handler': [/global\.app\.handler$/, 'Function'],
  'pending promises': [/app\.waiting$/, 'Promise'],
  'linked list': [/app\.log\.newest$/, '{entry, older}'],
  dictionary: [/app\.pages\.byUrl$/, '{id, url, body}'],
  buffers: [/app\.uploads\.parts$/, 'Buffer'],
  'log lines': [/app\.logger\.transports\[\*\]\.lines$/, '(string)'],
  'metric labels': [/app\.metrics\.requests\.hashMap$/, '{labels}'],
  'async context': [/\.spans$/, '{id, url, body}'],
};
/**
 * Leaks that no single container dominates, or only a chain does. They are tested beside 20 MB of permanent data, which is
 * the harder case.
 */
const entangled: Record<string, [RegExp, string]> = {
  'list and timer': [/app\.jobs\.byName$/, '{name, request, timer}'],
  'two lists': [/app\.store\.(rejected|reasons)$/, '{id, url, body}'],
  ports: [/app\.channels\.open$/, 'MessagePort'],
  // The promise, or the function that would settle it: both hold everything that waits.
  'one gate': [/app\.(gate|open\{context\})$/, 'system / Context'],
  registry: [/app\.registry$/, '{close}'],
  'replaced thing': [/app\.peek\{context\}\.theThing$/, ''],
  'wasm memories': [/app\.modules\.memories$/, 'Memory'],
  'weak values': [/app\.users\[\*\]$/, '{id, url, body}'],
  'lists by user': [/app\.audit\.byUser\.get\(…\)$/, '{id, url, body}'],
  'list made anew': [/app\.state\.log$/, ''],
  'promise chain': [/app\.first$/, 'Promise'],
  'pool without release': [/app\.database\.lent$/, '{id, url, body}'],
  'memoized for ever': [/options\.cache$/, '{id, url, body}'],
};
/**
 * What the title of the first suspect in a single snapshot must match. For leaks without an entry there must be no suspect.
 */
const seenAtOnce: Record<string, RegExp> = {
  'list and timer': /byName|Timeout|timer/,
  'two lists': /app\.store\.(rejected|reasons)$/,
  ports: /app\.channels\.open$/,
  'one gate': /app\.(gate|open\{context\})$/,
  registry: /app\.registry$/,
  'replaced thing': /theThing$/,
  'wasm memories': /app\.modules\.memories$/,
  'lists by user': /app\.audit\.byUser/,
  'list made anew': /app\.state\.log$/,
  'promise chain': /app\.first$/,
  'memoized for ever': /options\.cache$/,
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

interface Found {
  byGrowth: HeapSuspect[];
  atOnce: HeapSuspect[];
}

async function suspectsOf(way: string, megabytes: number): Promise<Found> {
  const paths = ['a', 'b', 'c'].map((name) => join(folder, `${name}.heapsnapshot`));
  for (const path of paths) rmSync(path, { force: true });
  execFileSync(usualNode.path, [program, way, String(megabytes), ...paths]);
  const digests: HeapDigest[] = [];
  for (const path of paths) {
    const heap = await openHeap(path);
    digests.push(computeDigest(heap, digests.length === 0));
    if (digests.length === paths.length)
      return {
        byGrowth: growthSuspects(computeGrowth(digests, heap, 30), 10),
        atOnce: computeSuspects(heap),
      };
  }
  return { byGrowth: [], atOnce: [] };
}

const besides = [0, 20] as const;
const withEach = <Way>(ways: readonly Way[]) =>
  ways.flatMap((way) => besides.map((mb) => [way, mb] as const));

for (const [[way, [where, what]], megabytes] of partInTurn(withEach(Object.entries(leaks)), 3))
  test(`${way}, beside ${megabytes} MB that stay: named first, with what is added`, async () => {
    const { byGrowth } = await suspectsOf(way, megabytes);
    const [first] = byGrowth;
    assert.match(first?.path ?? '', where);
    assert.ok(first?.sentence.includes(` of class ${what} `), first?.sentence);
    assert.equal(first?.confidence, 'likely');
  });

for (const [way, megabytes] of partInTurn(withEach(healthy), 3))
  test(`${way}, beside ${megabytes} MB that stay: no suspect`, async () => {
    assert.deepEqual(
      (await suspectsOf(way, megabytes)).byGrowth.map(({ sentence }) => sentence),
      [],
    );
  });

for (const [way, [where, what]] of partInTurn(Object.entries(entangled), 3))
  test(`${way}, held by more than one thing or by a chain: named by growth, and by one look`, async () => {
    const { byGrowth, atOnce } = await suspectsOf(way, 20);
    const [first] = byGrowth;
    assert.match(first?.path ?? '', where);
    assert.ok(first?.sentence.includes(` of class ${what}`), first?.sentence);
    assert.match(
      atOnce[0]?.title ?? '',
      seenAtOnce[way] ?? /^$/,
      atOnce.map(({ title }) => title).join('\n'),
    );
  });
