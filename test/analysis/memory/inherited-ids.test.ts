/** An object that took over the memory of a freed one has its id too: it did not grow. What kept its owner or its contents did. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeDigest, computeGrowth } from '../../../src/analysis/memory/growth/growth.ts';
import { Heap } from '../../../src/analysis/memory/heap.ts';
import { readHeapSnapshotSync } from '../../../src/formats/heapsnapshot/index.ts';
import { type SynthSnapshot, synthProgram } from '../../support/synth/synth-heapsnapshot.ts';

const listId = 5001;
const itemBytes = 100;

interface List {
  /** None: the list is directly below the global object. */
  owner: number | undefined;
  /** Ids of the items; V8's elements between them and the list are new each time. */
  items: number[];
}

function snapshotWith({ owner, items }: List): SynthSnapshot {
  const { snapshot, global } = synthProgram();
  const tree = owner === undefined ? global : snapshot.node({ name: 'Tree', id: owner });
  const list = snapshot.node({ name: 'Array', id: listId });
  const elements = snapshot.node({ type: 'array', name: '(object elements)', id: 9001 + items.length * 2 });
  if (tree !== global) snapshot.edge(global, tree, 'tree');
  snapshot.edge(tree, list, 'body').edge(list, elements, 'elements', 'internal');
  for (const [at, id] of items.entries())
    snapshot.edge(elements, snapshot.node({ name: 'Item', size: itemBytes, id }), String(at), 'internal');
  return snapshot;
}

function grownBetween(before: List, after: List): string[] {
  const [first, last] = [before, after].map(
    (list) => new Heap(readHeapSnapshotSync(snapshotWith(list).toBuffer())),
  ) as [Heap, Heap];
  const { grown, matchedBy } = computeGrowth([computeDigest(first, true), computeDigest(last)], last, 10);
  assert.equal(matchedBy, 'id');
  return grown.map(({ path }) => path);
}

const ids = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => from + 2 * at);

test('another owner and nothing of what it held: not the same object', () => {
  assert.deepEqual(
    grownBetween({ owner: 3001, items: ids(6001, 2) }, { owner: 3003, items: ids(7001, 50) }),
    [],
  );
});

test('the same owner, though everything in it is new', () => {
  assert.deepEqual(
    grownBetween({ owner: 3001, items: ids(6001, 2) }, { owner: 3001, items: ids(7001, 50) }),
    ['global.tree.body'],
  );
});

test('a lower owner, and it held nothing: the last link of a list', () => {
  // `global`, before the tree came between them.
  assert.deepEqual(grownBetween({ owner: undefined, items: [] }, { owner: 3003, items: ids(7001, 50) }), [
    'global.tree.body',
  ]);
});

test('another owner, with what it held before', () => {
  assert.deepEqual(
    grownBetween(
      { owner: 3001, items: ids(6001, 2) },
      { owner: 3003, items: [...ids(6001, 2), ...ids(7001, 50)] },
    ),
    ['global.tree.body'],
  );
});
