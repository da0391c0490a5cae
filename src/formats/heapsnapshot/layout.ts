/**
 * V8's heap snapshot format in V8's own spelling: sections, fields, node and edge types. Field positions are not defined
 * here, because they are read from each file's `snapshot.meta`. Source: V8 `src/profiler/heap-snapshot-generator.cc`,
 * HeapSnapshotJSONSerializer (V8 11.3 to 14.x agree on everything below; since 13.x the node field `trace_node_id` is only
 * present if allocations are tracked).
 */

export const formatName = 'heapsnapshot';

/** Names of the node fields that are read. A file without the first five is rejected. */
export const requiredNodeFields = ['type', 'name', 'id', 'self_size', 'edge_count'] as const;
export const requiredEdgeFields = ['type', 'name_or_index', 'to_node'] as const;
export const requiredLocationFields = ['object_index', 'script_id', 'line', 'column'] as const;

/** HeapEntry::Type. The index is our code for the type, independent of the number in the file. */
export const nodeTypeNames = [
  'hidden',
  'array',
  'string',
  'object',
  'code',
  'closure',
  'regexp',
  'number',
  'native',
  'synthetic',
  'concatenated string',
  'sliced string',
  'symbol',
  'bigint',
  'object shape',
  'wasm object',
] as const;

export const NodeType = {
  hidden: 0,
  array: 1,
  string: 2,
  object: 3,
  code: 4,
  closure: 5,
  regexp: 6,
  number: 7,
  native: 8,
  synthetic: 9,
  concatenatedString: 10,
  slicedString: 11,
  symbol: 12,
  bigint: 13,
  objectShape: 14,
  wasmObject: 15,
} as const;

/**
 * HeapGraphEdge::Type in our order. An edge is stored as `code << 29 | ordinal`, which as a signed number is negative exactly
 * for the types that a graph walk must examine further.
 */
export const edgeTypeNames = [
  'context',
  'element',
  'property',
  'internal',
  'hidden',
  'shortcut',
  'weak',
] as const;

export const EdgeType = {
  context: 0,
  element: 1,
  property: 2,
  internal: 3,
  hidden: 4,
  shortcut: 5,
  weak: 6,
  /** An internal edge that represents half of a WeakMap entry. Not in files; set by the analysis. */
  ephemeron: 7,
} as const;

export const edgeTypeShift = 29;
export const edgeTargetMask = 0x1fffffff;
/** The target field of an edge can't represent more nodes. */
export const maxNodes = edgeTargetMask;

/** V8's `detachedness` (v8::EmbedderGraph::Node::Detachedness). */
export const Detachedness = { unknown: 0, attached: 1, detached: 2 } as const;
