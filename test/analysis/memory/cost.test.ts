/**
 * How much work heap queries do: counted, so that the machine's speed does not matter. Also checks results that are computed
 * in a faster way.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowsById, sortedById } from '../../../src/analysis/memory/growth/rows-by-id.ts';
import { Heap, openHeap } from '../../../src/analysis/memory/heap.ts';
import { GraphKernel } from '../../../src/analysis/memory/kernel/graph-kernel.ts';
import { computeDuplicateStrings } from '../../../src/analysis/memory/questions/duplicate-strings.ts';
import { findChild } from '../../../src/analysis/memory/questions/node-rows.ts';
import { generalPath } from '../../../src/analysis/memory/questions/paths.ts';
import { isCrowd } from '../../../src/analysis/memory/suspects/crowds.ts';
import { objectsWith } from '../../../src/analysis/memory/suspects/marked-objects.ts';
import {
  EdgeType,
  NodeType,
  RetainerIndex,
  readHeapSnapshotSync,
} from '../../../src/formats/heapsnapshot/index.ts';
import { realHeapSnapshot } from '../../support/heaps/real-heapsnapshots.ts';
import { SynthSnapshot, synthProgram } from '../../support/synth/synth-heapsnapshot.ts';

const heapOf = (synth: SynthSnapshot): Heap => new Heap(readHeapSnapshotSync(synth.toBuffer()));

test('what all objects refer to is looked through once, not for each path that leads through it', () => {
  const { snapshot, global } = synthProgram();
  const owner = snapshot.node({ name: 'Owner', size: 16 });
  snapshot.edge(global, owner, 'owner');
  const parts = Array.from({ length: 2000 }, (_, at) => {
    const part = snapshot.node({ name: 'Part', size: 16 });
    snapshot.edge(owner, part, `p${at}`).edge(part, owner, 'owner');
    return part;
  });
  const heap = heapOf(snapshot);
  const { retainers } = heap;
  const sourceOf = retainers.sourceOf.bind(retainers);
  let looks = 0;
  retainers.sourceOf = (edge) => {
    looks++;
    return sourceOf(edge);
  };
  for (const part of parts.slice(0, 100)) assert.match(generalPath(heap, part), /^global\.owner/);
  assert.ok(looks < 2000 + 100 * 20, `${looks} retainers were looked at for 100 paths`);
});

test('lists in a container are looked through without work for each node of the heap', () => {
  const { snapshot, global } = synthProgram();
  const topics = snapshot.node({ name: 'Array', size: 64 });
  const copy = snapshot.node({ name: 'Array', size: 64 });
  snapshot.edge(global, topics, 'topics').edge(global, copy, 'copy');
  for (let at = 0; at < 300; at++) {
    const list = snapshot.node({ name: 'Array', size: 32 });
    snapshot.edge(topics, list, at).edge(copy, list, at);
    for (const entry of [0, 1, 2, 3]) snapshot.edge(list, snapshot.node({ name: 'Message' }), entry);
  }
  const heap = heapOf(snapshot);
  const { nodeCount } = heap;
  let passes = 0;
  Object.defineProperty(heap, 'nodeCount', {
    get: () => {
      passes++;
      return nodeCount;
    },
  });
  assert.ok(isCrowd(heap, topics));
  assert.ok(isCrowd(heap, copy), 'the same lists, with nothing left over from the first time');
  assert.ok(passes < 10, `${passes} columns as long as the heap`);
});

test('rows come by their ids, and of equal ids the first stays the first', () => {
  let seed = 7;
  const random = (): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return seed;
  };
  for (const limit of [1, 50, 3000, 2 ** 22, 2 ** 32]) {
    const ids = Uint32Array.from({ length: 5000 }, () => random() % limit);
    const rows = ids.map((_, row) => row);
    const sorted = sortedById({ ids: ids.slice(), rows: rows.slice() });
    const expected = [...rows].sort((a, b) => ids[a]! - ids[b]! || a - b);
    assert.deepEqual([...sorted.rows], expected);
    assert.deepEqual(
      [...sorted.ids],
      expected.map((row) => ids[row]),
    );
  }
  assert.equal(sortedById({ ids: new Uint32Array(0), rows: new Uint32Array(0) }).rows.length, 0);
});

test('strings of one text and several sizes are copies by their size', () => {
  const { snapshot, global } = synthProgram();
  const texts: [string, number][] = [
    ['a', 24],
    ['b', 40],
    ['a', 32],
    ['a', 24],
    ['b', 40],
    ['b', 40],
    ['a', 32],
    ['c', 4000],
    ['a', 48],
  ];
  for (const [at, [name, size]] of texts.entries())
    snapshot.edge(global, snapshot.node({ name, size, type: 'string' }), `s${at}`);
  const sums = computeDuplicateStrings(heapOf(snapshot), 10);
  assert.deepEqual(
    sums.rows.map(({ value, count, wastedBytes }) => [value, count, wastedBytes]),
    [
      ['b', 3, 80],
      ['a', 2, 32],
      ['a', 2, 24],
    ],
  );
  assert.equal(sums.wastedBytes, 136);
});

test('nodes are sorted by id with a table if the ids are dense, and otherwise as numbers', () => {
  const idsOf = (spread: number): number[] =>
    Array.from({ length: 3000 }, (_, at) => 1 + spread * ((at * 7919) % 3000));
  for (const spread of [2, 200_000]) {
    const snapshot = new SynthSnapshot();
    const ids = idsOf(spread);
    for (const id of ids) snapshot.node({ name: 'Part', size: 16, id });
    const sorted = rowsById(readHeapSnapshotSync(snapshot.toBuffer()));
    assert.deepEqual(
      [...sorted.ids],
      ids.toSorted((a, b) => a - b),
      `a spread of ${spread}`,
    );
    assert.deepEqual(
      [...sorted.rows],
      [...sorted.ids].map((id) => ids.indexOf(id)),
    );
  }
});

test('a few ids far above the others, as those of C++ objects are, come last', () => {
  const near = Array.from({ length: 3000 }, (_, at) => 1 + 2 * ((at * 7919) % 3000));
  const far = Array.from({ length: 50 }, (_, at) => 700_000_000 + 1000 * ((at * 7) % 50));
  const ids = near.flatMap((id, at) => (at % 60 === 0 ? [id, far[at / 60]!] : [id]));
  const snapshot = new SynthSnapshot();
  for (const id of ids) snapshot.node({ name: 'Part', size: 16, id });
  const sorted = rowsById(readHeapSnapshotSync(snapshot.toBuffer()));
  assert.deepEqual(
    [...sorted.ids],
    ids.toSorted((a, b) => a - b),
  );
  assert.deepEqual(
    [...sorted.rows],
    [...sorted.ids].map((id) => ids.indexOf(id)),
  );
});

test('nodes are sorted by id without the table if there is no memory for it', () => {
  const snapshot = new SynthSnapshot();
  const ids = Array.from({ length: 3000 }, (_, at) => 1 + 2 * ((at * 7919) % 3000));
  for (const id of ids) snapshot.node({ name: 'Part', size: 16, id });
  const read = readHeapSnapshotSync(snapshot.toBuffer());
  const all = globalThis.Uint32Array;
  globalThis.Uint32Array = class extends all {
    constructor(length: never) {
      if (length > ids.length) throw new RangeError('Array buffer allocation failed');
      super(length);
    }
  } as typeof all;
  try {
    assert.deepEqual(
      [...rowsById(read).ids],
      ids.toSorted((a, b) => a - b),
    );
  } finally {
    globalThis.Uint32Array = all;
  }
});

test('references by target, and objects by the names of their properties, are the same in the kernel', async () => {
  const heap = await openHeap(realHeapSnapshot(20));
  assert.ok(GraphKernel.of(heap.snapshot));
  const { nodes, edges } = heap.snapshot;
  const { first, edges: rows } = new RetainerIndex(nodes, edges);
  assert.deepEqual(heap.retainers.first, first.subarray(0, nodes.count + 1));
  assert.deepEqual(heap.retainers.edges, rows);
  const emitters = Array.from({ length: nodes.count }, (_, node) => node).filter(
    (node) =>
      nodes.type[node] === NodeType.object && findChild(heap, node, '_events', EdgeType.property) >= 0,
  );
  assert.ok(emitters.length > 0);
  assert.deepEqual(objectsWith(heap, '_events'), emitters);
});
