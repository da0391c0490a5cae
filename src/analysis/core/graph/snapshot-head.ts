/** What V8's `.heapsnapshot` (of Node 24) says of its records before the first of them. */
import type { HeapGraph } from '../../../formats/v8/graph/graph.ts';
import { edgeTypes, nodeTypes } from '../../../formats/v8/graph/object-kinds.ts';

export const nodeFields = ['type', 'name', 'id', 'self_size', 'edge_count', 'detachedness'];
const edgeFields = ['type', 'name_or_index', 'to_node'];
const locationFields = ['object_index', 'script_id', 'line', 'column'];

/** The `snapshot` object. */
export function snapshotHead({ nodeCount, edgeCount }: HeapGraph): Record<string, unknown> {
  return {
    meta: {
      node_fields: nodeFields,
      node_types: [nodeTypes, 'string', 'number', 'number', 'number', 'number'],
      edge_fields: edgeFields,
      edge_types: [edgeTypes, 'string_or_number', 'node'],
      trace_function_info_fields: ['function_id', 'name', 'script_name', 'script_id', 'line', 'column'],
      trace_node_fields: ['id', 'function_info_index', 'count', 'size', 'children'],
      sample_fields: ['timestamp_us', 'last_assigned_id'],
      location_fields: locationFields,
    },
    lasting_ids: false,
    node_count: nodeCount,
    edge_count: edgeCount,
    trace_function_count: 0,
    extra_native_bytes: 0,
  };
}

/** The text up to the member after it. */
export const snapshotHeadText = (graph: HeapGraph): string =>
  `{"snapshot":${JSON.stringify(snapshotHead(graph))}`;
