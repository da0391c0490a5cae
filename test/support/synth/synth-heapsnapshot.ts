/**
 * Builds heap snapshots for tests. Restates V8's layout on purpose, so that reader and test can't share a mistake.
 */
export interface SynthNode {
  type?: string;
  name?: string;
  id?: number;
  size?: number;
  trace?: number;
  detachedness?: number;
}

export interface SynthLayout {
  nodeFields?: string[];
  edgeFields?: string[];
  /**
   * `lines`: a newline before each record's comma, like Node 20 and 22; `flat`: like Node 24; `pretty`: white space
   * everywhere.
   */
  style?: 'lines' | 'flat' | 'pretty';
  locations?: number[][];
  traceTree?: unknown;
  traceFunctions?: number[];
  extra?: Record<string, unknown>;
  rootIndex?: number;
}

const nodeTypes = [
  'hidden', 'array', 'string', 'object', 'code', 'closure', 'regexp', 'number', 'native', 'synthetic',
  'concatenated string', 'sliced string', 'symbol', 'bigint', 'object shape',
]; // biome-ignore format: one line a kind would hide the order
const edgeTypes = ['context', 'element', 'property', 'internal', 'hidden', 'shortcut', 'weak'];

export class SynthSnapshot {
  readonly nodes: Required<SynthNode>[] = [];
  readonly edges: { from: number; type: string; name: string | number; to: number }[] = [];
  readonly strings: string[] = ['<dummy>'];
  readonly #stringIndex = new Map<string, number>([['<dummy>', 0]]);

  /** Returns the node's ordinal. */
  node(node: SynthNode = {}): number {
    const ordinal = this.nodes.length;
    this.nodes.push({
      type: node.type ?? 'object',
      name: node.name ?? 'Object',
      id: node.id ?? ordinal * 2 + 1,
      size: node.size ?? 16,
      trace: node.trace ?? 0,
      detachedness: node.detachedness ?? 0,
    });
    return ordinal;
  }

  edge(
    from: number,
    to: number,
    name: string | number = 'a',
    type = typeof name === 'number' ? 'element' : 'property',
  ): this {
    this.edges.push({ from, type, name, to });
    return this;
  }

  /** Index of a string, which is added if necessary. */
  string(text: string): number {
    const known = this.#stringIndex.get(text);
    if (known !== undefined) return known;
    this.#stringIndex.set(text, this.strings.length);
    return this.strings.push(text) - 1;
  }

  /** The object that V8 would write; edges are sorted by their source, with a stable sort. */
  toObject(layout: SynthLayout = {}): Record<string, unknown> {
    const nodeFields = layout.nodeFields ?? ['type', 'name', 'id', 'self_size', 'edge_count', 'detachedness'];
    const edgeFields = layout.edgeFields ?? ['type', 'name_or_index', 'to_node'];
    const bySource = this.nodes.map(() => [] as (typeof this.edges)[number][]);
    for (const edge of this.edges) bySource[edge.from]!.push(edge);
    const nodes = this.nodes.flatMap((node, ordinal) => {
      const values: Record<string, number> = {
        type: nodeTypes.indexOf(node.type),
        name: this.string(node.name),
        id: node.id,
        self_size: node.size,
        edge_count: bySource[ordinal]!.length,
        trace_node_id: node.trace,
        detachedness: node.detachedness,
      };
      return nodeFields.map((field) => values[field] ?? 0);
    });
    const edges = bySource.flat().flatMap((edge) => {
      const values: Record<string, number> = {
        type: edgeTypes.indexOf(edge.type),
        name_or_index: typeof edge.name === 'number' ? edge.name : this.string(edge.name),
        to_node: edge.to * nodeFields.length,
      };
      return edgeFields.map((field) => values[field] ?? 0);
    });
    const typesAt = <Types>(fields: string[], types: Types): (Types | string)[] =>
      fields.map((field) => (field === 'type' ? types : field === 'name' ? 'string' : 'number'));
    return {
      snapshot: {
        meta: {
          node_fields: nodeFields,
          node_types: typesAt(nodeFields, nodeTypes),
          edge_fields: edgeFields,
          edge_types: typesAt(edgeFields, edgeTypes),
          trace_function_info_fields: ['function_id', 'name', 'script_name', 'script_id', 'line', 'column'],
          trace_node_fields: ['id', 'function_info_index', 'count', 'size', 'children'],
          sample_fields: ['timestamp_us', 'last_assigned_id'],
          location_fields: ['object_index', 'script_id', 'line', 'column'],
        },
        node_count: this.nodes.length,
        edge_count: this.edges.length,
        trace_function_count: (layout.traceFunctions?.length ?? 0) / 6,
        ...(layout.rootIndex === undefined ? {} : { root_index: layout.rootIndex }),
      },
      nodes,
      edges,
      trace_function_infos: layout.traceFunctions ?? [],
      trace_tree: layout.traceTree ?? [],
      samples: [],
      locations: (layout.locations ?? []).flatMap(([ordinal = 0, ...rest]) => [
        ordinal * nodeFields.length,
        ...rest,
      ]),
      ...layout.extra,
      strings: this.strings,
    };
  }

  toBuffer(layout: SynthLayout = {}): Buffer {
    const object = this.toObject(layout);
    if (layout.style === 'pretty') return Buffer.from(JSON.stringify(object, null, 2));
    const records = (key: string, fields: number): string => {
      const values = object[key] as number[];
      if (layout.style !== 'lines') return `[${values.join(',')}]`;
      const rows = Array.from({ length: values.length / fields }, (_, row) =>
        values.slice(row * fields, (row + 1) * fields).join(','),
      );
      return `[${rows.join('\n,')}]`;
    };
    const meta = (object['snapshot'] as { meta: Record<string, string[]> }).meta;
    const rest = Object.entries(object).filter(
      ([key]) => !['snapshot', 'nodes', 'edges', 'strings'].includes(key),
    );
    return Buffer.from(
      [
        `{"snapshot":${JSON.stringify(object['snapshot'])},\n"nodes":${records('nodes', meta['node_fields']!.length)}`,
        `"edges":${records('edges', meta['edge_fields']!.length)}`,
        ...rest.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`),
        `"strings":[${this.strings.map(asciiJson).join(layout.style === 'lines' ? ',\n' : ',')}]}`,
      ].join(',\n'),
    );
  }
}

/** V8 escapes everything above 0x7f. */
function asciiJson(text: string): string {
  return JSON.stringify(text).replace(
    /[\u0080-\uffff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** What every real snapshot starts with: a root, the program's global object as a shortcut below it, and GC roots. */
export function synthProgram(): { snapshot: SynthSnapshot; root: number; global: number; gcRoots: number } {
  const snapshot = new SynthSnapshot();
  const root = snapshot.node({ type: 'synthetic', name: '', size: 0 });
  const gcRoots = snapshot.node({ type: 'synthetic', name: '(GC roots)', size: 0 });
  const global = snapshot.node({ type: 'object', name: 'global', size: 64 });
  snapshot.edge(root, gcRoots, 1).edge(root, global, 'global', 'shortcut').edge(gcRoots, global, 2);
  return { snapshot, root, global, gcRoots };
}
