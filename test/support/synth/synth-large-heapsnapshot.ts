/** Heap snapshots with millions of nodes, in V8's layout. */

/** Writes the text directly: builders with an object per node are too slow for millions. */
export function snapshotOf(
  nodeCount: number,
  edgesOf: (node: number) => number[],
  strings = ['', 'Link', 'next'],
  separator = ',',
  typeAndSizeOf: (node: number) => [number, number] = () => [3, 16],
): Buffer {
  const nodes: string[] = [];
  const edges: string[] = [];
  let edgeCount = 0;
  for (let node = 0; node < nodeCount; node++) {
    const targets = edgesOf(node);
    edgeCount += targets.length;
    const [type, size] = node === 0 ? [9, 16] : typeAndSizeOf(node);
    nodes.push(`${type},${node === 0 ? 0 : 1},${2 * node + 1},${size},${targets.length},0`);
    for (const target of targets) edges.push(`${node === 0 ? 5 : 2},2,${6 * target}`);
  }
  const meta = {
    node_fields: ['type', 'name', 'id', 'self_size', 'edge_count', 'detachedness'],
    node_types: [
      ['hidden', 'array', 'string', 'object', 'code', 'closure', 'regexp', 'number', 'native', 'synthetic'],
    ],
    edge_fields: ['type', 'name_or_index', 'to_node'],
    edge_types: [['context', 'element', 'property', 'internal', 'hidden', 'shortcut', 'weak']],
  };
  const header = JSON.stringify({ meta, node_count: nodeCount, edge_count: edgeCount });
  return Buffer.concat([
    Buffer.from(`{"snapshot":${header},"nodes":[`),
    Buffer.from(nodes.join(separator)),
    Buffer.from('],"edges":['),
    Buffer.from(edges.join(separator)),
    Buffer.from(`],\n"trace_function_infos":[],\n"strings":${JSON.stringify(strings)}}`),
  ]);
}
