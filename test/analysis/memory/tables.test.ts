/** What is visible of the entries of Maps and Sets, in tables that are written here by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heap } from '../../../src/analysis/memory/heap.ts';
import { collectionSize, visibleEntries } from '../../../src/analysis/memory/questions/tables.ts';
import { readHeapSnapshotSync } from '../../../src/formats/heapsnapshot/index.ts';
import { synthProgram } from '../../support/synth/synth-heapsnapshot.ts';

/** A Map of that many buckets, with an object at each of these slots of its table. */
function mapOf(buckets: number, slots: readonly number[]): { heap: Heap; map: number } {
  const { snapshot, global } = synthProgram();
  const map = snapshot.node({ name: 'Map' });
  const table = snapshot.node({ type: 'array', name: '', size: 16 + 8 * (3 + 7 * buckets) });
  snapshot.edge(global, map, 'map').edge(map, table, 'table', 'internal');
  for (const slot of slots) snapshot.edge(table, snapshot.node({ name: 'Entry' }), slot, 'hidden');
  return { heap: new Heap(readHeapSnapshotSync(snapshot.toBuffer())), map };
}

/** The slots of the keys of these entries. */
const keysOf = (buckets: number, entries: readonly number[]) => entries.map((at) => 3 + buckets + 3 * at);

test('entries count once, in whatever order their keys and values are', () => {
  const [first] = keysOf(8, [4]);
  const { heap, map } = mapOf(8, [first! + 1, ...keysOf(8, [9, 4, 7]), first! + 1]);
  assert.deepEqual(visibleEntries(heap, map, 3), { count: 3, first: 4 });
});

test('few entries far behind in a large table', () => {
  const buckets = 2 ** 16;
  const { heap, map } = mapOf(buckets, keysOf(buckets, [2 * buckets - 1, 100_000, 100_000]));
  assert.deepEqual(visibleEntries(heap, map, 3), { count: 2, first: 100_000 });
});

test('slots behind the end of a table are none, however far', () => {
  const { heap, map } = mapOf(2, [...keysOf(2, [0, 3, 4]), 2 ** 31, 2 ** 32 - 1]);
  assert.deepEqual(visibleEntries(heap, map, 3), { count: 2, first: 0 });
  assert.equal(collectionSize(heap, map).size, 2);
});
