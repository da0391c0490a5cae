/**
 * What is computed of the first of two heaps: the same comparison as with everything computed at once, and no paths of the first
 * one within a process.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareHeaps } from '../../../../src/analysis/memory/growth/compare-heaps.ts';
import { computeDigest, computeGrowth } from '../../../../src/analysis/memory/growth/growth.ts';
import { Heap } from '../../../../src/analysis/memory/heap.ts';
import { readHeapSnapshotSync } from '../../../../src/formats/heapsnapshot/index.ts';
import { synthProgram } from '../../../support/synth/synth-heapsnapshot.ts';

/** A list with so many entries of this type. */
function heapBytes(entries: number, type: 'object' | 'closure'): Buffer {
  const { snapshot, global } = synthProgram();
  const list = snapshot.node({ name: 'Array', size: 64 });
  snapshot.edge(global, list, 'list');
  for (let at = 0; at < entries; at++) {
    const row = snapshot.node({ type, name: 'row', size: 400 });
    snapshot.edge(list, row, at);
  }
  return snapshot.toBuffer();
}

async function compare(files: readonly Buffer[], opensAgain: boolean) {
  const opened: number[] = [];
  const heaps: Heap[] = [];
  const open = async (at: number) => {
    opened.push(at);
    const heap = new Heap(readHeapSnapshotSync(files[at]!));
    heaps.push(heap);
    return { heap, close: () => undefined };
  };
  const growth = await compareHeaps({ count: files.length, limit: 10, opensAgain, open });
  return { opened, heaps, growth };
}

test('within a process each heap is opened once, and no paths are computed of the first', async () => {
  const { opened, heaps, growth } = await compare([heapBytes(100, 'object'), heapBytes(300, 'object')], true);
  assert.deepEqual(opened, [0, 1]);
  assert.equal(growth.matchedBy, 'id');
  assert.match(growth.grown[0]!.path, /list/);
  assert.ok(!Object.hasOwn(heaps[0]!, 'retainers'));
});

for (const opensAgain of [true, false])
  test(`two processes are compared by place, ${opensAgain ? 'after the first one is opened again' : 'if each can be opened once'}`, async () => {
    const files = (['object', 'closure'] as const).map((type, at) => heapBytes(100 + 200 * at, type));
    const [first, last] = files.map((file) => new Heap(readHeapSnapshotSync(file)));
    const expected = computeGrowth([computeDigest(first!, true), computeDigest(last!)], last!, 10);
    assert.equal(expected.matchedBy, 'place');
    assert.match(expected.grown[0]!.path, /list/);
    const { opened, growth } = await compare(files, opensAgain);
    assert.deepEqual(growth, expected);
    assert.deepEqual(opened, opensAgain ? [0, 1, 0, 1] : [0, 1]);
  });
