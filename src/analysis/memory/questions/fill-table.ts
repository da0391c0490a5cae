/** The fill of all collections of a heap: by class, with who holds them, and those that waste most. */
import type { HeapFillRow, HeapFillTable } from '../../../model/heap.ts';
import type { Heap } from '../heap.ts';
import { type Fill, FillReader, wastedBytes } from './fill.ts';
import { NearestHolders } from './nearest-holders.ts';
import { pathText, shortPath } from './paths.ts';

/** Collections of one class and kind. */
class Sums {
  readonly of: string;
  readonly kind: Fill['kind'];
  count = 0;
  empty = 0;
  unknown = 0;
  unknownBytes = 0;
  capacity = 0;
  used = 0;
  capacityBytes = 0;
  wastedBytes = 0;
  readonly wasteful: number[] = [];

  constructor(of: string, kind: Fill['kind']) {
    this.of = of;
    this.kind = kind;
  }

  add(node: number, fill: Fill): void {
    const bytes = fill.capacity * fill.entryBytes;
    this.count++;
    this.capacityBytes += bytes;
    if (fill.used === undefined) {
      this.unknown++;
      this.unknownBytes += bytes;
      return;
    }
    const wasted = wastedBytes(fill);
    this.capacity += fill.capacity;
    this.used += fill.used;
    this.wastedBytes += wasted;
    if (fill.used === 0) this.empty++;
    if (wasted > 0) this.wasteful.push(node);
  }

  row(heap: Heap): HeapFillRow {
    const holders = new NearestHolders(heap);
    for (const node of this.wasteful) holders.add(node);
    return {
      class: this.of,
      kind: this.kind,
      count: this.count,
      empty: this.empty,
      unknown: this.unknown,
      capacity: this.capacity,
      used: this.used,
      fill: this.capacity ? this.used / this.capacity : null,
      capacityBytes: this.capacityBytes,
      wastedBytes: this.wastedBytes,
      holders: holders.rows(),
    };
  }
}

export function computeFillTable(heap: Heap, limit: number): HeapFillTable {
  const { groups, largest } = readAll(heap, limit);
  const sum = (of: 'count' | 'unknown' | 'unknownBytes' | 'capacityBytes' | 'wastedBytes'): number =>
    groups.reduce((total, group) => total + group[of], 0);
  const ordered = groups.sort((a, b) => b.wastedBytes - a.wastedBytes || b.capacityBytes - a.capacityBytes);
  return {
    collections: sum('count'),
    capacityBytes: sum('capacityBytes'),
    wastedBytes: sum('wastedBytes'),
    unknown: sum('unknown'),
    unknownBytes: sum('unknownBytes'),
    classCount: groups.length,
    classes: ordered.slice(0, limit).map((group) => group.row(heap)),
    largest: largest.map(({ node, fill }) => ({
      id: heap.snapshot.nodes.id.get(node),
      class: heap.className(node),
      kind: fill.kind,
      capacity: fill.capacity,
      used: fill.used!,
      wastedBytes: wastedBytes(fill),
      path: shortPath(pathText(heap, node)),
    })),
  };
}

interface Read {
  node: number;
  fill: Fill;
}

function readAll(heap: Heap, limit: number): { groups: Sums[]; largest: Read[] } {
  const reader = new FillReader(heap);
  const groups = new Map<string, Sums>();
  /** Arrays that are literals or copies of each other may share a store until one of them is changed. */
  const isRead = new Uint8Array(heap.nodeCount);
  let largest: Read[] = [];
  let least = 0;
  const keepLargest = (): void => {
    largest = largest
      .sort((a, b) => wastedBytes(b.fill) - wastedBytes(a.fill) || a.node - b.node)
      .slice(0, limit);
    if (largest.length === limit) least = wastedBytes(largest.at(-1)!.fill);
  };
  for (let node = 0; node < heap.nodeCount; node++)
    for (const fill of reader.of(node)) {
      if (isRead[fill.store]) continue;
      isRead[fill.store] = 1;
      groupOf(heap, groups, node, fill).add(node, fill);
      if (wastedBytes(fill) > least) largest.push({ node, fill });
      if (largest.length >= 4 * limit + 64) keepLargest();
    }
  keepLargest();
  return { groups: [...groups.values()], largest };
}

function groupOf(heap: Heap, groups: Map<string, Sums>, node: number, { kind }: Fill): Sums {
  const key = `${heap.classes.of[node]} ${kind}`;
  const group = groups.get(key) ?? new Sums(heap.className(node), kind);
  groups.set(key, group);
  return group;
}
