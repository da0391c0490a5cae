/**
 * Objects counted by constructor, exactly: programs keep a known number of objects of some classes among much garbage of
 * other kinds, and die at a moment that a seed chooses. Every class must have the count that the program created, however the
 * heap was collected: no object is missed behind one whose size is unknown, and no stale object is counted.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { accountForCore } from '../../../../src/analysis/core/core-account.ts';
import { type CoreDump, openCoreDump } from '../../../../src/analysis/core/core-dump.ts';
import { surveyHeap } from '../../../../src/analysis/core/javascript/heap-survey.ts';
import { openV8 } from '../../../../src/analysis/core/javascript/v8-runtime.ts';
import type { V8Heap } from '../../../../src/formats/v8/heap/heap.ts';
import { findHeapPages, walkPage } from '../../../../src/formats/v8/heap/heap-pages.ts';
import { type ClassCount, Histogram } from '../../../../src/formats/v8/heap/histogram.ts';
import { ObjectCounter } from '../../../../src/formats/v8/heap/object-counter.ts';
import { makeCore, noCores, nodes, victims } from '../../../support/cores/core-victims.ts';
import { sampleOf } from '../../../support/run/test-nodes.ts';

/** Seed, objects, flags. */
const programs: [number, number, string[]][] = [
  [1, 300, []],
  [2, 4000, []],
  [3, 20_000, []],
  [4, 4000, ['--max-semi-space-size=1']],
  [5, 4000, ['--min-semi-space-size=16']],
  [6, 2000, ['--gc-interval=500']],
  [7, 2000, ['--stress-compaction']],
  [8, 4000, ['--always-sparkplug', '--no-concurrent-sweeping']],
];

const pagesOf = (dump: CoreDump, heap: V8Heap) =>
  findHeapPages(
    heap,
    dump.core.segments
      .filter((s) => s.fileSize > 0 && s.writable)
      .map((s) => [s.start, s.start + s.fileSize] as const),
  );

/** Counts every object individually. */
function countedSlowly(dump: CoreDump, heap: V8Heap): ClassCount[] {
  const histogram = new Histogram(heap);
  for (const page of pagesOf(dump, heap)) walkPage(heap, page, (found) => histogram.add(found));
  return sorted(histogram);
}

function countedFast(dump: CoreDump, heap: V8Heap): ClassCount[] {
  const histogram = new Histogram(heap);
  const counter = new ObjectCounter(heap, () => false);
  let visited = 0;
  for (const page of pagesOf(dump, heap))
    walkPage(
      heap,
      page,
      (found) => {
        visited++;
        histogram.add(found);
      },
      counter,
    );
  let counted = 0;
  for (const found of counter.maps()) {
    counted += found.count;
    histogram.addCounted(found);
  }
  assert.ok(visited < counted / 4, `${visited} of ${counted} were looked at one by one`);
  return sorted(histogram);
}

const sorted = (histogram: Histogram) =>
  histogram.classes().sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));

for (const node of nodes)
  suite(`Node ${node.major}`, { skip: noCores }, () => {
    for (const [seed, objects, flags] of sampleOf(programs, 4))
      test(`seed ${seed}, ${objects} objects ${flags.join(' ')}`, () => {
        const death = makeCore(node.path, [...flags, join(victims, 'heap.cjs'), `${seed}`, `${objects}`]);
        try {
          const dump = openCoreDump(death.core);
          const v8 = openV8(dump, []);
          assert.ok(v8);
          const counted = new Map(surveyHeap(dump, v8, []).classes.map((c) => [c.name, c.count]));
          assert.deepEqual(countedSlowly(dump, v8.heap), countedFast(dump, v8.heap));
          dump.close();
          const made = JSON.parse(death.stdout) as Record<string, number>;
          assert.ok(Object.keys(made).length === 5);
          for (const [name, count] of Object.entries(made)) assert.equal(counted.get(name), count, name);
        } finally {
          death.remove();
        }
      });

    for (const flags of sampleOf([[], ['--no-parallel-scavenge']], 2))
      test(`in the middle of a collection ${flags.join('')}: what was moved once, and what was not yet`, async () => {
        const death = makeCore(node.path, [...flags, join(victims, 'mid-collection.cjs'), '5000']);
        try {
          const { memory, suspended, gaps, threads } = await accountForCore(death.core);
          const names = threads?.flatMap(({ frames }) => frames.map((frame) => frame.function));
          assert.ok(names?.some((name) => name?.includes('Scavenger::Process')));
          assert.equal(memory?.classes?.find(({ name }) => name === 'Young')?.count, 5000);
          const godot = suspended?.find(({ frames }) => frames[0]?.function === 'waitForGodot');
          assert.equal(godot?.count, 1);
          assert.equal(godot?.frames[0]?.locals?.find(({ name }) => name === 'what')?.value, '"tomorrow"');
          assert.match(gaps.map(({ reason }) => reason).join(), /a collection of garbage was moving objects/);
        } finally {
          death.remove();
        }
      });
  });
