/** An object that took over the memory of a freed one has its id too: it did not grow. What kept its owner or its contents did. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeDigest, computeGrowth } from '../../../../src/analysis/memory/growth/growth.ts';
import { InheritedIds, ownerIds } from '../../../../src/analysis/memory/growth/inherited-ids.ts';
import { Heap } from '../../../../src/analysis/memory/heap.ts';
import { readHeapSnapshotSync } from '../../../../src/formats/heapsnapshot/index.ts';
import { type SynthSnapshot, synthProgram } from '../../../support/synth/synth-heapsnapshot.ts';

const listId = 5001;
const itemBytes = 100;

interface List {
  /** None: the list is directly below the global object. */
  owner: number | undefined;
  /** Of the object that has the list's id. */
  type?: string;
  /** Ids of the items; V8's elements between them and the list are new each time. */
  items: number[];
}

function snapshotWith({ owner, type = 'object', items }: List): SynthSnapshot {
  const { snapshot, global } = synthProgram();
  const tree = owner === undefined ? global : snapshot.node({ name: 'Tree', id: owner });
  const list = snapshot.node({ type, name: 'Array', id: listId });
  const elements = snapshot.node({ type: 'array', name: '(object elements)', id: 9001 + items.length * 2 });
  if (tree !== global) snapshot.edge(global, tree, 'tree');
  snapshot.edge(tree, list, 'body').edge(list, elements, 'elements', 'internal');
  // What stays, so that one object of another type does not make it another process.
  for (let at = 0; at < 200; at++)
    snapshot.edge(global, snapshot.node({ name: 'Route', id: 1001 + 2 * at }), `route${at}`);
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

test('another owner, and it held nothing: the same list in a new state, unless it was of another type', () => {
  const after = { owner: 3003, items: ids(7001, 50) };
  assert.deepEqual(grownBetween({ owner: 3001, items: [] }, after), ['global.tree.body']);
  assert.deepEqual(grownBetween({ owner: 3001, type: 'closure', items: [] }, after), []);
});

/** Each below the one before; returns their ordinals. */
function chainOf(length: number, type: string): { heap: Heap; chain: Uint32Array } {
  const { snapshot, global } = synthProgram();
  const chain = new Uint32Array(length);
  for (let at = 0; at < length; at++) {
    chain[at] = snapshot.node({ type, name: 'Link' });
    snapshot.edge(at ? chain[at - 1]! : global, chain[at]!, 'next');
  }
  return { heap: new Heap(readHeapSnapshotSync(snapshot.toBuffer())), chain };
}

test('a chain of internal nodes is climbed once for all of them', () => {
  const { heap, chain } = chainOf(2000, 'hidden');
  let steps = 0;
  const dominator = new Proxy(heap.tree.dominator, {
    get(column, key) {
      steps++;
      return Reflect.get(column, key, column);
    },
  });
  Object.defineProperty(heap, 'tree', { value: { dominator } });
  const owners = ownerIds(heap, chain.toReversed());
  const { id } = heap.snapshot.nodes;
  assert.deepEqual(new Set(owners), new Set([id.get(dominator[chain[0]!]!)]));
  assert.ok(steps < 10 * chain.length, `${steps} steps`);
});

test('the ways up from what has another owner are climbed with a limit for all of them together', () => {
  const { heap, chain } = chainOf(5000, 'object');
  const inherited = new InheritedIds(heap, new Uint32Array(heap.nodeCount).fill(999_999));
  const last = chain.at(-1)!;
  assert.equal(inherited.has(last), true);
  for (let asked = 0; asked < 2100; asked++) inherited.has(last);
  assert.equal(inherited.has(last), false, 'not known, so the same object');
});
