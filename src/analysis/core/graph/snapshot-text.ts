/** A graph as V8 writes it into a `.heapsnapshot` (the form of Node 24), piece by piece. */
import { type GraphColumns, idOfNode } from '../../../formats/v8/graph/graph-columns.ts';
import { edgeTypes, nodeTypes } from '../../../formats/v8/graph/object-kinds.ts';

const pieceLength = 1 << 20;
const nodeFields = ['type', 'name', 'id', 'self_size', 'edge_count', 'detachedness'];
const edgeFields = ['type', 'name_or_index', 'to_node'];
const locationFields = ['object_index', 'script_id', 'line', 'column'];
/** Besides ASCII: V8 writes none. */
const beyondAscii = /[\u007f-\uffff]/g;

/** `planted`: a string that no node uses, behind the others. */
export async function* snapshotText(graph: GraphColumns, planted?: string): AsyncGenerator<Buffer> {
  yield Buffer.from(head(graph), 'latin1');
  yield* pieces(nodeRecords(graph));
  yield Buffer.from('],\n"edges":[', 'latin1');
  yield* pieces(edgeRecords(graph));
  yield Buffer.from(
    '],\n"trace_function_infos":[],\n"trace_tree":[],\n"samples":[],\n"locations":[],\n"strings":[',
    'latin1',
  );
  yield* pieces(strings(graph.texts, planted));
  yield Buffer.from(']}\n', 'latin1');
}

function head({ nodeCount, edgeCount }: GraphColumns): string {
  const meta = {
    node_fields: nodeFields,
    node_types: [nodeTypes, 'string', 'number', 'number', 'number', 'number'],
    edge_fields: edgeFields,
    edge_types: [edgeTypes, 'string_or_number', 'node'],
    trace_function_info_fields: ['function_id', 'name', 'script_name', 'script_id', 'line', 'column'],
    trace_node_fields: ['id', 'function_info_index', 'count', 'size', 'children'],
    sample_fields: ['timestamp_us', 'last_assigned_id'],
    location_fields: locationFields,
  };
  const counts = {
    lasting_ids: false,
    node_count: nodeCount,
    edge_count: edgeCount,
    trace_function_count: 0,
    extra_native_bytes: 0,
  };
  return `{"snapshot":${JSON.stringify({ meta, ...counts })},\n"nodes":[`;
}

function* nodeRecords(graph: GraphColumns): Generator<string> {
  const { type, name, size, firstEdge } = graph;
  for (let node = 0; node < graph.nodeCount; node++)
    yield `${type[node]},${name[node]},${idOfNode(node)},${size[node]},${firstEdge[node + 1]! - firstEdge[node]!},0`;
}

function* edgeRecords({ edgeCount, edgeType, edgeName, edgeTarget }: GraphColumns): Generator<string> {
  for (let edge = 0; edge < edgeCount; edge++)
    yield `${edgeType[edge]},${edgeName[edge]},${edgeTarget[edge]! * nodeFields.length}`;
}

function* strings(texts: readonly string[], planted: string | undefined): Generator<string> {
  for (const text of texts) yield inAscii(text);
  if (planted !== undefined) yield inAscii(planted);
}

function inAscii(text: string): string {
  return JSON.stringify(text).replace(
    beyondAscii,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Joined by commas, in pieces of about one length. */
function* pieces(records: Iterable<string>): Generator<Buffer> {
  let piece = '';
  let isFirst = true;
  for (const record of records) {
    piece += isFirst ? record : `,${record}`;
    isFirst = false;
    if (piece.length < pieceLength) continue;
    yield Buffer.from(piece, 'latin1');
    piece = '';
  }
  yield Buffer.from(piece, 'latin1');
}
