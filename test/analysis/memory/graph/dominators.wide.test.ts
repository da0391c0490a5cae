/**
 * Dominators and retained sizes: compared with the definition on random graphs, and with DevTools on each Node's own
 * snapshot.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { computeDominators } from '../../../../src/analysis/memory/graph/dominators.ts';
import { computeRetainedSizes } from '../../../../src/analysis/memory/graph/retained-sizes.ts';
import { computeShallowSizes } from '../../../../src/analysis/memory/graph/shallow-sizes.ts';
import {
  type HeapSnapshot,
  readHeapSnapshot,
  readHeapSnapshotSync,
} from '../../../../src/formats/heapsnapshot/index.ts';
import { type DevToolsSnapshot, loadWithDevTools } from '../../../oracles/devtools.ts';
import { inEachWay } from '../../../support/heaps/each-graph-walk.ts';
import { nodeMajors, realHeapSnapshot } from '../../../support/heaps/real-heapsnapshots.ts';
import { fuzzInTurn } from '../../../support/run/fuzz-runs.ts';
import { SynthSnapshot, synthProgram } from '../../../support/synth/synth-heapsnapshot.ts';

/** Asserts that every node's dominator, self size and retained size equal those of DevTools' own code. */
function assertSameAsDevTools(snapshot: HeapSnapshot, theirs: DevToolsSnapshot): void {
  const tree = computeDominators(snapshot);
  const sizes = computeShallowSizes(snapshot);
  const retained = computeRetainedSizes(tree, sizes);
  assert.equal(snapshot.nodes.count, theirs.nodeCount);
  for (let node = 0; node < snapshot.nodes.count; node++) {
    const where = `node ${node}, ${snapshot.nodeTypeName(node)} ${snapshot.nodeName(node)}`;
    if (tree.dominator[node] !== theirs.dominatorsTree[node])
      assert.fail(`${where}: dominator ${tree.dominator[node]} is not ${theirs.dominatorsTree[node]}`);
    if (sizes.get(node) !== theirs.createNode(node * theirs.nodeFieldCount).selfSize())
      assert.fail(`${where}: self size ${sizes.get(node)} is not DevTools'`);
    if (retained[node] !== theirs.retainedSizes[node])
      assert.fail(`${where}: retained size ${retained[node]} is not ${theirs.retainedSizes[node]}`);
  }
}

for (const major of nodeMajors)
  test(`Node ${major}: dominators and retained sizes are DevTools', node by node`, async () => {
    const path = realHeapSnapshot(major);
    const theirs = await loadWithDevTools(path);
    await inEachWay(async (options) => assertSameAsDevTools(await readHeapSnapshot(path, options), theirs));
  });

/** A graph with all kinds of edges and nodes that the rules treat differently, and a few WeakMap entries. */
interface Graph {
  types: string[];
  /** By node: the type of the root's edge to it, or null. */
  roots: (string | null)[];
  edges: { from: number; to: number; type: string }[];
  entries: { table: number; key: number; value: number }[];
}

const anyGraph: fc.Arbitrary<Graph> = fc.record({
  types: fc.array(
    fc.constantFrom('object', 'hidden', 'array', 'native', 'synthetic', 'string', 'closure', 'code'),
    { minLength: 1, maxLength: 24 },
  ),
  roots: fc.array(fc.constantFrom(null, null, 'element', 'shortcut', 'weak', 'internal'), {
    minLength: 24,
    maxLength: 24,
  }),
  edges: fc.array(
    fc.record({
      from: fc.nat(30),
      to: fc.nat(30),
      type: fc.constantFrom(
        'property',
        'property',
        'internal',
        'element',
        'hidden',
        'weak',
        'shortcut',
        'context',
      ),
    }),
    { maxLength: 90 },
  ),
  entries: fc.array(fc.record({ table: fc.nat(30), key: fc.nat(30), value: fc.nat(30) }), { maxLength: 6 }),
});

/** @param first The first of the nodes that may have edges. */
function build({ types, roots, edges, entries }: Graph, first: number): SynthSnapshot {
  const { snapshot } = synthProgram();
  for (const [at, type] of types.entries()) snapshot.node({ type, name: `${type} ${at}`, size: 8 + at });
  for (const [at, type] of roots.slice(0, types.length).entries())
    if (type) snapshot.edge(0, at + 3, type === 'element' ? at : `root ${at}`, type);
  const count = snapshot.nodes.length;
  /** No edge leads to the root, and at most one from it to each node: DevTools fails on anything else. */
  const target = (number: number): number => first + (number % (count - first));
  for (const { from, to, type } of edges) {
    const name = type === 'element' || type === 'hidden' ? to : `e${to}`;
    snapshot.edge(target(from), target(to), name, type);
  }
  for (const [at, entry] of entries.entries()) {
    const [table, key, value] = [target(entry.table), target(entry.key), target(entry.value)];
    const id = (node: number) => `${snapshot.nodes[node]!.name} @${snapshot.nodes[node]!.id}`;
    const pair = ` / part of key (${id(key)}) -> value (${id(value)}) pair in WeakMap (table @${snapshot.nodes[table]!.id})`;
    snapshot
      .edge(table, value, `${2 * at}${pair}`, 'internal')
      .edge(key, value, `${2 * at + 1}${pair}`, 'internal');
  }
  return snapshot;
}

for (const [where, graphs, first] of [
  ['from many roots', anyGraph, 1],
  // As in Node: the whole program is below its global object, and no edge leads to the GC roots.
  ['from one root', anyGraph.map((graph) => ({ ...graph, roots: [] })), 2],
] as const)
  test(`random graphs ${where} with every kind of edge: the same as DevTools`, async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'agentdump-heap-')), 'random.heapsnapshot');
    await fc.assert(
      fc.asyncProperty(graphs, async (graph) => {
        const bytes = build(graph, first).toBuffer();
        writeFileSync(path, bytes);
        const theirs = await loadWithDevTools(path);
        await inEachWay((options) => assertSameAsDevTools(readHeapSnapshotSync(bytes, options), theirs));
      }),
      fuzzInTurn(400),
    );
  });

test('a second way into the program, found when all of it was visited: the same as DevTools', async () => {
  const { snapshot, global, gcRoots } = synthProgram();
  const [first, shared, held, between, last] = Array.from({ length: 5 }, (_, at) =>
    snapshot.node({ name: `Node ${at}`, size: 8 }),
  ) as [number, number, number, number, number];
  // Two paths of the program to `shared`; the second is below what its global object holds.
  snapshot.edge(global, first, 'first').edge(first, shared, 'shared');
  snapshot.edge(global, held, 'held').edge(held, between, 'between').edge(between, last, 'last');
  snapshot.edge(last, shared, 'shared').edge(last, held, 'back');
  // The value of an entry whose key only V8 holds: it hangs off the root, and leads into the second path.
  const [table, key, value] = ['Table', 'Key', 'Value'].map((name) => snapshot.node({ name, size: 8 })) as [
    number,
    number,
    number,
  ];
  const id = (node: number): string => `${snapshot.nodes[node]!.name} @${snapshot.nodes[node]!.id}`;
  const pair = ` / part of key (${id(key)}) -> value (${id(value)}) pair in WeakMap (table @${snapshot.nodes[table]!.id})`;
  snapshot.edge(global, table, 'table').edge(table, value, `1${pair}`, 'internal');
  snapshot.edge(gcRoots, key, 3).edge(key, value, `2${pair}`, 'internal').edge(value, between, 'between');
  const path = join(mkdtempSync(join(tmpdir(), 'agentdump-heap-')), 'second.heapsnapshot');
  writeFileSync(path, snapshot.toBuffer());
  const theirs = await loadWithDevTools(path);
  await inEachWay(async (options) => {
    const read = await readHeapSnapshot(path, options);
    assertSameAsDevTools(read, theirs);
    assert.equal(computeDominators(read).dominator[shared], read.header.rootOrdinal);
  });
});

/** The definition itself: d dominates n if n can't be reached without d. */
function dominatorsByDefinition(edges: [number, number][], count: number): number[] {
  const reachedWithout = (removed: number): boolean[] => {
    const seen = Array.from({ length: count }, () => false);
    const list = removed === 0 ? [] : [0];
    for (const node of list) {
      if (seen[node]) continue;
      seen[node] = true;
      for (const [from, to] of edges) if (from === node && to !== removed && !seen[to]) list.push(to);
    }
    return seen;
  };
  const without = Array.from({ length: count }, (_, node) => reachedWithout(node));
  const reached = reachedWithout(-1);
  const dominates = (a: number, b: number): boolean => a !== b && reached[a]! && !without[a]![b];
  return Array.from({ length: count }, (_, node) => {
    if (node === 0 || !reached[node]) return 0;
    const all = Array.from({ length: count }, (_, other) => other).filter((other) => dominates(other, node));
    return all.find((a) => all.every((b) => a === b || dominates(b, a))) ?? 0;
  });
}

test('random graphs of strong edges: the definition of dominators', () => {
  const edges = fc.array(fc.tuple(fc.nat(13), fc.nat(13)), { maxLength: 50 });
  fc.assert(
    fc.property(edges, (pairs) => {
      const synth = new SynthSnapshot();
      for (let node = 0; node < 14; node++) synth.node();
      // Each node is a child of the root or reachable, so that there are no orphans.
      for (const [from, to] of pairs) synth.edge(from, to, 'e');
      const reached = new Set([0]);
      for (const node of reached) for (const [from, to] of pairs) if (from === node) reached.add(to);
      for (let node = 1; node < 14; node++) if (!reached.has(node)) synth.edge(0, node, 'e');
      const all = synth.edges.map(({ from, to }): [number, number] => [from, to]);
      const tree = computeDominators(readHeapSnapshotSync(synth.toBuffer()));
      assert.deepEqual([...tree.dominator], dominatorsByDefinition(all, 14));
    }),
    fuzzInTurn(1000),
  );
});

test('sizes above 2^32 add up exactly, where DevTools wraps', () => {
  const { snapshot: synth, global } = synthProgram();
  const buffer = synth.node({ name: 'ArrayBuffer', size: 80 });
  const data = synth.node({ type: 'native', name: 'system / JSArrayBufferData', size: 5_368_709_120 });
  synth.edge(global, buffer, 'buffer').edge(buffer, data, 'backing_store', 'internal');
  const snapshot = readHeapSnapshotSync(synth.toBuffer());
  const retained = computeRetainedSizes(computeDominators(snapshot), computeShallowSizes(snapshot));
  assert.equal(retained[buffer], 5_368_709_200);
  assert.equal(retained[0], 5_368_709_264);
});

test('an internal part above 2^32 is counted with its owner, once', () => {
  const { snapshot: synth, global } = synthProgram();
  const list = synth.node({ name: 'Array', size: 16 });
  const elements = synth.node({ type: 'array', name: '(object elements)', size: 5_368_709_120 });
  synth.edge(global, list, 'list').edge(list, elements, 'elements', 'internal');
  const snapshot = readHeapSnapshotSync(synth.toBuffer());
  const sizes = computeShallowSizes(snapshot);
  const retained = computeRetainedSizes(computeDominators(snapshot), sizes);
  assert.deepEqual([...sizes.wideRows()], [[list, 5_368_709_136]]);
  assert.deepEqual([retained[list], retained[elements]], [5_368_709_136, 0]);
});
