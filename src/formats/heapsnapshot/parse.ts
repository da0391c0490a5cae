/**
 * A drop-in replacement for `parse` of npm's heapsnapshot-parser 0.1.0. Returns the same structure, created lazily from the
 * columns, so that a node only takes memory once it is accessed. Differences: element and hidden edges keep their index as a
 * number (the package looks it up in the strings, which returns unrelated text), and files of any size can be read.
 */

import { EdgeType, edgeTypeNames } from './layout.ts';
import { readHeapSnapshot, readHeapSnapshotSync, type SnapshotInput } from './read.ts';
import { RetainerIndex } from './retainer-index.ts';
import type { HeapSnapshot } from './snapshot.ts';

export interface ParseOptions {
  reporter?(progress: { message: string }): void;
}

const longestName = 40;

/** @param snapshot text or bytes of a .heapsnapshot, or the object that JSON.parse returned for it. */
export function parse(snapshot: string | Uint8Array | object, options: ParseOptions = {}): ParsedSnapshot {
  options.reporter?.({ message: 'Parsing nodes' });
  const text =
    typeof snapshot === 'object' && !(snapshot instanceof Uint8Array) ? JSON.stringify(snapshot) : snapshot;
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  return new ParsedSnapshot(readHeapSnapshotSync(bytes));
}

/** Like `parse`, for a path (plain or gzip) or a stream of any size. */
export async function parseFile(input: SnapshotInput): Promise<ParsedSnapshot> {
  return new ParsedSnapshot(await readHeapSnapshot(input));
}

export class ParsedSnapshot {
  readonly nodes: readonly ParsedNode[];
  readonly edges: readonly ParsedEdge[];
  /** By V8's id. */
  readonly nodesById: Readonly<Record<number, ParsedNode>>;
  readonly #snapshot: HeapSnapshot;
  readonly #nodes = new Map<number, ParsedNode>();
  readonly #edges = new Map<number, ParsedEdge>();
  #retainers: RetainerIndex | undefined;
  #rowsById: Map<number, number> | undefined;

  constructor(snapshot: HeapSnapshot) {
    this.#snapshot = snapshot;
    this.nodes = lazyArray(snapshot.nodes.count, (row) => this.node(row));
    this.edges = lazyArray(snapshot.edges.count, (row) => this.edge(row));
    this.nodesById = lazyRecord(this.#rows.bind(this), (row) => this.node(row));
  }

  node(row: number): ParsedNode {
    const known = this.#nodes.get(row) ?? new ParsedNode(this, this.#snapshot, row);
    this.#nodes.set(row, known);
    return known;
  }

  edge(row: number): ParsedEdge {
    const known = this.#edges.get(row) ?? new ParsedEdge(this, this.#snapshot, row);
    this.#edges.set(row, known);
    return known;
  }

  /** Edges by target; created on first use. */
  get retainers(): RetainerIndex {
    this.#retainers ??= new RetainerIndex(this.#snapshot.nodes, this.#snapshot.edges);
    return this.#retainers;
  }

  #rows(): Map<number, number> {
    this.#rowsById ??= new Map(
      Array.from({ length: this.#snapshot.nodes.count }, (_, row) => [this.#snapshot.nodes.id.get(row), row]),
    );
    return this.#rowsById;
  }
}

export class ParsedNode {
  readonly type: string;
  readonly name: string;
  readonly id: number;
  readonly self_size: number;
  readonly edge_count: number;
  readonly trace_node_id: number;
  readonly detachedness: number;
  readonly #owner: ParsedSnapshot;
  readonly #first: number;
  readonly #row: number;

  constructor(owner: ParsedSnapshot, snapshot: HeapSnapshot, row: number) {
    const { nodes } = snapshot;
    this.#owner = owner;
    this.#row = row;
    this.#first = nodes.firstEdge[row]!;
    this.type = snapshot.nodeTypeName(row);
    this.name = snapshot.nodeName(row);
    this.id = nodes.id.get(row);
    this.self_size = nodes.selfSize.get(row);
    this.edge_count = nodes.firstEdge[row + 1]! - this.#first;
    this.trace_node_id = nodes.traceNodeId?.[row] ?? 0;
    this.detachedness = nodes.detachedness?.[row] ?? 0;
  }

  get references(): ParsedEdge[] {
    return Array.from({ length: this.edge_count }, (_, at) => this.#owner.edge(this.#first + at));
  }

  get referrers(): ParsedEdge[] {
    return Array.from(this.#owner.retainers.to(this.#row), (edge) => this.#owner.edge(edge));
  }

  /** The target of the edge with this name and type, or null. */
  getProperty(name: string | number, edgeType = 'property'): ParsedNode | null {
    for (let at = 0; at < this.edge_count; at++) {
      const edge = this.#owner.edge(this.#first + at);
      if (edge.type === edgeType && edge.name === name) return edge.toNode;
    }
    return null;
  }

  toShortString(): string {
    return `(${this.type}) ${shortName(this.type, this.name)} @${this.id}`;
  }

  toString(): string {
    const line = (edge: ParsedEdge, words: string, other: ParsedNode): string =>
      `    (${edge.type}) ${edge.name_or_index}: ${words}${other.toShortString()}`;
    const references = this.references.map((edge) => line(edge, '', edge.toNode)).join('\n');
    const referrers = this.referrers.map((edge) => line(edge, 'from ', edge.fromNode)).join('\n');
    return `${this.toShortString()}\nself-size: ${this.self_size} bytes\nreferences:\n${references}\nreferrers:\n${referrers}`;
  }
}

function shortName(type: string, name: string): string {
  if (type !== 'string') return name.length > longestName + 2 ? '' : name;
  const text = name.replaceAll('\n', '\\n');
  return `"${text.length > longestName ? `${text.slice(0, longestName - 3)}...` : text}"`;
}

export class ParsedEdge {
  readonly type: string;
  readonly name_or_index: string | number;
  readonly name: string | number;
  readonly toNodeIndex: number;
  readonly #owner: ParsedSnapshot;
  readonly #row: number;

  constructor(owner: ParsedSnapshot, snapshot: HeapSnapshot, row: number) {
    const type = snapshot.edgeType(row);
    const value = snapshot.edges.nameOrIndex.get(row);
    const isIndex = type === EdgeType.element || type === EdgeType.hidden;
    this.#owner = owner;
    this.#row = row;
    this.type = edgeTypeNames[type] ?? 'internal';
    this.name_or_index = isIndex ? value : snapshot.strings.get(value);
    this.name = this.name_or_index;
    this.toNodeIndex = snapshot.edgeTarget(row);
  }

  get toNode(): ParsedNode {
    return this.#owner.node(this.toNodeIndex);
  }

  get fromNode(): ParsedNode {
    return this.#owner.node(this.#owner.retainers.sourceOf(this.#row));
  }

  toString(): string {
    return `${this.name_or_index} (${this.type}) - from ${this.fromNode.toShortString()} to ${this.toNode.toShortString()}`;
  }
}

const rowNumber = (key: string | symbol): number =>
  typeof key === 'string' && /^\d+$/.test(key) ? Number(key) : -1;

/** Behaves like a frozen array of `length` items, each of which is created on first access. */
function lazyArray<Item>(length: number, make: (row: number) => Item): readonly Item[] {
  return new Proxy<Item[]>([], {
    get(target, key, receiver) {
      if (key === 'length') return length;
      const row = rowNumber(key);
      if (row >= 0) return row < length ? make(row) : undefined;
      return Reflect.get(target, key, receiver);
    },
    has(target, key) {
      const row = rowNumber(key);
      return row >= 0 ? row < length : Reflect.has(target, key);
    },
    set: () => false,
  });
}

function lazyRecord<Item>(
  rows: () => Map<number, number>,
  make: (row: number) => Item,
): Record<number, Item> {
  return new Proxy<Record<number, Item>>(Object.create(null), {
    get(_, key) {
      const row = rows().get(rowNumber(key));
      return row === undefined ? undefined : make(row);
    },
    has: (_, key) => rows().has(rowNumber(key)),
    ownKeys: () => [...rows().keys()].map(String),
    getOwnPropertyDescriptor(_, key) {
      const row = rows().get(rowNumber(key));
      return row === undefined ? undefined : { value: make(row), enumerable: true, configurable: true };
    },
  });
}
