/**
 * Shares a snapshot with a second thread: the same columns, the same file. Possible if the columns are in shared memory and
 * the strings can be read again from a plain file.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { type EdgeColumns, NameColumn, type NodeColumns, SizeColumn } from './columns.ts';
import type { SnapshotHeader } from './sections/header.ts';
import { IdColumn, type IdColumnParts } from './sections/id-column.ts';
import { Locations, type SourcePlace } from './sections/locations.ts';
import { StringTable } from './sections/string-table.ts';
import { TraceTree } from './sections/trace-tree.ts';
import { HeapSnapshot } from './snapshot.ts';

/** Plain data; the large arrays are shared, not copied. */
export interface SharedSnapshot {
  path: string;
  header: SnapshotHeader;
  nodes: Omit<NodeColumns, 'selfSize' | 'id'> & {
    ids: IdColumnParts;
    sizes: Uint32Array;
    wideSizes: [number, number][];
  };
  edges: { count: number; packed: Uint32Array; low: Uint16Array; high: Uint8Array };
  strings: { starts: Float64Array; ephemeronNames: readonly number[]; base: number };
  locations: { placeOf: Uint16Array | Uint32Array; places: readonly (SourcePlace | undefined)[] };
}

/** Undefined if a second thread would need a copy. */
export function shareSnapshot(snapshot: HeapSnapshot): SharedSnapshot | undefined {
  const { header, nodes, edges, strings, locations, plainPath } = snapshot;
  if (plainPath === undefined || !snapshot.hasAllEdges || edges.nameOrIndex.hasWide) return undefined;
  if (!(edges.packed.buffer instanceof SharedArrayBuffer)) return undefined;
  const { selfSize, id, ...columns } = nodes;
  return {
    path: plainPath,
    header,
    nodes: { ...columns, ids: id.parts(), sizes: selfSize.narrow, wideSizes: [...selfSize.wideRows()] },
    edges: {
      count: edges.count,
      packed: edges.packed,
      low: edges.nameOrIndex.low,
      high: edges.nameOrIndex.high,
    },
    strings: strings.layout(),
    locations: { placeOf: locations.placeOf, places: locations.places },
  };
}

/** For the second thread. The caller closes the snapshot. */
export function openShared(shared: SharedSnapshot): HeapSnapshot {
  const fd = openSync(shared.path, 'r');
  const random = {
    read(from: number, to: number, bytes = Buffer.allocUnsafe(to - from)): Buffer {
      return bytes.subarray(0, readSync(fd, bytes, 0, to - from, from));
    },
  };
  const { ids, sizes, wideSizes, ...columns } = shared.nodes;
  const selfSize = new SizeColumn(sizes);
  for (const [row, bytes] of wideSizes) selfSize.set(row, bytes);
  const { starts, ephemeronNames, base } = shared.strings;
  const edges: EdgeColumns = {
    count: shared.edges.count,
    packed: shared.edges.packed,
    nameOrIndex: new NameColumn(shared.edges.low, shared.edges.high),
  };
  return new HeapSnapshot({
    header: shared.header,
    nodes: { ...columns, id: new IdColumn(ids.words, ids.firsts), selfSize },
    edges,
    strings: new StringTable(starts, ephemeronNames, random, base),
    locations: new Locations(shared.locations.placeOf, shared.locations.places),
    traceTree: new TraceTree(),
    traceFunctions: new Float64Array(0),
    samples: new Float64Array(0),
    gaps: [],
    sizeBytes: undefined,
    plainPath: shared.path,
    close: () => closeSync(fd),
  });
}
