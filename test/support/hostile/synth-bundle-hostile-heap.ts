/** Hostile heap snapshots, compressed like the real part: wrong counts, offsets, names and endings. */
import { gzipSync } from 'node:zlib';
import { type HostileInput, nested, withParts } from './synth-bundle-hostile.ts';

const meta = {
  node_fields: ['type', 'name', 'id', 'self_size', 'edge_count', 'trace_node_id', 'detachedness'],
  node_types: [
    ['hidden', 'array', 'string', 'object', 'code', 'closure', 'synthetic'],
    'string',
    'number',
    'number',
    'number',
    'number',
    'number',
  ],
  edge_fields: ['type', 'name_or_index', 'to_node'],
  edge_types: [['context', 'element', 'property', 'internal'], 'string_or_number', 'node'],
};
const whole = {
  snapshot: { meta, node_count: 3, edge_count: 2, trace_function_count: 0 },
  nodes: [6, 0, 1, 0, 1, 0, 0, 3, 1, 3, 16, 1, 0, 0, 3, 2, 5, 32, 0, 0, 0],
  edges: [2, 1, 7, 2, 2, 14],
  trace_function_infos: [],
  trace_tree: [],
  samples: [],
  locations: [],
  strings: ['(root)', 'Agent', 'Buffer'],
};

function heap(fault: string, gzipped: Buffer): HostileInput {
  return withParts(`heapsnapshot/${fault}`, { 'heap.heapsnapshot.gz': gzipped });
}

const text = (fault: string, content: string) => heap(fault, gzipSync(content));
const json = (fault: string, change: Record<string, unknown>) =>
  text(fault, JSON.stringify({ ...whole, ...change }));
const counts = (fault: string, change: Record<string, unknown>) =>
  json(fault, { snapshot: { ...whole.snapshot, ...change } });

function withNode(fault: string, offset: number, value: number): HostileInput {
  return json(fault, { nodes: whole.nodes.with(offset, value) });
}

export function heapFaults(): HostileInput[] {
  const full = JSON.stringify(whole);
  const { strings: _, ...rest } = whole;
  const zipped = gzipSync(full);
  return [
    heap('empty', Buffer.alloc(0)),
    heap('not-gzip', Buffer.from(full)),
    heap('gzip-cut-short', zipped.subarray(0, zipped.length - 12)),
    heap(
      'gzip-damaged',
      Buffer.concat([zipped.subarray(0, 30), Buffer.from([0xff, 0xff, 0xff]), zipped.subarray(33)]),
    ),
    heap('gzip-bomb', gzipSync(Buffer.alloc(30_000_000, ' '))),
    heap('bytes-after-the-gzip', Buffer.concat([zipped, Buffer.from('trailing')])),
    text('not-json', 'PK no snapshot'),
    text('without-snapshot', '{"nodes":[],"edges":[],"strings":[]}'),
    text('cut-in-the-nodes', full.slice(0, full.indexOf('"nodes":[') + 20)),
    text('cut-in-a-string', full.slice(0, -12)),
    text('nested-50000-deep', `{"snapshot":${nested(50_000)}}`),
    text('strings-before-nodes', JSON.stringify({ strings: whole.strings, ...rest })),
    text('text-after-the-end', `${full}${full}`),
    counts('counts-4-billion-nodes', { node_count: 4_000_000_000 }),
    counts('counts-too-few-nodes', { node_count: 1 }),
    counts('counts-of-text', { node_count: 'three', edge_count: null }),
    counts('counts-4-billion-edges', { edge_count: 4_000_000_000 }),
    counts('without-meta', { meta: undefined }),
    counts('fields-twice', { meta: { ...meta, node_fields: ['type', 'type', 'name'] } }),
    counts('fields-missing', { meta: { ...meta, node_fields: ['type'], edge_fields: [] } }),
    counts('fields-of-numbers', { meta: { ...meta, node_fields: 7, node_types: {}, edge_types: [[]] } }),
    json('nodes-of-text', { nodes: ['a', 'b'] }),
    json('nodes-not-divisible', { nodes: whole.nodes.slice(0, -3) }),
    json('numbers-too-big', { nodes: [...whole.nodes.slice(0, 14), 3, 2, 5, 9e300, 0, 0, 0] }),
    json('numbers-negative', { nodes: whole.nodes.map((value) => -value) }),
    withNode('type-out-of-range', 7, 99),
    withNode('name-out-of-range', 8, 5000),
    withNode('edge-count-beyond-the-edges', 11, 1000),
    withNode('edge-count-too-small', 11, 0),
    json('edge-to-nowhere', { edges: [2, 1, 7, 2, 2, 7_000_000] }),
    json('edge-into-the-middle-of-a-node', { edges: [2, 1, 7, 2, 2, 8] }),
    json('edge-to-itself', { edges: [2, 1, 7, 2, 2, 7] }),
    json('edges-missing', { edges: [] }),
    json('strings-missing', { strings: [] }),
    json('strings-of-numbers', { strings: [1, 2, 3] }),
    json('ids-twice', { nodes: whole.nodes.with(16, 3) }),
  ];
}
