/** The heap at a glance: totals, DevTools' statistics, shares by kind, class, package and file. */
import { EdgeType, NodeType, type SizeColumn } from '../../../formats/heapsnapshot/index.ts';
import type { HeapClassRow, HeapShareRow, HeapSummary } from '../../../model/heap.ts';
import { noDistance } from '../graph/distances.ts';
import { findShared } from '../graph/shared-nodes.ts';
import type { Heap } from '../heap.ts';
import { isStringType } from './node-rows.ts';
import { packageOf, sourceOf } from './scripts.ts';

export type ClassOrder = 'retained' | 'self' | 'count' | 'name';

export function computeSummary(heap: Heap, limit: number): Omit<HeapSummary, 'schema' | 'source' | 'gaps'> {
  const { snapshot } = heap;
  if (!snapshot.hasAllEdges) return partialSummary(heap);
  const places = sharesBySource(heap);
  const sums = sumsByType(heap, heap.selfSize);
  return {
    nodes: heap.nodeCount,
    edges: snapshot.edges.count,
    strings: snapshot.strings.count,
    totalBytes: heap.totalBytes,
    statistics: computeStatistics(heap, sums),
    byType: sharesByType(heap, sums),
    classes: classRows(heap, 'self').slice(0, limit),
    packages: places.packages.slice(0, limit),
    files: places.files.slice(0, limit),
    locatedBytes: places.bytes,
  };
}

/** For a file that was truncated in its edges: only what the nodes alone show. */
function partialSummary(heap: Heap): Omit<HeapSummary, 'schema' | 'source' | 'gaps'> {
  const { snapshot } = heap;
  const byType = sharesByType(heap, sumsByType(heap, snapshot.nodes.selfSize));
  const sizeOf = (...names: string[]): number =>
    byType.filter(({ name }) => names.includes(name)).reduce((sum, row) => sum + row.selfSizeBytes, 0);
  return {
    nodes: heap.nodeCount,
    edges: snapshot.edges.count,
    strings: snapshot.strings.count,
    totalBytes: byType.reduce((sum, row) => sum + row.selfSizeBytes, snapshot.header.extraNativeBytes),
    statistics: {
      nativeBytes: sizeOf('native') + snapshot.header.extraNativeBytes,
      typedArrayBytes: 0,
      codeBytes: sizeOf('code'),
      stringBytes: sizeOf('string', 'concatenated string', 'sliced string'),
      jsArrayBytes: 0,
      systemBytes: sizeOf('hidden'),
    },
    byType,
    classes: [],
    packages: [],
    files: [],
    locatedBytes: 0,
  };
}

export function classRows(heap: Heap, order: ClassOrder): HeapClassRow[] {
  const { count, selfSize, retainedSize, distance } = heap.aggregates;
  const rows = heap.classes.kinds.flatMap(({ name, place }, row): HeapClassRow[] => {
    if (count[row] === 0) return [];
    const source = sourceOf(heap, place);
    return [
      {
        class: name,
        count: count[row]!,
        selfSizeBytes: selfSize[row]!,
        retainedSizeBytes: retainedSize[row]!,
        distance: distance[row] === noDistance ? null : distance[row]!,
        ...(source ? { source } : {}),
      },
    ];
  });
  const value = (row: HeapClassRow): number =>
    order === 'retained' ? row.retainedSizeBytes : order === 'self' ? row.selfSizeBytes : row.count;
  if (order === 'name') return rows.sort((a, b) => (a.class < b.class ? -1 : 1));
  return rows.sort((a, b) => value(b) - value(a) || b.selfSizeBytes - a.selfSizeBytes);
}

/** As in DevTools' statistics view (calculateStatistics, chrome-devtools-frontend 1.0.1705227). */
export function computeStatistics(
  heap: Heap,
  sums = sumsByType(heap, heap.selfSize),
): HeapSummary['statistics'] {
  const { snapshot, selfSize } = heap;
  const { type, name, count } = snapshot.nodes;
  const data = snapshot.strings.findAscii('system / JSArrayBufferData');
  const array = snapshot.strings.findAscii('Array');
  const elements = snapshot.strings.findAscii('elements');
  const isShared = findShared(snapshot);
  const byType = sums.bytes;
  let typed = 0;
  let arrays = 0;
  for (let node = 0; node < count; node++) {
    const named = name[node]!;
    if (named !== array && named !== data) continue;
    const kind = type[node]!;
    if (kind === NodeType.native) typed += named === data ? selfSize.get(node) : 0;
    else if (named === array && kind !== NodeType.hidden && kind !== NodeType.code && !isStringType(kind))
      arrays += selfSize.get(node) + soleElementsSize(heap, node, elements, isShared);
  }
  return {
    nativeBytes: snapshot.header.extraNativeBytes + byType[NodeType.native]!,
    typedArrayBytes: typed,
    codeBytes: byType[NodeType.code]!,
    stringBytes: byType.reduce((sum, bytes, kind) => (isStringType(kind) ? sum + bytes : sum), 0),
    jsArrayBytes: arrays,
    systemBytes: byType[NodeType.hidden]!,
  };
}

interface TypeSums {
  counts: Float64Array;
  bytes: Float64Array;
}

/** By our type code. The loops are short, so that V8 compiles them early even for a small heap. */
function sumsByType(heap: Heap, selfSize: SizeColumn): TypeSums {
  const { type, count } = heap.snapshot.nodes;
  const { narrow } = selfSize;
  const counts = new Float64Array(256);
  const bytes = new Float64Array(256);
  for (let node = 0; node < count; node++) {
    counts[type[node]!]!++;
    bytes[type[node]!]! += narrow[node]!;
  }
  for (const [node, wide] of selfSize.wideRows()) bytes[type[node]!]! += wide - narrow[node]!;
  return { counts, bytes };
}

/** Bytes of an Array's elements that were not already moved to it, if nothing else refers to them. */
function soleElementsSize(heap: Heap, array: number, elementsName: number, isShared: Uint8Array): number {
  const { snapshot } = heap;
  const { nameOrIndex } = snapshot.edges;
  for (let edge = snapshot.nodes.firstEdge[array]!; edge < snapshot.nodes.firstEdge[array + 1]!; edge++) {
    if (snapshot.edgeType(edge) !== EdgeType.internal || nameOrIndex.get(edge) !== elementsName) continue;
    const elements = snapshot.edgeTarget(edge);
    const size = heap.selfSize.get(elements);
    return isShared[elements >>> 3]! & (1 << (elements & 7)) ? 0 : size;
  }
  return 0;
}

function sharesByType(heap: Heap, { counts, bytes }: TypeSums): HeapShareRow[] {
  const rows = heap.snapshot.header.nodeTypeNames.map((name, kind) => ({
    name,
    count: counts[kind]!,
    selfSizeBytes: bytes[kind]!,
  }));
  return bySize(rows.filter((row) => row.count > 0));
}

function sharesBySource(heap: Heap): { files: HeapShareRow[]; packages: HeapShareRow[]; bytes: number } {
  const { placeOf, places } = heap.snapshot.locations;
  const counts = new Float64Array(places.length);
  const sizes = new Float64Array(places.length);
  const { selfSize } = heap;
  for (let node = 0; node < placeOf.length; node++) {
    const place = placeOf[node]!;
    if (place === 0) continue;
    counts[place]!++;
    sizes[place]! += selfSize.get(node);
  }
  const files = new Map<string, HeapShareRow>();
  const packages = new Map<string, HeapShareRow>();
  for (const [row, place] of places.entries()) {
    const file = sourceOf(heap, place)?.file;
    if (file === undefined) continue;
    addTo(files, file, counts[row]!, sizes[row]!);
    addTo(packages, packageOf(file), counts[row]!, sizes[row]!);
  }
  return {
    files: bySize([...files.values()]),
    packages: bySize([...packages.values()]),
    bytes: sizes.reduce((a, b) => a + b, 0),
  };
}

function addTo(rows: Map<string, HeapShareRow>, name: string, count: number, bytes: number): void {
  const row = rows.get(name) ?? { name, count: 0, selfSizeBytes: 0 };
  row.count += count;
  row.selfSizeBytes += bytes;
  rows.set(name, row);
}

function bySize(rows: HeapShareRow[]): HeapShareRow[] {
  return rows.sort((a, b) => b.selfSizeBytes - a.selfSizeBytes || b.count - a.count);
}
