/**
 * Reads the entries of Maps and Sets (and their subclasses) from V8's OrderedHashTable (src/objects/ordered-hash-table.h):
 * three header slots, B buckets, then room for 2 B entries of 3 slots (Map: key, value, chain) or 2 (Set: key, chain). B
 * follows from the table's size. Small integers have no edges, so an entry of two of them is invisible.
 */
import { EdgeType, type HeapSnapshot, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { findChild } from './node-rows.ts';

interface TableEntry {
  key?: number;
  value?: number;
}

const headSlots = 3;
/** Of V8's arrays: FixedArray::kMaxLength. */
const mostSlots = 2 ** 27;
/** With so many a table of `mostSlots` has places for all entries before the rest would be more than a Set can have. */
const placesPerEdge = 4;
/** The name of a deleted entry's marker; Node 20 and 26 don't write it into tables. */
const holeName = 'system / Hole';

/** Slots per entry: 3 for a Map, 2 for a Set; undefined for anything else. */
export function tableSlotsOf(heap: Heap, node: number): 2 | 3 | undefined {
  if (heap.snapshot.nodes.type[node] !== NodeType.object) return undefined;
  const table = findChild(heap, node, 'table', EdgeType.internal);
  if (table < 0 || heap.snapshot.nodeName(node).endsWith('Iterator')) return undefined;
  return ([3, 2] as const).find((slots) => isPowerOfTwo(bucketsOf(heap, table, slots)));
}

/** A power of two times 7 never equals one times 5, so the size alone distinguishes Maps and Sets. */
const isPowerOfTwo = (count: number): boolean => count >= 1 && Number.isInteger(Math.log2(count));

function bucketsOf(heap: Heap, table: number, slots: 2 | 3): number {
  return (lengthOf(heap, table) - headSlots) / (1 + 2 * slots);
}

/** All slots of a table, those of its header included. */
const lengthOf = ({ snapshot }: Heap, table: number): number => (snapshot.nodes.selfSize.get(table) - 16) / 8;

/** The keys of a Map that are objects, as nodes. @param step 3: those in every third reference of the table. */
export function tableKeys(heap: Heap, map: number, step = 1): number[] {
  const keys: number[] = [];
  const onUsed = (slot: number, target: number): void => {
    if (slot % 3 === 0) keys.push(target);
  };
  forEachSlot(heap, map, 3, onUsed, undefined, step);
  return keys;
}

/** Entries of a Map, as nodes; small numbers are absent. */
export function tablePairs(heap: Heap, map: number): Iterable<TableEntry> {
  return readTable(heap, map, 3).values();
}

interface VisibleEntries {
  count: number;
  /** The number of the first one. */
  first: number;
}

const visible = new WeakMap<Heap, Map<number, VisibleEntries>>();

/** Of a Map (3 slots each) or a Set (2): the entries that have an object as key or value. */
export function visibleEntries(heap: Heap, node: number, slots: 2 | 3): VisibleEntries {
  const known = visible.get(heap) ?? new Map<number, VisibleEntries>();
  visible.set(heap, known);
  const found = known.get(node) ?? findVisible(heap, node, slots);
  known.set(node, found);
  return found;
}

function findVisible(heap: Heap, node: number, slots: 2 | 3): VisibleEntries {
  /** By entry, and those that are too far away for that. */
  const isSeen = new Uint8Array(placesOf(heap, node));
  const far = new Set<number>();
  let count = 0;
  let first = Number.POSITIVE_INFINITY;
  forEachSlot(heap, node, slots, (slot) => {
    const entry = Math.floor(slot / slots);
    if (isSeen[entry] || far.has(entry)) return;
    if (entry < isSeen.length) isSeen[entry] = 1;
    else far.add(entry);
    count++;
    first = Math.min(first, entry);
  });
  return { count, first };
}

/** Enough for the entries of nearly every table, and in proportion to what the file has of it, whatever numbers its edges have. */
function placesOf(heap: Heap, node: number): number {
  const { firstEdge } = heap.snapshot.nodes;
  const table = findChild(heap, node, 'table', EdgeType.internal);
  return placesPerEdge * (firstEdge[table + 1]! - firstEdge[table]!);
}

export function collectionSize(heap: Heap, node: number): { size: number; mayHaveMore: boolean } {
  const slots = tableSlotsOf(heap, node);
  if (!slots) return { size: 0, mayHaveMore: false };
  const table = findChild(heap, node, 'table', EdgeType.internal);
  const seen = [...readTable(heap, node, slots).keys()];
  const used = seen.reduce((last, entry) => Math.max(last, entry + 1), 0);
  // Tables start with two buckets; a larger one must have contained more than is visible.
  const isGrown = bucketsOf(heap, table, slots) > 2;
  return { size: seen.length, mayHaveMore: seen.length < used || (isGrown && seen.length === 0) };
}

/**
 * Entries that a Map or Set has room for, and how many are in use: up to the last visible one, without those that are marked
 * as deleted (in Node 22 and 24). Others that are invisible may consist of numbers. Undefined if none is visible.
 */
export function tableFill(
  heap: Heap,
  node: number,
): { slots: 2 | 3; capacity: number; used: number | undefined } | undefined {
  const slots = tableSlotsOf(heap, node);
  if (!slots) return undefined;
  const { slots: seen, deleted } = usedSlots(heap, node, slots);
  const capacity = 2 * bucketsOf(heap, findChild(heap, node, 'table', EdgeType.internal), slots);
  if (!seen.length) return { slots, capacity, used: undefined };
  const end = seen.reduce((last, slot) => Math.max(last, slot + 1), 0);
  const used = Math.ceil(end / slots) - deleted.filter((slot) => slot < end).length;
  return { slots, capacity, used };
}

/** By entry number, in insertion order. */
export function readTable(heap: Heap, node: number, slots: 2 | 3): Map<number, TableEntry> {
  const used = usedSlots(heap, node, slots);
  const found = new Map<number, TableEntry>();
  for (const [at, slot] of used.slots.entries()) {
    const number = Math.floor(slot / slots);
    const entry = found.get(number) ?? {};
    found.set(number, entry);
    if (slot % slots === 0) entry.key = used.targets[at]!;
    else if (slot % slots === 1 && slots === 3) entry.value = used.targets[at]!;
  }
  return new Map([...found].sort(([a], [b]) => a - b));
}

interface UsedSlots {
  slots: number[];
  targets: number[];
  /** Slots of keys that are marked as deleted. */
  deleted: number[];
}

/** The slots of a table that contain an object, and those objects. */
function usedSlots(heap: Heap, node: number, slots: 2 | 3): UsedSlots {
  const found: UsedSlots = { slots: [], targets: [], deleted: [] };
  forEachSlot(
    heap,
    node,
    slots,
    (slot, target) => {
      found.slots.push(slot);
      found.targets.push(target);
    },
    (slot) => found.deleted.push(slot),
  );
  return found;
}

/**
 * Called with each slot of a table that contains an object, counted from the first entry, and that object; and with the slots of
 * keys that are marked as deleted.
 */
function forEachSlot(
  heap: Heap,
  node: number,
  slots: 2 | 3,
  onUsed: (slot: number, target: number) => void,
  onDeleted?: (slot: number) => void,
  step = 1,
): void {
  const { snapshot } = heap;
  const { firstEdge, name } = snapshot.nodes;
  const hole = snapshot.strings.findAscii(holeName);
  const table = findChild(heap, node, 'table', EdgeType.internal);
  const firstSlot = headSlots + 2 ** Math.round(Math.log2(bucketsOf(heap, table, slots)));
  const room = Math.min(lengthOf(heap, table), mostSlots) - firstSlot;
  for (let edge = firstEdge[table]!; edge < firstEdge[table + 1]!; edge += step) {
    const slot = slotOf(snapshot, edge) - firstSlot;
    const target = snapshot.edgeTarget(edge);
    if (!(slot >= 0 && slot < room)) continue;
    if (name[target] !== hole) onUsed(slot, target);
    else if (slot % slots === 0) onDeleted?.(slot);
  }
}

/** NaN if the edge has a name. */
function slotOf(snapshot: HeapSnapshot, edge: number): number {
  const type = snapshot.edgeType(edge);
  if (type === EdgeType.hidden || type === EdgeType.element) return snapshot.edges.nameOrIndex.get(edge);
  return snapshot.strings.numberAt(snapshot.edges.nameOrIndex.get(edge));
}
