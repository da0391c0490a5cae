/** The reader on whole snapshots: the smallest, every layout, every kind of input, and each Node's own files. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  allocationStack,
  type HeapSnapshot,
  parse,
  parseFile,
  readHeapSnapshot,
  readHeapSnapshotSync,
} from '../../../src/formats/heapsnapshot/index.ts';
import { nodeMajors, realHeapSnapshot } from '../../support/heaps/real-heapsnapshots.ts';
import { isWideRun } from '../../support/run/test-nodes.ts';
import { SynthSnapshot, synthProgram } from '../../support/synth/synth-heapsnapshot.ts';

const require = createRequire(import.meta.url);

/** The whole content of a snapshot in a readable form. */
function listing(snapshot: HeapSnapshot): unknown[] {
  return Array.from({ length: snapshot.nodes.count }, (_, node) => {
    const edges = [];
    for (let edge = snapshot.nodes.firstEdge[node]!; edge < snapshot.nodes.firstEdge[node + 1]!; edge++)
      edges.push([snapshot.edgeTypeName(edge), snapshot.edgeName(edge), snapshot.edgeTarget(edge)]);
    return [
      snapshot.nodeTypeName(node),
      snapshot.nodeName(node),
      snapshot.nodes.id.get(node),
      snapshot.nodes.selfSize.get(node),
      snapshot.location(node),
      edges,
    ];
  });
}

function sample(): SynthSnapshot {
  const { snapshot, global } = synthProgram();
  const text = snapshot.node({ type: 'string', name: 'a "quoted" \\ text \u00e9\u4e2d\n', size: 40 });
  const array = snapshot.node({ type: 'object', name: 'Array', size: 32, id: 4_000_000_001 });
  const big = snapshot.node({ type: 'native', name: 'system / JSArrayBufferData', size: 5_368_709_120 });
  snapshot.edge(global, array, 'list').edge(array, text, 0).edge(array, text, 4_294_967_290, 'hidden');
  snapshot.edge(array, big, 'backing_store', 'internal').edge(big, global, 'back', 'weak');
  return snapshot;
}

test('the smallest snapshot: one node, no edges', () => {
  const synth = new SynthSnapshot();
  synth.node({ type: 'synthetic', name: '', size: 0 });
  const snapshot = readHeapSnapshotSync(synth.toBuffer());
  assert.deepEqual(listing(snapshot), [['synthetic', '', 1, 0, undefined, []]]);
  assert.equal(snapshot.gaps.length, 0);
});

test('all layouts of one snapshot read the same: newlines, none, white space, other and more fields', () => {
  const locations = [
    [2, 7, 10, 4],
    [4, 8, 0, 0],
  ];
  const expected = listing(readHeapSnapshotSync(sample().toBuffer({ locations })));
  for (const layout of [
    { style: 'lines' as const },
    { style: 'pretty' as const },
    { nodeFields: ['type', 'name', 'id', 'self_size', 'edge_count', 'trace_node_id', 'detachedness'] },
    { nodeFields: ['future', 'edge_count', 'id', 'name', 'self_size', 'type'] },
    { edgeFields: ['to_node', 'name_or_index', 'type'] },
    { edgeFields: ['type', 'name_or_index', 'to_node', 'future'], style: 'lines' as const },
    { extra: { scopes: [1, [2, { deep: '"]}' }]], future: 'text', number: -1.5e3, nothing: null } },
  ])
    assert.deepEqual(listing(readHeapSnapshotSync(sample().toBuffer({ locations, ...layout }))), expected);
});

test('values are exact: escapes, ids above 2^31, indexes near 2^32, sizes above 2^32', () => {
  const snapshot = readHeapSnapshotSync(sample().toBuffer({ locations: [[4, 7, 10, 4]] }));
  const row = snapshot.findById(4_000_000_001);
  assert.equal(row, 4);
  assert.deepEqual(snapshot.location(row), { scriptId: 7, line: 10, column: 4 });
  assert.equal(snapshot.nodes.selfSize.get(5), 5_368_709_120);
  assert.deepEqual((listing(snapshot)[3] as unknown[])[1], 'a "quoted" \\ text \u00e9\u4e2d\n');
  const edges = (listing(snapshot)[4] as unknown[])[5];
  assert.deepEqual(edges, [
    ['element', '0', 3],
    ['hidden', '4294967290', 3],
    ['internal', 'backing_store', 5],
  ]);
});

test('detachedness, trace ids and the trace tree are kept when there are any', () => {
  const { snapshot: synth, global } = synthProgram();
  synth.edge(global, synth.node({ type: 'native', name: 'Div', detachedness: 2, trace: 3 }), 'div');
  const nodeFields = ['type', 'name', 'id', 'self_size', 'edge_count', 'trace_node_id', 'detachedness'];
  const snapshot = readHeapSnapshotSync(
    synth.toBuffer({
      nodeFields,
      traceTree: [1, 0, 5, 100, [2, 1, 4, 80, [3, 2, 1, 60, []], 4, 1, 1, 20, []]],
      traceFunctions: Array.from({ length: 30 }, (_, at) => at % 4),
    }),
  );
  assert.equal(snapshot.nodes.detachedness?.[3], 2);
  assert.equal(snapshot.nodes.traceNodeId?.[3], 3);
  assert.equal(snapshot.traceTree.rows.length, 4);
  assert.equal(allocationStack(snapshot, 3).length, 2);
});

test('a path, gzip, bytes and streams in pieces of 1 to 7 bytes give the same', async () => {
  const bytes = sample().toBuffer({ style: 'lines' });
  const folder = await mkdtemp(join(tmpdir(), 'agentdump-heap-'));
  const plain = join(folder, 'a.heapsnapshot');
  const packed = join(folder, 'a.heapsnapshot.gz');
  writeFileSync(plain, bytes);
  writeFileSync(packed, gzipSync(bytes));
  const expected = listing(readHeapSnapshotSync(bytes));
  async function* pieces(of: Buffer): AsyncGenerator<Buffer> {
    for (let at = 0, size = 1; at < of.length; at += size, size = (size % 7) + 1)
      yield of.subarray(at, at + size);
  }
  for (const input of [plain, packed, bytes, gzipSync(bytes), pieces(bytes), pieces(gzipSync(bytes))]) {
    const snapshot = await readHeapSnapshot(input);
    assert.deepEqual(listing(snapshot), expected);
    snapshot.close();
  }
});

for (const major of nodeMajors)
  test(`a snapshot of Node ${major} is what JSON.parse and heapsnapshot-parser see`, {
    skip: isWideRun ? false : 'heapsnapshot-parser as an oracle',
  }, async () => {
    const path = realHeapSnapshot(major);
    const mine = await parseFile(path);
    const peer = require('../../oracles/node_modules/heapsnapshot-parser');
    const { readFileSync } = require('node:fs') as typeof import('node:fs');
    const theirs = peer.parse(readFileSync(path, 'utf8'));
    assert.equal(mine.nodes.length, theirs.nodes.length);
    assert.equal(mine.edges.length, theirs.edges.length);
    for (let row = 0; row < mine.nodes.length; row++) {
      const node = mine.nodes[row]!;
      const other = theirs.nodes[row];
      if (
        node.id !== other.id ||
        node.name !== other.name ||
        node.type !== other.type ||
        node.self_size !== other.self_size
      )
        assert.fail(`node ${row}: ${node.toShortString()} is not ${other.toShortString()}`);
    }
    for (let row = 0; row < mine.edges.length; row++) {
      const edge = mine.edges[row]!;
      const other = theirs.edges[row];
      const isNamed = edge.type !== 'element' && edge.type !== 'hidden';
      if (
        edge.type !== other.type ||
        edge.toNodeIndex !== other.toNodeIndex ||
        (isNamed && edge.name !== other.name)
      )
        assert.fail(`edge ${row}: ${edge} is not ${other}`);
    }
  });

test('the drop-in parse has the peer shape: references, referrers, nodesById, getProperty', () => {
  for (const input of [sample().toBuffer(), sample().toBuffer().toString(), sample().toObject()]) {
    const snapshot = parse(input);
    const array = snapshot.nodesById[4_000_000_001]!;
    assert.equal(array, snapshot.nodes[4]);
    assert.deepEqual(
      array.references.map((edge) => edge.name),
      [0, 4_294_967_290, 'backing_store'],
    );
    assert.deepEqual(
      array.referrers.map((edge) => edge.fromNode.name),
      ['global'],
    );
    assert.equal(snapshot.nodes[2]?.getProperty('list'), array);
    assert.equal(array.getProperty('backing_store'), null);
    assert.equal(array.getProperty('backing_store', 'internal')?.self_size, 5_368_709_120);
    assert.equal(array.toShortString(), '(object) Array @4000000001');
    assert.match(String(array), /references:\n {4}\(element\) 0: \(string\)/);
    assert.equal(snapshot.nodes.filter((node) => node.type === 'synthetic').length, 2);
    assert.equal([...snapshot.edges].length, snapshot.edges.length);
    assert.equal(Object.keys(snapshot.nodesById).length, snapshot.nodes.length);
  }
});
