/** Distances, classes and their sums, and DOM states, compared with DevTools' own code. */
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Heap } from '../../../../src/analysis/memory/heap.ts';
import { readHeapSnapshot } from '../../../../src/formats/heapsnapshot/index.ts';
import {
  type DevToolsAggregate,
  type DevToolsSnapshot,
  loadWithDevTools,
} from '../../../oracles/devtools.ts';
import { inEachWay } from '../../../support/heaps/each-graph-walk.ts';
import { nodeMajors, realHeapSnapshot } from '../../../support/heaps/real-heapsnapshots.ts';
import { type SynthSnapshot, synthProgram } from '../../../support/synth/synth-heapsnapshot.ts';

function assertSameNodes(heap: Heap, theirs: DevToolsSnapshot): void {
  for (let node = 0; node < heap.nodeCount; node++) {
    const other = theirs.createNode(node * theirs.nodeFieldCount);
    const where = `node ${node}, ${heap.snapshot.nodeTypeName(node)} ${heap.snapshot.nodeName(node)}`;
    if (heap.distances[node] !== theirs.nodeDistances[node])
      assert.fail(`${where}: distance ${heap.distances[node]} is not ${theirs.nodeDistances[node]}`);
    if (heap.className(node) !== other.className())
      assert.fail(`${where}: class ${heap.className(node)} is not ${other.className()}`);
  }
}

/** Our rows by DevTools' key: `script,line,column,name`, or `,name` without a place. */
function rowsByKey(heap: Heap): Map<string, DevToolsAggregate> {
  const { count, selfSize, retainedSize, distance } = heap.aggregates;
  const rows = new Map<string, DevToolsAggregate>();
  for (const [row, { name, place }] of heap.classes.kinds.entries()) {
    const key = place ? `${place.scriptId},${place.line},${place.column},${name}` : `,${name}`;
    if (count[row] === 0) continue;
    rows.set(key, {
      name,
      count: count[row]!,
      self: selfSize[row]!,
      maxRet: retainedSize[row]!,
      distance: distance[row]!,
    });
  }
  return rows;
}

function assertSameAggregates(heap: Heap, theirs: DevToolsSnapshot): void {
  const mine = rowsByKey(heap);
  const others = theirs.aggregatesWithFilter({});
  assert.deepEqual([...mine.keys()].sort(), Object.keys(others).sort());
  const namesTwice = new Set<string>();
  for (const [key, row] of mine) {
    const { count, self, maxRet, distance, name } = others[key]!;
    // Two kinds with the same name, e.g. functions and an object called "Function": DevTools' table keeps only the last.
    if (count < row.count) namesTwice.add(name);
    else assert.deepEqual(row, { name, count, self, maxRet, distance }, key);
  }
  assert.ok(namesTwice.size <= 3, [...namesTwice].join());
}

for (const major of nodeMajors)
  test(`Node ${major}: distances, classes and their sums are DevTools'`, async () => {
    const path = realHeapSnapshot(major);
    const theirs = await loadWithDevTools(path);
    await inEachWay(async (options) => {
      const heap = new Heap(await readHeapSnapshot(path, options));
      assertSameNodes(heap, theirs);
      assertSameAggregates(heap, theirs);
      assert.equal(heap.totalBytes, theirs.totalSize);
    });
  });

async function compare(synth: SynthSnapshot): Promise<Heap> {
  const path = join(mkdtempSync(join(tmpdir(), 'agentdump-heap-')), 'synth.heapsnapshot');
  writeFileSync(path, synth.toBuffer());
  const theirs = await loadWithDevTools(path);
  await inEachWay(async (options) => {
    const heap = new Heap(await readHeapSnapshot(path, options));
    assertSameNodes(heap, theirs);
    assertSameAggregates(heap, theirs);
  });
  return new Heap(await readHeapSnapshot(path));
}

test('plain objects get the kind with most of their properties; dictionaries are no kind', async () => {
  const { snapshot, global } = synthProgram();
  const value = snapshot.node({ type: 'string', name: 'v' });
  const object = (...properties: string[]): void => {
    const node = snapshot.node({ name: 'Object' });
    snapshot.edge(global, node, `p${node}`);
    for (const property of properties) snapshot.edge(node, value, property);
  };
  for (let at = 0; at < 5; at++) object('role', 'content');
  for (let at = 0; at < 4; at++) object('content', 'role');
  for (let at = 0; at < 3; at++) object('role', 'content', 'name', '__proto__');
  object('name', 'role', 'content', 'extra');
  object('a,b', "it's", '{}');
  object('a,b', "it's", '{}');
  object();
  object(...Array.from({ length: 300 }, (_, at) => `key ${at}`));
  object(...Array.from({ length: 300 }, (_, at) => `key ${at}`));
  const heap = await compare(snapshot);
  const kinds = new Set(Array.from({ length: heap.nodeCount }, (_, node) => heap.className(node)));
  for (const kind of ['{role, content}', '{role, content, name}', 'Object', '{"a,b", "it\'s", "{}"}'])
    assert.ok(kinds.has(kind), kind);
});

test('DOM nodes: classes by tag, detached ones named so, the state spread to what hangs below', async () => {
  const { snapshot, root, global } = synthProgram();
  const trees = snapshot.node({ type: 'synthetic', name: '(Document DOM trees)', size: 0 });
  const attached = snapshot.node({ type: 'native', name: '<div id="a">', detachedness: 1 });
  const below = snapshot.node({ type: 'native', name: '<span>' });
  const lost = snapshot.node({ type: 'native', name: '<p class="x">', detachedness: 2 });
  const alsoLost = snapshot.node({ type: 'native', name: 'Text' });
  const wrapper = snapshot.node({ type: 'object', name: '<p class="x">' });
  snapshot.edge(root, trees, 3).edge(trees, attached, 1).edge(attached, below, 'child');
  snapshot
    .edge(global, wrapper, 'kept')
    .edge(wrapper, lost, 'native', 'internal')
    .edge(lost, alsoLost, 'text');
  snapshot.edge(lost, attached, 'owner', 'weak').edge(lost, below, 'hiddenChild', 'hidden');
  const heap = await compare(snapshot);
  assert.equal(heap.className(alsoLost), 'Detached Text');
  assert.equal(heap.className(lost), 'Detached <p>');
});
