/** Invalid snapshots: each fault with its error, and every file truncated at every position. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { AgentdumpError } from '../../../src/errors.ts';
import { readHeapSnapshot, readHeapSnapshotSync } from '../../../src/formats/heapsnapshot/index.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';
import { onlyWide } from '../../support/run/test-nodes.ts';
import { synthProgram } from '../../support/synth/synth-heapsnapshot.ts';

function small(): Buffer {
  const { snapshot, global } = synthProgram();
  const child = snapshot.node({ name: 'Child' });
  snapshot.edge(global, child, 'child').edge(child, global, 'parent');
  return snapshot.toBuffer();
}

/** The small snapshot with its text changed. */
function changed(pattern: string | RegExp, by: string): Buffer {
  const before = small().toString();
  const after = before.replace(pattern, by);
  assert.notEqual(after, before);
  return Buffer.from(after);
}

const isMalformed = (field: RegExp) => (error: unknown) => {
  assert.ok(error instanceof AgentdumpError, String(error));
  assert.equal(error.code, 'malformed-input');
  assert.match(String(error.details['field']), field);
  return true;
};

const faults: [what: string, bytes: Buffer, field: RegExp][] = [
  ['nothing', Buffer.alloc(0), /snapshot/],
  ['other text', Buffer.from('hello'), /snapshot/],
  ['other JSON', Buffer.from('{"nodes":[1,2,3]}'), /snapshot/],
  ['a JSON array', Buffer.from('[1,2,3]'), /snapshot/],
  ['a header only', Buffer.from('{"snapshot":{}}'), /meta/],
  ['no nodes', changed(/"nodes":\[[^\]]*\],\n/, ''), /nodes/],
  ['no edges', changed(/"edges":\[[^\]]*\],\n/, ''), /edges/],
  ['no strings', changed(/,\n"strings":.*/, '}'), /strings/],
  ['nodes twice', changed(/("nodes":\[[^\]]*\],\n)/, '$1$1'), /nodes/],
  ['a node count that is a lie, more', changed('"node_count":4', '"node_count":5'), /nodes/],
  ['a node count that is a lie, fewer', changed('"node_count":4', '"node_count":3'), /nodes/],
  ['a node count beyond the bytes', changed('"node_count":4', '"node_count":400000000'), /node_count/],
  ['an edge count beyond the bytes', changed('"edge_count":5', '"edge_count":4000000000'), /edge_count/],
  ['an edge count that is a lie', changed('"edge_count":5', '"edge_count":6'), /edge/],
  ['a negative count', changed('"node_count":4', '"node_count":-4'), /node_count/],
  ['a fractional count', changed('"node_count":4', '"node_count":4.5'), /node_count/],
  ['a count as text', changed('"node_count":4', '"node_count":"4"'), /node_count/],
  ['missing fields', changed('"self_size",', ''), /node_fields/],
  ['edge counts that do not add up', changed('"nodes":[9,1,1,0,2,', '"nodes":[9,1,1,0,1,'), /edge_count/],
  ['a node type beyond the list', changed('"nodes":[9,', '"nodes":[99,'), /type/],
  ['an edge type beyond the list', changed('"edges":[1,', '"edges":[8,'), /type/],
  ['a target between two nodes', changed('"edges":[1,1,6', '"edges":[1,1,7'), /to_node/],
  ['a target beyond the nodes', changed('"edges":[1,1,6', '"edges":[1,1,60'), /to_node/],
  ['a name beyond the strings', changed('"nodes":[9,1,', '"nodes":[9,1000,'), /strings/],
  ['an id above 2^32', changed('"nodes":[9,1,1,', '"nodes":[9,1,99999999999,'), /id/],
  ['a number above 2^53', changed('"nodes":[9,1,1,0,', '"nodes":[9,1,1,99999999999999999999,'), /number/],
  [
    'a number of a thousand digits',
    changed('"nodes":[9,1,1,0,', `"nodes":[9,1,1,${'9'.repeat(1000)},`),
    /number/,
  ],
  ['a negative number', changed('"nodes":[9,', '"nodes":[-9,'), /nodes/],
  ['a fraction', changed('"edges":[1,1,6', '"edges":[1,1.5,6'), /edges/],
  ['two commas', changed('"edges":[1,', '"edges":[1,,'), /edges/],
  ['text among numbers', changed('"edges":[1,', '"edges":["x",'), /edges/],
  ['a record cut short', changed(/"edges":\[([^\]]*),\d+\]/, '"edges":[$1]'), /edges/],
  ['strings without commas', changed('"<dummy>",', '"<dummy>"'), /strings/],
  ['a number among strings', changed('"<dummy>",', '"<dummy>",5,'), /strings/],
  ['a root that is no node', changed('"node_count":4', '"root_index":5,"node_count":4'), /root_index/],
  ['a trace tree of text', changed('"trace_tree":[]', '"trace_tree":["x"]'), /trace_tree/],
];

for (const [what, bytes, field] of faults)
  test(`refused: ${what}`, async () => {
    assert.throws(() => readHeapSnapshotSync(bytes), isMalformed(field));
    await assert.rejects(readHeapSnapshot(gzipSync(bytes)), isMalformed(field));
  });

test('gzip data that is broken, and a path with nothing or a folder there, say so', async () => {
  const packed = gzipSync(small());
  packed.fill(0xff, 20, 60);
  await assert.rejects(readHeapSnapshot(packed), isMalformed(/gzip|snapshot|nodes/));
  await assert.rejects(readHeapSnapshot('/nothing/here.heapsnapshot'), { code: 'not-found' });
  await assert.rejects(readHeapSnapshot('/'), { code: 'not-found' });
});

test('nesting of any depth in a section that nobody knows does no harm', () => {
  const deep = `${'['.repeat(500_000)}${']'.repeat(500_000)}`;
  const snapshot = readHeapSnapshotSync(changed('"samples":', `"future":${deep},"samples":`));
  assert.equal(snapshot.nodes.count, 4);
  assert.throws(
    () => readHeapSnapshotSync(changed('"trace_tree":[]', `"trace_tree":${'['.repeat(3_000_000)}`)),
    /depth/,
  );
});

test('cut at every byte: refused before the first node, a partial answer with its gaps after it', async () => {
  const whole = small();
  const nodesStart = whole.indexOf('[', whole.indexOf('"nodes"')) + 1;
  const nodesEnd = whole.indexOf(']', nodesStart) + 1;
  const edgesEnd = whole.indexOf(']', whole.indexOf('"edges"')) + 1;
  async function* streamOf(bytes: Buffer): AsyncGenerator<Buffer> {
    yield bytes;
  }
  for (let length = 0; length < whole.length; length++) {
    const cut = whole.subarray(0, length);
    if (length <= nodesStart) {
      await assert.rejects(readHeapSnapshot(streamOf(cut)), isMalformed(/nodes|snapshot/));
      continue;
    }
    const snapshot = await readHeapSnapshot(streamOf(cut)).catch((error) => {
      assert.ok(length < nodesStart + 20 && isMalformed(/nodes/)(error));
    });
    if (!snapshot) continue;
    if (length >= nodesEnd) assert.equal(snapshot.nodes.count, 4);
    else assert.equal(snapshot.gaps[0]?.section, 'nodes');
    assert.equal(snapshot.hasAllEdges, length >= edgesEnd);
    assert.ok(snapshot.gaps.length > 0);
    for (let node = 0; node < snapshot.nodes.count; node++) {
      snapshot.nodeName(node);
      for (let edge = snapshot.nodes.firstEdge[node]!; edge < snapshot.nodes.firstEdge[node + 1]!; edge++)
        assert.ok(snapshot.edgeTarget(edge) < 4 && typeof snapshot.edgeName(edge) === 'string');
    }
  }
});

test('a small gzip file that inflates without measure is refused before it fills the memory', {
  skip: onlyWide,
}, async () => {
  const bomb = gzipSync(Buffer.concat([small().subarray(0, -20), Buffer.alloc(150_000_000, 'x')]));
  assert.ok(bomb.length < 300_000);
  await assert.rejects(readHeapSnapshot(bomb), { code: 'over-limit' });
  async function* stream(): AsyncGenerator<Buffer> {
    yield bomb;
  }
  await assert.rejects(readHeapSnapshot(stream(), { sizeBytes: bomb.length }), { code: 'over-limit' });
});

test('a gzip file that was cut is as good as a plain one that was', async () => {
  const { snapshot: synth, global } = synthProgram();
  for (let at = 0; at < 3000; at++) synth.edge(global, synth.node({ name: `Class${at}` }), `property${at}`);
  const packed = gzipSync(synth.toBuffer());
  const snapshot = await readHeapSnapshot(packed.subarray(0, packed.length - 2000));
  assert.equal(snapshot.nodes.count, 3003);
  assert.ok(snapshot.gaps.some((gap) => gap.section === 'strings'));
});

test('any bytes changed anywhere: an AgentdumpError or a graph whose every reference holds', () => {
  const whole = small();
  const edit = fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255) });
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 6 }), (edits) => {
      const bytes = Buffer.from(whole);
      for (const { at, byte } of edits) bytes[at] = byte;
      try {
        const { nodes, edges } = readHeapSnapshotSync(bytes);
        assert.equal(nodes.firstEdge[nodes.count], edges.count);
        for (let edge = 0; edge < edges.count; edge++)
          assert.ok((edges.packed[edge]! & 0x1fffffff) < nodes.count);
      } catch (error) {
        assert.ok(error instanceof AgentdumpError, String(error));
      }
    }),
    { numRuns: fuzzRuns(3000) },
  );
});
