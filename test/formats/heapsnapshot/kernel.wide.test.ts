/** The scanner's WebAssembly: it is what its source compiles to, and accepts exactly what the TypeScript readers accept. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import '../../support/run/fuzz-runs.ts';
import { createEdgeColumns, privateMemory } from '../../../src/formats/heapsnapshot/columns.ts';
import { ScanKernel } from '../../../src/formats/heapsnapshot/scan/scan-kernel.ts';
import { EdgeRecords } from '../../../src/formats/heapsnapshot/sections/edge-records.ts';
import { readHeader, type SnapshotHeader } from '../../../src/formats/heapsnapshot/sections/header.ts';
import { NodeRecords } from '../../../src/formats/heapsnapshot/sections/node-records.ts';
import { StringIndex } from '../../../src/formats/heapsnapshot/sections/string-index.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const hasCompiler = existsSync(join(root, 'test', 'kernel', 'node_modules'));

test('the code is what its source compiles to', { skip: !hasCompiler }, async () => {
  const { compileKernel, kernels } = await import(join(root, 'test', 'support', 'build', 'build-kernel.mjs'));
  for (const kernel of kernels)
    assert.equal(
      readFileSync(join(root, `${kernel.path}-code.ts`), 'utf8'),
      await compileKernel(kernel),
      'npm run build:kernel was forgotten',
    );
});

const nodeFields = ['type', 'name', 'id', 'self_size', 'edge_count', 'trace_node_id', 'detachedness'];

function headerFor(nodes: number, edges: number): SnapshotHeader {
  return readHeader({
    meta: {
      node_fields: nodeFields,
      node_types: [['hidden', 'array', 'string', 'object', 'code', 'closure', 'regexp', 'number', 'native']],
      edge_fields: ['type', 'name_or_index', 'to_node'],
      edge_types: [['context', 'element', 'property', 'internal', 'hidden', 'shortcut', 'weak']],
    },
    node_count: nodes,
    edge_count: edges,
  });
}

/** Reads the text from a kernel's window, and from bytes outside of any kernel. */
function bothWays<Result>(text: string, read: (bytes: Buffer, end: number) => Result): [Result, Result] {
  const { window } = new ScanKernel();
  window.fill(0);
  const end = window.write(text, 'latin1');
  const plain = Buffer.alloc(end + 16);
  plain.write(text, 'latin1');
  return [read(window, end), read(plain, end)];
}

const size = fc.oneof(
  fc.nat(99),
  fc.nat(0xffffff + 9),
  fc.constantFrom(999_999_999, 0xffffffff, 2 ** 40, 1_000_000_000),
);
const comma = fc.constantFrom(',', ',', ',', '\n,', ' , ');

test('nodes and edges are the same by the kernel and without it', () => {
  const record = fc.record({
    type: fc.nat(8),
    name: fc.nat(0xffffff + 9),
    id: fc.oneof(fc.nat(99), fc.constantFrom(0xffffffff, 708_942_208)),
    size,
    rare: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(2) }),
    edges: fc.array(fc.record({ type: fc.nat(6), name: size, to: fc.nat(1000), comma }), { maxLength: 4 }),
    comma,
  });
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 30 }), (nodes) => {
      const edges = nodes.flatMap((node) => node.edges);
      const header = headerFor(nodes.length, edges.length);
      const nodeText = nodes
        .map((n) => [n.type, n.name, n.id, n.size, n.edges.length, n.rare, n.rare].join(n.comma))
        .join(nodes[0]!.comma);
      const edgeText = edges
        .map((e) => [e.type, e.name, (e.to % nodes.length) * nodeFields.length].join(e.comma))
        .join(',');
      const [kernelNodes, plainNodes] = bothWays(`${nodeText}]`, (bytes, end) => {
        const reader = new NodeRecords(header, privateMemory);
        assert.equal(reader.scan(bytes, 0, end), end);
        return {
          columns: reader.columns,
          name: reader.maxName,
          sizes: [...reader.columns.selfSize.wideRows()],
        };
      });
      assert.deepEqual(kernelNodes, plainNodes);
      const [kernelEdges, plainEdges] = bothWays(`${edgeText}]`, (bytes, end) => {
        const reader = new EdgeRecords(header, createEdgeColumns(edges.length, privateMemory));
        assert.equal(reader.scan(bytes, 0, end), end);
        const names = edges.map((_, row) => reader.columns.nameOrIndex.get(row));
        return { packed: reader.columns.packed, names, name: reader.maxName };
      });
      assert.deepEqual(kernelEdges, plainEdges);
      assert.deepEqual(
        kernelEdges.names,
        edges.map(({ name }) => name),
      );
    }),
    { numRuns: 300 },
  );
});

test('edges to nodes of any number, of as many digits as there can be', () => {
  const header = headerFor(2 ** 29 - 1, 50);
  const upTo = (digits: number): fc.Arbitrary<number> => fc.nat(10 ** digits - 1);
  const edge = fc.record({
    type: fc.nat(6),
    name: fc.integer({ min: 1, max: 8 }).chain(upTo),
    node: fc.integer({ min: 1, max: 8 }).chain(upTo),
    // Occasionally an offset at which no node starts.
    off: fc.oneof({ weight: 300, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(6) }),
    zeros: fc.oneof({ weight: 9, arbitrary: fc.constant('') }, fc.constantFrom('0', '00000000')),
  });
  const between = fc.constantFrom(',', '\n,');
  fc.assert(
    fc.property(fc.array(edge, { minLength: 50, maxLength: 50 }), between, (edges, separator) => {
      const text = edges.map(
        ({ type, name, node, off, zeros }) => `${type},${name},${zeros}${node * nodeFields.length + off}`,
      );
      const [byKernel, plain] = bothWays(`${text.join(separator)}]`, (bytes, end) => {
        const columns = createEdgeColumns(edges.length, privateMemory);
        const reader = new EdgeRecords(header, columns);
        try {
          reader.scan(bytes, 0, end);
        } catch (error) {
          return String(error);
        }
        const names = edges.map((_, row) => columns.nameOrIndex.get(row));
        return { packed: columns.packed, names, name: reader.maxName };
      });
      assert.deepEqual(byKernel, plain);
      if (typeof plain === 'string') return;
      assert.deepEqual(
        [...plain.packed].map((packed) => packed & 0x1fffffff),
        edges.map(({ node }) => node),
      );
    }),
    { numRuns: 400 },
  );
});

test('strings are the same by the kernel and without it, wherever a window ends', () => {
  const piece = fc.constantFrom(
    'a',
    'bc',
    '\\"',
    '\\\\',
    '\\u1234',
    ',',
    ']',
    'x'.repeat(15),
    'y'.repeat(40),
  );
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => `"${pieces.join('')}"`);
  const between = fc.constantFrom(',', ',\n', ' ,\n ');
  fc.assert(
    fc.property(
      fc.array(text, { maxLength: 20 }),
      between,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (all, mark, cut) => {
        const section = `${all.join(mark)}]`;
        const at = Math.floor(cut * section.length);
        const [kernel, plain] = bothWays(section, (bytes, end) => {
          const index = new StringIndex();
          const ended = Buffer.from(bytes.subarray(at, at + 16));
          bytes.fill(0, at, at + 16);
          const taken = index.scan(bytes, 0, at, 0, false);
          ended.copy(bytes, at);
          index.scan(bytes, taken, end, 0, false);
          return { starts: index.starts.slice(), done: index.done, count: index.count };
        });
        assert.deepEqual(kernel, plain);
        assert.equal(kernel.count, all.length);
      },
    ),
    { numRuns: 500 },
  );
});
