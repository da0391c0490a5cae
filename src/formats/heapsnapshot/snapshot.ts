/**
 * A heap snapshot in memory: columns, strings, locations. Resolves numbers to names; does no graph analysis.
 */
import type { EdgeColumns, NodeColumns } from './columns.ts';
import { EdgeType, edgeTargetMask, edgeTypeNames, edgeTypeShift } from './layout.ts';
import type { SnapshotHeader } from './sections/header.ts';
import type { Locations, SourcePlace } from './sections/locations.ts';
import { findSharedTargets, sharedTargetBytes } from './sections/shared-targets.ts';
import type { StringTable } from './sections/string-table.ts';
import type { TraceTree } from './sections/trace-tree.ts';

/** What is missing in a cut or damaged file. */
export interface SnapshotGap {
  section: 'nodes' | 'edges' | 'strings' | 'tail';
  reason: string;
}

export interface SnapshotParts {
  header: SnapshotHeader;
  nodes: NodeColumns;
  edges: EdgeColumns;
  strings: StringTable;
  locations: Locations;
  traceTree: TraceTree;
  /** Flat rows with the fields of meta.trace_function_info_fields. */
  traceFunctions: Float64Array;
  /** Flat rows with the fields of meta.sample_fields. */
  samples: Float64Array;
  gaps: SnapshotGap[];
  /** Size of the input in bytes, compressed if it was; undefined for a stream. */
  sizeBytes: number | undefined;
  /** Path of a file that is not compressed. */
  plainPath: string | undefined;
  /** If a second thread finds the shared targets: waits for them; undefined if it failed. */
  sharedTargets?: (() => Uint8Array | undefined) | undefined;
  close(): void;
}

export class HeapSnapshot {
  readonly header: SnapshotHeader;
  readonly nodes: NodeColumns;
  readonly edges: EdgeColumns;
  readonly strings: StringTable;
  readonly locations: Locations;
  readonly traceTree: TraceTree;
  readonly traceFunctions: Float64Array;
  readonly samples: Float64Array;
  readonly gaps: readonly SnapshotGap[];
  readonly sizeBytes: number | undefined;
  readonly plainPath: string | undefined;
  readonly #close: () => void;
  readonly #awaitShared: (() => Uint8Array | undefined) | undefined;
  #isShared: Uint8Array | undefined;

  constructor(parts: SnapshotParts) {
    this.header = parts.header;
    this.nodes = parts.nodes;
    this.edges = parts.edges;
    this.strings = parts.strings;
    this.locations = parts.locations;
    this.traceTree = parts.traceTree;
    this.traceFunctions = parts.traceFunctions;
    this.samples = parts.samples;
    this.gaps = parts.gaps;
    this.sizeBytes = parts.sizeBytes;
    this.plainPath = parts.plainPath;
    this.#close = parts.close;
    this.#awaitShared = parts.sharedTargets;
  }

  /** Closes the file. Strings that were not decoded yet can't be read afterwards. */
  close(): void {
    this.#close();
  }

  [Symbol.dispose](): void {
    this.#close();
  }

  /** Whether the graph is complete, so that reachability and retained sizes are valid. */
  get hasAllEdges(): boolean {
    return !this.gaps.some((gap) => gap.section === 'edges');
  }

  /** One bit by ordinal: whether more than one edge of any type leads to the node. */
  get sharedTargets(): Uint8Array {
    this.#isShared ??= this.#awaitShared?.() ?? this.#findShared();
    return this.#isShared;
  }

  #findShared(): Uint8Array {
    const isShared = new Uint8Array(sharedTargetBytes(this.nodes.count));
    findSharedTargets(this.edges.packed, this.edges.count, this.nodes.count, isShared);
    return isShared;
  }

  nodeName(ordinal: number): string {
    return this.strings.get(this.nodes.name[ordinal]!);
  }

  nodeTypeName(ordinal: number): string {
    return this.header.nodeTypeNames[this.nodes.type[ordinal]!]!;
  }

  location(ordinal: number): SourcePlace | undefined {
    return this.locations.find(ordinal);
  }

  edgeTarget(edge: number): number {
    return this.edges.packed[edge]! & edgeTargetMask;
  }

  edgeType(edge: number): number {
    return this.edges.packed[edge]! >>> edgeTypeShift;
  }

  edgeTypeName(edge: number): string {
    return edgeTypeNames[this.edgeType(edge)] ?? 'internal';
  }

  /** Name of a property, variable or slot; for elements the index as text. */
  edgeName(edge: number): string {
    const value = this.edges.nameOrIndex.get(edge);
    const type = this.edgeType(edge);
    return type === EdgeType.element || type === EdgeType.hidden ? String(value) : this.strings.get(value);
  }

  /** Ordinal of the node with V8's id, or -1. */
  findById(id: number): number {
    return this.nodes.id.find(id, this.nodes.count);
  }
}
