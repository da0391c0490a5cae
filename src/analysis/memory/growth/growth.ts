/**
 * What grew between two or more snapshots: by class, and by the objects below which it grew. Within one process objects keep
 * their ids, so that new, freed and grown objects can be distinguished; between processes they are matched by class and place
 * (growth-places.ts). Earlier snapshots are reduced to a digest, so that only one graph is in memory at a time.
 */

import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { HeapGrownNode, HeapGrowthRow } from '../../../model/heap.ts';
import { isGlobal } from '../graph/global-node.ts';
import type { Heap } from '../heap.ts';
import { largestRows } from '../questions/largest.ts';
import { nodeRow } from '../questions/node-rows.ts';
import { generalPath } from '../questions/paths.ts';
import { limitOf } from '../suspects/limits.ts';
import { isScope, largestVariable } from '../suspects/scope-variable.ts';
import { type AddedObjects, addedTo } from './added-objects.ts';
import { grownTogether, headOfChain, replacedBelow } from './grown-containers.ts';
import { computePlaces, grownPlaces, leastGrowth, type Places } from './growth-places.ts';
import { InheritedIds, ownerIds } from './inherited-ids.ts';
import { areOfOneProcess } from './one-process.ts';
import { rowsById } from './rows-by-id.ts';
import { sharedGrowth } from './shared-growth.ts';
import { toldOnce } from './told-once.ts';

const maxGrown = 1000;
/** A snapshot reduced to what a comparison needs: 17 bytes per node, 22 for the first one. */
export interface HeapDigest {
  totalBytes: number;
  nodes: number;
  hasLastingIds: boolean;
  classes: Map<string, { count: number; selfSize: number; retainedSize: number }>;
  /** Sorted; all nodes with a size. */
  ids: Uint32Array;
  retained: Float64Array;
  /** By row of `ids`. */
  types: Uint8Array;
  /** By row of `ids`: index in `classNames`. */
  classOf: Uint32Array;
  classNames: string[];
  /** By row of `ids`: the owner's id. Only for the first snapshot. */
  owners?: Uint32Array;
  /** By row of `ids`: whether it retained nothing but itself. Only for the first snapshot. */
  isEmpty?: Uint8Array;
  /** Only for the first snapshot, in case the last one is from another process, and where objects have no lasting ids. */
  places?: Places;
}

export interface Growth {
  snapshots: { totalBytes: number; nodes: number }[];
  classes: HeapGrowthRow[];
  grown: HeapGrownNode[];
  /** Share of the first snapshot's ids that also exist in the last. */
  commonShare: number;
  /**
   * How objects of the first snapshot were found in the last; `place` (class and retaining path) if they are from two
   * processes.
   */
  matchedBy: 'id' | 'place';
  /** False for heaps that were read from memory. */
  hasLastingIds: boolean;
}

/**
 * @param isFirst whether others are compared with it.
 * @param withPlaces the last one may be from another process, and this one will not be opened again.
 */
export function computeDigest(heap: Heap, isFirst = false, withPlaces = isFirst): HeapDigest {
  const { snapshot, aggregates, classes } = heap;
  const { ids, rows } = rowsById(snapshot);
  const byName = new Map<string, { count: number; selfSize: number; retainedSize: number }>();
  for (const [row, { name }] of classes.kinds.entries()) {
    const sums = byName.get(name) ?? { count: 0, selfSize: 0, retainedSize: 0 };
    sums.count += aggregates.count[row]!;
    sums.selfSize += aggregates.selfSize[row]!;
    sums.retainedSize += aggregates.retainedSize[row]!;
    byName.set(name, sums);
  }
  return {
    totalBytes: heap.totalBytes,
    nodes: heap.nodeCount,
    hasLastingIds: snapshot.header.hasLastingIds,
    classes: byName,
    ids,
    ...columnsOf(heap, rows),
    classNames: classes.kinds.map((kind) => kind.name),
    ...(isFirst ? { owners: ownerIds(heap, rows), isEmpty: emptyOnes(heap, rows) } : {}),
    ...(withPlaces || !snapshot.header.hasLastingIds ? { places: computePlaces(heap) } : {}),
  };
}

function columnsOf(heap: Heap, rows: Uint32Array): Pick<HeapDigest, 'retained' | 'types' | 'classOf'> {
  const { snapshot, classes } = heap;
  const retained = new Float64Array(rows.length);
  const types = new Uint8Array(rows.length);
  const classOf = new Uint32Array(rows.length);
  for (let at = 0; at < rows.length; at++) {
    const node = rows[at]!;
    retained[at] = heap.retained[node]!;
    types[at] = snapshot.nodes.type[node]!;
    classOf[at] = classes.of[node]!;
  }
  return { retained, types, classOf };
}

function emptyOnes({ retained, selfSize }: Heap, rows: Uint32Array): Uint8Array {
  const isEmpty = new Uint8Array(rows.length);
  for (let at = 0; at < rows.length; at++)
    isEmpty[at] = retained[rows[at]!]! > selfSize.get(rows[at]!) ? 0 : 1;
  return isEmpty;
}

/** The share of a class's new objects that don't replace freed ones. */
type NetShare = (className: string) => number;

/** @param last the last snapshot itself; `digests` ends with its digest. */
export function computeGrowth(digests: HeapDigest[], last: Heap, limit: number): Growth {
  const first = digests[0]!;
  const end = digests.at(-1)!;
  const { added, removed, common, otherType } = compareIds(first, end);
  const names = new Set(digests.flatMap((digest) => [...digest.classes.keys()]));
  const commonShare = first.ids.length ? common / first.ids.length : 1;
  const idsHold = digests.every((digest) => digest.hasLastingIds);
  const isOneProcess = idsHold && areOfOneProcess(common, first.ids.length, otherType);
  const classes = [...names].map((name) =>
    growthRow(
      name,
      digests,
      isOneProcess ? { added: added.get(name) ?? 0, removed: removed.get(name) ?? 0 } : undefined,
    ),
  );
  return {
    snapshots: digests.map(({ totalBytes, nodes }) => ({ totalBytes, nodes })),
    classes: classes
      .filter((row) => row.countGrowth !== 0 || row.sizeGrowthBytes !== 0 || row.added > 0 || row.removed > 0)
      .sort((a, b) => b.sizeGrowthBytes - a.sizeGrowthBytes || b.retainedGrowthBytes - a.retainedGrowthBytes),
    grown: isOneProcess
      ? grownNodes(digests, last, limit, (name) => 1 - (removed.get(name) ?? 0) / (added.get(name) || 1))
      : grownPlaces(placesOf(digests), last, (name) => countGrowth(digests, name), limit),
    commonShare,
    matchedBy: isOneProcess ? 'id' : 'place',
    hasLastingIds: idsHold,
  };
}

const countGrowth = (digests: readonly HeapDigest[], name: string): number =>
  (digests.at(-1)!.classes.get(name)?.count ?? 0) - (digests[0]!.classes.get(name)?.count ?? 0);

/** Of the snapshots before the last one. */
const placesOf = (digests: readonly HeapDigest[]): Places[] =>
  digests.slice(0, -1).flatMap(({ places }) => places ?? []);

function compareIds(
  first: HeapDigest,
  last: HeapDigest,
): {
  added: Map<string, number>;
  removed: Map<string, number>;
  common: number;
  /** Number of common ids whose type differs in the last snapshot. */
  otherType: number;
} {
  const added = new Uint32Array(last.classNames.length);
  const removed = new Uint32Array(first.classNames.length);
  let common = 0;
  let otherType = 0;
  let a = 0;
  let b = 0;
  while (a < first.ids.length && b < last.ids.length) {
    const before = first.ids[a]!;
    const after = last.ids[b]!;
    if (before === after) {
      common++;
      if (first.types[a] !== last.types[b]) otherType++;
    } else if (before < after) removed[first.classOf[a]!]!++;
    else added[last.classOf[b]!]!++;
    if (before <= after) a++;
    if (after <= before) b++;
  }
  for (; a < first.ids.length; a++) removed[first.classOf[a]!]!++;
  for (; b < last.ids.length; b++) added[last.classOf[b]!]!++;
  return { added: byName(last, added), removed: byName(first, removed), common, otherType };
}

/** Several kinds of class may have the same name. */
function byName({ classNames }: HeapDigest, counts: Uint32Array): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [kind, name] of classNames.entries()) sums.set(name, (sums.get(name) ?? 0) + counts[kind]!);
  return sums;
}

/** @param told undefined if objects can't be matched; then only the difference is known. */
function growthRow(
  name: string,
  digests: HeapDigest[],
  told: { added: number; removed: number } | undefined,
): HeapGrowthRow {
  const column = (key: 'count' | 'selfSize' | 'retainedSize'): number[] =>
    digests.map((digest) => digest.classes.get(name)?.[key] ?? 0);
  const growth = (values: number[]): number => values.at(-1)! - values[0]!;
  const counts = column('count');
  const sizes = column('selfSize');
  const retained = column('retainedSize');
  return {
    class: name,
    counts,
    selfSizeBytes: sizes,
    retainedSizeBytes: retained,
    countGrowth: growth(counts),
    sizeGrowthBytes: growth(sizes),
    retainedGrowthBytes: growth(retained),
    added: told?.added ?? Math.max(0, growth(counts)),
    removed: told?.removed ?? Math.max(0, -growth(counts)),
    trend: trendOf(sizes),
  };
}

function trendOf(values: number[]): HeapGrowthRow['trend'] {
  const steps = values.slice(1).map((value, at) => value - values[at]!);
  if (steps.every((step) => step === 0)) return 'steady';
  if (steps.every((step) => step >= 0)) return 'grows';
  return steps.every((step) => step <= 0) ? 'shrinks' : 'unsteady';
}

/**
 * Existing objects that hold more than before; of nested ones only the lowest, which contains the new objects. Objects at the
 * same place, ignoring element indexes, are one row. Objects held by several containers are reported by sharedGrowth.
 */
function grownNodes(digests: HeapDigest[], heap: Heap, limit: number, net: NetShare): HeapGrownNode[] {
  const first = digests[0]!;
  const { growth, isNew } = sinceFirst(first, heap);
  const { tree, root } = heap;
  const largestBelow = new Float64Array(heap.nodeCount);
  for (let node = 0; node < growth.length; node++) {
    const dominator = tree.dominator[node]!;
    if (node !== root && growth[node]! > largestBelow[dominator]!) largestBelow[dominator] = growth[node]!;
  }
  const rows = largestRows(
    growth,
    maxGrown,
    (node) =>
      growth[node]! >= leastGrowth && largestBelow[node]! < growth[node]! * 0.8 && !isGlobal(heap, node),
  );
  const owners = new Set(rows.map((node) => ownerOf(heap, node, growth)));
  const places = groupByPlace(heap, [...owners], growth).slice(0, limit);
  const lowest = new Set(
    places.flatMap(({ nodes }) => {
      const together = grownTogether(heap, nodes, growth, isNew);
      return together.length ? together : nodes;
    }),
  );
  const below = groupByPlace(heap, [...lowest], growth).map(({ nodes, ...group }) => {
    const added = addedTo(heap, nodes, isNew);
    const limit = nodes.length === 1 ? limitOf(heap, nodes[0]!, 1) : undefined;
    const holder = holderOf(heap, nodes, added.holder, group.growthBytes, isNew);
    const shown = holder < 0 ? nodes : [holder];
    const isShared = added.holder >= 0;
    const held = digests.map((digest) =>
      isShared ? heldWithShared(digest, heap, nodes, added) : heldAlone(digest, heap, nodes, shown),
    );
    return {
      ...group,
      ...(holder >= 0 ? { node: nodeRow(heap, holder), path: generalPath(heap, holder) } : {}),
      beforeBytes: held[0]!,
      ...(isShared ? { growthBytes: held.at(-1)! - held[0]! } : {}),
      heldBytes: held,
      ...(added.most ? { added: added.most } : {}),
      ...(limit === undefined ? {} : { limit }),
    };
  });
  return toldOnce(heap, below, sharedGrowth(digests, heap, isNew, net, below)).slice(0, limit);
}

/** What is shown instead of its owner, and dominates what was added, retains as much less in every snapshot. */
function heldAlone(digest: HeapDigest, heap: Heap, owners: number[], shown: number[]): number {
  const more = sum(owners, heap.retained) - sum(shown, heap.retained);
  return Math.max(0, heldBytes(digest, heap, owners) - more);
}

/** A holder that shares its contents does not dominate them: they are what its owner retains beside its other contents. */
function heldWithShared(digest: HeapDigest, heap: Heap, owners: number[], added: AddedObjects): number {
  const ofOwners = heldBytes(digest, heap, owners) - heldBytes(digest, heap, added.others);
  return Math.max(0, ofOwners + heldBytes(digest, heap, [added.holder]));
}

/** By ordinal: how much more a node retains than before, and whether it is new. */
function sinceFirst(first: HeapDigest, heap: Heap): { growth: Float64Array; isNew: Uint8Array } {
  const { retained, snapshot } = heap;
  const { ids, rows } = rowsById(snapshot);
  const growth = new Float64Array(heap.nodeCount);
  const isNew = new Uint8Array(heap.nodeCount).fill(1);
  const ownerBefore = new Uint32Array(first.owners ? heap.nodeCount : 0);
  const doubtful: number[] = [];
  const note = (node: number, before: number): void => {
    growth[node] = retained[node]! - first.retained[before]!;
    isNew[node] = 0;
    if (!first.owners) return;
    ownerBefore[node] = first.owners[before]!;
    // What was empty has nothing to be known again by, but its type.
    const isFilled = first.isEmpty?.[before] && first.types[before] === snapshot.nodes.type[node];
    if (growth[node]! >= leastGrowth && !isFilled) doubtful.push(node);
  };
  let at = 0;
  for (let row = 0; row < rows.length; row++) {
    while (at < first.ids.length && first.ids[at]! < ids[row]!) at++;
    if (first.ids[at] === ids[row]) note(rows[row]!, at);
  }
  if (!doubtful.length) return { growth, isNew };
  const inherited = new InheritedIds(heap, ownerBefore);
  for (const node of doubtful)
    if (inherited.has(node)) {
      growth[node] = 0;
      isNew[node] = 1;
    }
  return { growth, isNew };
}

/** The node to report instead of the one that grew; otherwise -1. */
function holderOf(
  heap: Heap,
  nodes: readonly number[],
  ofAdded: number,
  growthBytes: number,
  isNew: Uint8Array,
): number {
  if (ofAdded >= 0) return ofAdded;
  const variable = grownVariable(heap, nodes, isNew);
  if (variable >= 0 || nodes.length !== 1) return variable;
  const below = replacedBelow(heap, nodes[0]!, growthBytes, isNew);
  return below >= 0 ? below : headOfChain(heap, nodes[0]!);
}

/** For a scope, the variable that received something new; otherwise -1. */
function grownVariable(heap: Heap, [node, ...others]: readonly number[], isNew: Uint8Array): number {
  if (node === undefined || others.length || !isScope(heap, node)) return -1;
  const variable = largestVariable(heap, node);
  const isMost = variable && heap.retained[variable.node]! >= heap.retained[node]! * 0.6;
  return isMost && isNew[variable.node] ? variable.node : -1;
}

/** For a Map's table or an array's elements, the Map or array that they belong to. */
function ownerOf(heap: Heap, node: number, growth: Float64Array): number {
  const { type } = heap.snapshot.nodes;
  const owner = heap.tree.dominator[node]!;
  const isPart = type[node] === NodeType.array && type[owner] === NodeType.object;
  return isPart && growth[owner]! > 0 && !isGlobal(heap, owner) ? owner : node;
}

const sum = (nodes: readonly number[], retained: ArrayLike<number>): number =>
  nodes.reduce((bytes, node) => bytes + retained[node]!, 0);

function heldBytes(digest: HeapDigest, { snapshot }: Heap, nodes: readonly number[]): number {
  return nodes.reduce(
    (sum, node) => sum + Math.max(0, retainedBefore(digest, snapshot.nodes.id.get(node))),
    0,
  );
}

function groupByPlace(
  heap: Heap,
  rows: number[],
  growth: Float64Array,
): (HeapGrownNode & { nodes: number[] })[] {
  const groups = new Map<string, HeapGrownNode & { nodes: number[] }>();
  for (const node of rows) {
    const path = generalPath(heap, node);
    const group = groups.get(path) ?? {
      node: nodeRow(heap, node),
      count: 0,
      beforeBytes: 0,
      growthBytes: 0,
      path,
      nodes: [],
    };
    group.nodes.push(node);
    group.count++;
    group.beforeBytes += heap.retained[node]! - growth[node]!;
    group.growthBytes += growth[node]!;
    groups.set(path, group);
  }
  return [...groups.values()].sort((a, b) => b.growthBytes - a.growthBytes);
}

/** -1 if it did not exist. */
function retainedBefore({ ids, retained }: HeapDigest, id: number): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ids[middle]! < id) low = middle + 1;
    else high = middle;
  }
  return ids[low] === id ? retained[low]! : -1;
}
