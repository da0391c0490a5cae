/**
 * Recognises data that was created at once and never added to, such as a loaded table, which is not a leak: arrays whose
 * capacity equals their length (`Array.from`, JSON.parse), since V8 grows an array by half when something is pushed;
 * containers with the elements of such an array under other keys (an index by id); and a single buffer, whose length is
 * fixed, unless it belongs to a WebAssembly memory.
 */
import { EdgeType, edgeTargetMask, edgeTypeShift, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { findChild } from '../questions/node-rows.ts';
import { limitOf } from './limits.ts';

/** Of an index, or of an array: V8's capacities for a growing one are rarely its length. */
const fewestEntries = 1000;
const fewestElements = 100;
/** Below this a list that is replaced by a longer one each time (`concat`, a reducer's `map`) may have as many elements. */
const surelyTable = 1000;
/** Elements start with a map and a length. */
const headBytes = 16;
const slotBytes = 8;

/** How many entries of an index are sampled, and the share of them that must be in one array. */
const mostSamples = 64;
const leastShare = 0.8;
const mostOwners = 16;

export function isTable(heap: Heap, node: number): boolean {
  return isMadeAtOnce(heap, node) || isFixedBuffer(heap, node) || isIndexOfTable(heap, node);
}

/** Backing stores and their owners: ArrayBuffers, typed arrays, Buffers. */
function isFixedBuffer(heap: Heap, node: number): boolean {
  const { snapshot } = heap;
  const store = snapshot.nodeName(node) === storeName ? node : (findStore(heap, node) ?? -1);
  if (store < 0 || heap.retained[store]! < heap.retained[node]! * leastShare) return false;
  return !isOfWasm(heap, store);
}

const storeName = 'system / JSArrayBufferData';

function findStore(heap: Heap, node: number): number | undefined {
  for (const [view, name] of [
    [node, 'backing_store'],
    [findChild(heap, node, 'buffer', EdgeType.internal), 'backing_store'],
  ] as const) {
    const store = view < 0 ? -1 : findChild(heap, view, name, EdgeType.internal);
    if (store >= 0) return store;
  }
  return undefined;
}

/** A memory of WebAssembly can grow. */
export function isOfWasm(heap: Heap, store: number): boolean {
  const sources = (node: number): number[] =>
    [...heap.retainers.to(node).subarray(0, mostOwners)].map((edge) => heap.retainers.sourceOf(edge));
  return sources(store).some((buffer) =>
    sources(buffer).some((owner) => /Memory$/.test(heap.className(owner))),
  );
}

/** A dictionary, Map or Set whose entries are elements of one array that was created at once. */
function isIndexOfTable(heap: Heap, node: number): boolean {
  const { snapshot, retainers } = heap;
  if (snapshot.nodes.type[node] !== NodeType.object) return false;
  const table = findChild(heap, node, 'table', EdgeType.internal);
  const entries = sampledEntries(heap, table >= 0 ? table : node, table >= 0);
  const votes = new Map<number, number>();
  for (const entry of entries) {
    const arrays = new Set<number>();
    for (const edge of retainers.to(entry).subarray(0, mostOwners)) arrays.add(retainers.sourceOf(edge));
    for (const array of arrays) votes.set(array, (votes.get(array) ?? 0) + 1);
  }
  return [...votes].some(
    ([array, count]) => array !== node && count >= entries.length * leastShare && isMadeAtOnce(heap, array),
  );
}

/** Objects from all parts of a container with at least so many; none of a smaller one. */
function sampledEntries({ snapshot }: Heap, holder: number, isTable: boolean): number[] {
  const { firstEdge, type } = snapshot.nodes;
  const { packed } = snapshot.edges;
  const [first, end] = [firstEdge[holder]!, firstEdge[holder + 1]!];
  const isEntry = (edge: number): boolean =>
    type[packed[edge]! & edgeTargetMask] === NodeType.object &&
    (isTable || packed[edge]! >>> edgeTypeShift === EdgeType.property);
  let count = 0;
  for (let edge = first; edge < end && count < fewestEntries; edge++) if (isEntry(edge)) count++;
  if (count < fewestEntries) return [];
  const step = Math.ceil((end - first) / mostSamples);
  const nodes: number[] = [];
  for (let from = first; from < end; from += step) {
    const last = Math.min(end, from + step);
    let edge = from;
    while (edge < last && !isEntry(edge)) edge++;
    if (edge < last) nodes.push(packed[edge]! & edgeTargetMask);
  }
  return nodes;
}

export function isMadeAtOnce(heap: Heap, node: number): boolean {
  const { snapshot } = heap;
  const { type, selfSize } = snapshot.nodes;
  if (type[node] !== NodeType.object || snapshot.nodeName(node) !== 'Array') return false;
  const length = lastElement(heap, node) + 1;
  if (length < fewestElements || (length < surelyTable && !isChosen(length))) return false;
  const elements = findChild(heap, node, 'elements', EdgeType.internal);
  const isExact = elements >= 0 && selfSize.get(elements) === headBytes + length * slotBytes;
  return isExact && !isPartOfQueue(heap, node);
}

/** -1 if there is none. Elements are in order. */
export function lastElement({ snapshot }: Heap, array: number): number {
  const { firstEdge } = snapshot.nodes;
  for (let edge = firstEdge[array + 1]! - 1; edge >= firstEdge[array]!; edge--)
    if (snapshot.edgeType(edge) === EdgeType.element) return snapshot.edges.nameOrIndex.get(edge);
  return -1;
}

/** A person chose it: of a ring of buffers, a pool. */
const isChosen = (length: number): boolean => (length & (length - 1)) === 0 || length % 50 === 0;

/** Node's queues (of events.on(), of the next tick) add arrays of 2,048 one after the other. */
function isPartOfQueue(heap: Heap, array: number): boolean {
  const list = [...heap.retainers.to(array).subarray(0, mostOwners)];
  return list.some((edge) => heap.className(heap.retainers.sourceOf(edge)) === 'FixedCircularBuffer');
}

/**
 * Total bytes of such arrays and buffers, and of containers with a limit of their own, that retain at least `leastBytes`;
 * nested ones are counted once.
 */
export function bytesMadeAtOnce(heap: Heap, leastBytes: number): number {
  const { retained, tree, root, snapshot } = heap;
  const { type, count } = snapshot.nodes;
  const found = new Set<number>();
  for (let node = 0; node < count; node++)
    if (
      retained[node]! >= leastBytes &&
      (type[node] === NodeType.native
        ? isFixedBuffer(heap, node)
        : type[node] === NodeType.object &&
          (isMadeAtOnce(heap, node) || limitOf(heap, node, 0) !== undefined))
    )
      found.add(node);
  let bytes = 0;
  for (const node of found) {
    let above = node === root ? root : tree.dominator[node]!;
    while (above !== root && !found.has(above)) above = tree.dominator[above]!;
    if (!found.has(above)) bytes += retained[node]!;
  }
  return bytes;
}
