/** Shapes that break naive analysis: long lists, deep trees, one node with very many edges, one very long string. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heap } from '../../../../src/analysis/memory/heap.ts';
import { pathText } from '../../../../src/analysis/memory/questions/paths.ts';
import { computeSuspects } from '../../../../src/analysis/memory/suspects/suspects.ts';
import { readHeapSnapshotSync } from '../../../../src/formats/heapsnapshot/index.ts';
import { snapshotOf } from '../../../support/synth/synth-large-heapsnapshot.ts';

function analyse(bytes: Buffer): Heap {
  const heap = new Heap(readHeapSnapshotSync(bytes));
  computeSuspects(heap);
  pathText(heap, heap.nodeCount - 1);
  return heap;
}

test('a list of 2,000,000 links', () => {
  const count = 2_000_000;
  const heap = analyse(snapshotOf(count, (node) => (node < count - 1 ? [node + 1] : [])));
  assert.equal(heap.retained[1], 16 * (count - 1));
  assert.equal(heap.tree.dominator[count - 1], count - 2);
  assert.equal(heap.distances[count - 1], count - 1);
});

test('a list whose 300,000 links share what they hold with the root: no quadratic walk', () => {
  const half = 300_000;
  // Link i has an edge to link i + 1 and then one to value i, which the root's table also holds.
  const heap = analyse(
    snapshotOf(2 * half + 2, (node) => {
      if (node === 0) return [1, 2 * half + 1];
      if (node === 2 * half + 1) return Array.from({ length: half }, (_, at) => half + 1 + at);
      if (node > half) return [];
      return node < half ? [node + 1, half + node] : [half + node];
    }),
  );
  for (const value of [half + 1, half + 1000, 2 * half]) assert.equal(heap.tree.dominator[value], 0);
  assert.equal(heap.tree.dominator[half], half - 1);
});

test('a tree 100,000 deep with a leaf on each level, and edges back up', () => {
  const depth = 100_000;
  const heap = analyse(
    snapshotOf(2 * depth, (node) => {
      if (node >= depth) return [Math.max(1, node - depth)];
      return node < depth - 1 ? [depth + node, node + 1] : [depth + node];
    }),
  );
  assert.equal(heap.tree.dominator[2 * depth - 1], depth - 1);
  assert.equal(heap.retained[0], 2 * depth * 16);
});

test('one node with 3,000,000 edges, many of them to the same', () => {
  const leaves = 1_000_000;
  const heap = analyse(
    snapshotOf(leaves + 2, (node) => {
      if (node === 0) return [1];
      if (node === 1) return Array.from({ length: 3 * leaves }, (_, at) => 2 + (at % leaves));
      return [];
    }),
  );
  assert.equal(heap.dominated.of(1).length, leaves);
});

test('a string of 100 MB, with escapes at every place, among others', () => {
  const long = 'x\\"y'.repeat(25_000_000);
  const bytes = snapshotOf(3, (node) => (node < 2 ? [node + 1] : []), ['', 'Link', 'next', 'SHORT', 'after']);
  const text = bytes.toString('latin1').replace('"SHORT"', JSON.stringify(long));
  const snapshot = readHeapSnapshotSync(Buffer.from(text, 'latin1'));
  assert.equal(snapshot.strings.count, 5);
  assert.equal(snapshot.strings.get(4), 'after');
  assert.equal(snapshot.strings.get(3), long);
});
