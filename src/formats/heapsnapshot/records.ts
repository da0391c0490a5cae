/**
 * Reads a graph that is in memory already: its records go into the columns as they are, without the text of a file in
 * between. Only the strings are text, because they are redacted as text.
 */
import {
  type Allocator,
  createEdgeColumns,
  createNodeColumns,
  type EdgeColumns,
  type NodeColumns,
} from './columns.ts';
import { edgeTargetMask, edgeTypeShift } from './layout.ts';
import { KeptBytes } from './scan/kept-bytes.ts';
import { ScanKernel, sentinelBytes, windowBytes } from './scan/scan-kernel.ts';
import type { SnapshotHeader } from './sections/header.ts';
import { Locations, type SourcePlace } from './sections/locations.ts';
import { StringIndex } from './sections/string-index.ts';
import { StringTable } from './sections/string-table.ts';
import { TraceTree } from './sections/trace-tree.ts';
import { HeapSnapshot } from './snapshot.ts';

const idsAtOnce = 1 << 10;
/** Places whose numbers take two bytes. */
const mostNarrow = 1 << 16;

/** Nodes in columns; `types` and `names`: as in a file. Valid until the next are asked for. */
export interface NodeRecords {
  count: number;
  types: Uint8Array;
  names: Uint32Array;
  sizes: Float64Array;
  edgeCounts: Uint32Array;
}

/** `packed`: `type << 29 | ordinal of the target`. */
export interface EdgeRecords {
  count: number;
  packed: Uint32Array;
  names: Uint32Array;
}

/** Nodes, and the numbers of their places. Valid until the next are asked for. */
export interface LocationsOfNodes {
  count: number;
  nodes: Uint32Array;
  places: Uint32Array;
}

export interface SnapshotRecords {
  /** The `snapshot` object of a file. */
  readonly head: Record<string, unknown>;
  /** Asked for once, in this order. */
  nodes(): Iterable<NodeRecords>;
  edges(): Iterable<EdgeRecords>;
  /** `places`: receives each place, from number 0, which stands for none, before it is used. */
  locations(places: (SourcePlace | undefined)[]): Iterable<LocationsOfNodes>;
  /** By ordinal. */
  idOfNode(node: number): number;
  /** The bytes of the list of strings, without its opening bracket and with the closing one. */
  strings(): Iterable<Buffer>;
  close(): void;
}

export const isRecords = (input: object): input is SnapshotRecords => 'head' in input;

export function readRecords(
  records: SnapshotRecords,
  header: SnapshotHeader,
  memory: Allocator,
): HeapSnapshot {
  try {
    const nodes = fillNodes(records, header, memory);
    const edges = fillEdges(records, header, memory);
    const locations = readLocations(records, header, memory);
    const strings = readStrings(records.strings());
    return new HeapSnapshot({
      header,
      nodes,
      edges,
      strings,
      locations,
      traceTree: new TraceTree(),
      traceFunctions: new Float64Array(0),
      samples: new Float64Array(0),
      gaps: [],
      sizeBytes: undefined,
      plainPath: undefined,
      close: () => {},
    });
  } finally {
    records.close();
  }
}

function fillNodes(records: SnapshotRecords, header: SnapshotHeader, memory: Allocator): NodeColumns {
  const columns = createNodeColumns(header.nodeCount, memory);
  const { type: types, name: names, selfSize, firstEdge } = columns;
  const sizes = selfSize.narrow;
  const codes = header.nodeTypeCodes;
  const ids = new Uint32Array(idsAtOnce);
  let row = 0;
  let edges = 0;
  for (const { count, types: kinds, names: texts, sizes: bytes, edgeCounts } of records.nodes())
    for (let i = 0; i < count; i++) {
      types[row] = codes[kinds[i]!]!;
      names[row] = texts[i]!;
      ids[row & (idsAtOnce - 1)] = records.idOfNode(row);
      if (bytes[i]! < 0xffffffff) sizes[row] = bytes[i]!;
      else selfSize.set(row, bytes[i]!);
      firstEdge[row++] = edges;
      edges += edgeCounts[i]!;
      if ((row & (idsAtOnce - 1)) === 0) columns.id.fill(row - idsAtOnce, ids);
    }
  const left = row & (idsAtOnce - 1);
  columns.id.fill(row - left, ids.subarray(0, left));
  firstEdge[row] = edges;
  return columns;
}

function fillEdges(records: SnapshotRecords, header: SnapshotHeader, memory: Allocator): EdgeColumns {
  const columns = createEdgeColumns(header.edgeCount, memory);
  const { packed, nameOrIndex } = columns;
  const { low, high } = nameOrIndex;
  const codes = header.edgeTypeCodes;
  let row = 0;
  for (const { count, packed: from, names } of records.edges())
    for (let i = 0; i < count; i++) {
      const value = from[i]!;
      packed[row] = (codes[value >>> edgeTypeShift]! << edgeTypeShift) | (value & edgeTargetMask);
      const name = names[i]!;
      if (name < 0xffffff) {
        low[row] = name;
        high[row] = name >>> 16;
      } else nameOrIndex.set(row, name);
      row++;
    }
  return columns;
}

function readLocations(records: SnapshotRecords, header: SnapshotHeader, memory: Allocator): Locations {
  let placeOf: Uint16Array | Uint32Array = memory.halves(header.nodeCount, 'place');
  const places: (SourcePlace | undefined)[] = [];
  for (const { count, nodes, places: numbers } of records.locations(places)) {
    if (places.length > mostNarrow && placeOf instanceof Uint16Array) placeOf = Uint32Array.from(placeOf);
    for (let i = 0; i < count; i++) placeOf[nodes[i]!] = numbers[i]!;
  }
  return new Locations(placeOf, places);
}

function readStrings(pieces: Iterable<Buffer>): StringTable {
  const [window, index, kept] = [ScanKernel.window(), new StringIndex(), new KeptBytes()];
  let [filled, base] = [0, 0];
  const scan = () => {
    window.fill(0, filled, filled + sentinelBytes);
    const taken = index.scan(window, 0, filled, base, true);
    kept.append(window.subarray(0, taken));
    window.copyWithin(0, taken, filled);
    filled -= taken;
    base += taken;
  };
  for (const piece of pieces)
    for (let from = 0; from < piece.length; ) {
      const copied = piece.copy(window, filled, from, from + windowBytes - filled);
      filled += copied;
      from += copied;
      if (filled === windowBytes) scan();
    }
  scan();
  return new StringTable(index.starts, index.ephemeronNames, kept, 0);
}
