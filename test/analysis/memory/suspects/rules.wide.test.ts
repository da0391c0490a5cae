/** Each suspect rule on a program that has what the rule detects, and on one that has a little of everything. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openHeap } from '../../../../src/analysis/memory/heap.ts';
import { computeSuspects, rules } from '../../../../src/analysis/memory/suspects/suspects.ts';
import type { HeapSuspect } from '../../../../src/model/heap.ts';
import { nodeBinary } from '../../../support/heaps/real-heapsnapshots.ts';
import { majorsInTurn, usualNode } from '../../../support/run/test-nodes.ts';
import { temporaryFolder } from '../../../support/victims/run-victim.ts';

const program = fileURLToPath(
  new URL('../../../../fixtures/programs/heap/heap-suspects.mjs', import.meta.url),
);

async function suspectsOf(
  t: Parameters<typeof temporaryFolder>[0],
  way: string,
  major = usualNode.major,
): Promise<HeapSuspect[]> {
  const path = join(temporaryFolder(t), 'heap.heapsnapshot');
  execFileSync(nodeBinary(major), [program, path, way]);
  const heap = await openHeap(path);
  t.after(() => heap.snapshot.close());
  return computeSuspects(heap);
}

/** By way to retain too much: the rule that must report it, and how it describes the place. */
const ways: [way: string, rule: string, sentence: RegExp][] = [
  ['large-object', 'large-object', /kept\.index/],
  ['large-class', 'large-class', /class Ticket \(constructor at \S*heap-suspects\.mjs:\d+/],
  ['growing-collection', 'growing-collection', /array at .*kept\.history has 40,000 entries/],
  ['unbounded-cache', 'unbounded-cache', /kept\.responseCache \(a Map\) has 12,000 entries/],
  ['conversations', 'conversations', /kept\.session\.messages/],
  ['tool-results', 'tool-results', /2,50\d tool results of read_file retained by .*kept\.session\.messages/],
  ['documents', 'documents', /5,00\d documents .*kept\.store\.docs/],
  ['embeddings', 'embeddings', /1,000 vectors of 1,536 numbers each.*kept\.vectors/],
  [
    'listeners',
    'listeners',
    /kept\.bus has 600 listeners for "shutdown", such as the function at \S*heap-suspects\.mjs:\d+/,
  ],
  [
    'abort listeners',
    'listeners',
    /kept\.stop\S* has 600 listeners for "abort", such as the function at \S*heap-suspects\.mjs:\d+/,
  ],
  ['timers', 'timers', /1,5\d\d timers are waiting/],
  ['stream-buffers', 'stream-buffers', /waits in the buffers of .*kept\.stream/],
  ['pending-promises', 'pending-promises', /12,\d\d\d promises .*kept\.waiting/],
  ['closure-context', 'closure-context', /heap-suspects\.mjs:\d+.* archive/],
  ['external-memory', 'external-memory', /the memory of \d+ Buffers and typed arrays/],
  ['duplicate-strings', 'duplicate-strings', /You are a helpful agent/],
  ['module-versions', 'module-versions', /^600 modules imported from data: URLs keep .*loadCache/],
  [
    'module-versions by query',
    'module-versions',
    /^300 versions of the module file:\/\/\S*\.rules\.mjs keep .*loadCache/,
  ],
  ['registered-symbols', 'registered-symbols', /^4,\d\d\d symbols made by Symbol\.for keep/],
  ['detached-contexts', 'detached-contexts', /2\d contexts besides the program's own/],
];

for (const [way, rule, sentence] of ways)
  test(`${way}: said at once, with evidence and what would refute it`, async (t) => {
    const suspects = await suspectsOf(t, way);
    const found = suspects.find((suspect) => suspect.rule === rule);
    assert.ok(found, suspects.map(({ rule: other, title }) => `${other}: ${title}`).join('\n'));
    assert.match(found.sentence, sentence);
    assert.ok(
      found.evidence.length > 0 &&
        found.refutedBy !== undefined &&
        /^(certain|likely|possible)$/.test(found.confidence),
    );
    // Only the conversation of which these tool results are a part may come before it.
    assert.ok(suspects.indexOf(found) <= 1, suspects.map(({ title }) => title).join('\n'));
  });

test('every rule has a program that it speaks of', () => {
  assert.deepEqual(
    rules.map(({ name }) => name).filter((name) => !ways.some(([, rule]) => rule === name)),
    [],
  );
});

for (const major of majorsInTurn(20, 24))
  test(`Node ${major}: a little of everything is worth no word`, async (t) => {
    assert.deepEqual(
      (await suspectsOf(t, 'healthy', major)).map(({ rule, sentence }) => `${rule}: ${sentence}`),
      [],
    );
  });
