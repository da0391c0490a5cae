/**
 * A node as the value that the program saw: an array's items, a Map's entries, a function's variables, a Buffer's size. V8
 * writes small integers and the values of booleans only on request (`exposeNumericValues`); a value that is missing from the
 * snapshot is shown as a number, never guessed.
 */
import { allocationStack, EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { HeapSource, HeapValue } from '../../../model/heap.ts';
import type { Heap } from '../heap.ts';
import { findChild, isStringType, stringText } from './node-rows.ts';
import { sourceOf } from './scripts.ts';
import { readTable } from './tables.ts';

/** A slot without an object: most likely a small integer. */
const notAnObject = '(a number)';

/**
 * The size of empty elements: a map and a length. With pointer compression (Chrome) slots are smaller, so slots are not
 * counted.
 */
const elementsHeadBytes = 16;

/** Kinds whose slots may contain small integers. */
const kindsWithNumbers: readonly string[] = ['object', 'array', 'map', 'set', 'function'];

interface Entry {
  key: string;
  node: number;
}

/** The same object as read from process memory, if that is available: it also has the numbers. */
export interface ValueInMemory {
  text: string;
  /** `id`: of the node, 0 for none. */
  entries: { key: string; id: number; text: string }[];
  hasMore: boolean;
  source?: HeapSource;
}

export function computeHeapValue(
  heap: Heap,
  node: number,
  limit: number,
  inMemory?: ValueInMemory,
): HeapValue {
  const kind = kindOf(heap, node);
  const all = entriesOf(heap, node, kind);
  const source = inMemory?.source ?? sourceOf(heap, heap.snapshot.location(node));
  const allocatedAt = allocationStack(heap.snapshot, node);
  const entries = inMemory
    ? inMemory.entries.map((entry) => ({ ...entry, retainedSizeBytes: retainedById(heap, entry.id) }))
    : all.slice(0, limit).map(({ key, node: child }) => ({
        key,
        id: idOf(heap, child),
        text: child < 0 ? notAnObject : valueText(heap, child, 100),
        retainedSizeBytes: child < 0 ? 0 : heap.retained[child]!,
      }));
  const count = inMemory ? entries.length + Number(inMemory.hasMore) : all.length;
  return {
    id: heap.snapshot.nodes.id.get(node),
    kind,
    class: heap.className(node),
    text: inMemory?.text ?? valueText(heap, node, 2000),
    retainedSizeBytes: heap.retained[node]!,
    entries,
    entryCount: inMemory?.hasMore ? Math.max(count, all.length) : count,
    ...(!inMemory && kindsWithNumbers.includes(kind) && lacksNumbers(heap) ? { lacksNumbers: true } : {}),
    ...(source ? { source } : {}),
    ...(allocatedAt.length ? { allocatedAt } : {}),
  };
}

export interface HeapValueKeys
  extends Pick<HeapValue, 'text' | 'entryCount' | 'lacksNumbers' | 'allocatedAt'> {
  /** `id`: of the node, 0 for none. */
  entries: { key: string; id: number }[];
}

/** The value without those of its entries, for a reader that shows a few of thousands. */
export function computeHeapValueKeys(heap: Heap, node: number, limit: number): HeapValueKeys {
  const kind = kindOf(heap, node);
  const all = entriesOf(heap, node, kind);
  const allocatedAt = allocationStack(heap.snapshot, node);
  return {
    text: valueText(heap, node, 2000),
    entries: all.slice(0, limit).map(({ key, node: child }) => ({ key, id: idOf(heap, child) })),
    entryCount: all.length,
    ...(kindsWithNumbers.includes(kind) && lacksNumbers(heap) ? { lacksNumbers: true } : {}),
    ...(allocatedAt.length ? { allocatedAt } : {}),
  };
}

const idOf = (heap: Heap, node: number): number => (node < 0 ? 0 : heap.snapshot.nodes.id.get(node));

function retainedById(heap: Heap, id: number): number {
  const node = id > 0 ? heap.snapshot.findById(id) : -1;
  return node < 0 ? 0 : heap.retained[node]!;
}

/** V8's name for nodes of small integers, if it writes them. */
export const lacksNumbers = (heap: Heap): boolean => heap.snapshot.strings.findAscii('smi number') < 0;

export function kindOf(heap: Heap, node: number): string {
  const { snapshot } = heap;
  const type = snapshot.nodes.type[node]!;
  if (isStringType(type)) return 'string';
  if (type === NodeType.closure) return 'function';
  if (type !== NodeType.object) return snapshot.nodeTypeName(node);
  const name = snapshot.nodeName(node);
  if (name === 'Array') return 'array';
  if (/^(Weak)?(Map|Set)$/.test(name) && findChild(heap, node, 'table', EdgeType.internal) >= 0)
    return name.toLowerCase();
  if (name === 'Promise') return 'promise';
  if (backingStore(heap, node) >= 0 || /Array$|^Buffer$|^DataView$|ArrayBuffer$/.test(name)) return 'bytes';
  return 'object';
}

/** On one line. */
export function valueText(heap: Heap, node: number, limit: number): string {
  const { snapshot } = heap;
  const name = snapshot.nodeName(node);
  switch (kindOf(heap, node)) {
    case 'string':
      return JSON.stringify(stringText(heap, node, limit));
    case 'number':
    case 'bigint':
      return numberText(heap, node);
    case 'symbol':
      return symbolText(heap, node);
    case 'function':
      return `function ${name || '(anonymous)'}`;
    case 'array':
      return arrayText(heap, node);
    case 'map':
    case 'set':
    case 'weakmap':
    case 'weakset':
      return `${name} of ${entriesOf(heap, node, kindOf(heap, node)).length}`;
    case 'bytes':
      return bytesText(heap, node, name);
    case 'hidden':
      return name === 'system / Oddball' ? oddballText(heap, node) : name;
    default:
      return snapshot.nodes.type[node] === NodeType.object
        ? heap.className(node)
        : name.slice(0, limit) || `(${snapshot.nodeTypeName(node)})`;
  }
}

/** Numbers have no edges: for an array of only numbers, just its size is known. */
function arrayText(heap: Heap, node: number): string {
  const objects = elementNodes(heap, node).length;
  const store = objects ? -1 : findChild(heap, node, 'elements', EdgeType.internal);
  const bytes = store < 0 ? 0 : heap.snapshot.nodes.selfSize.get(store);
  return bytes > elementsHeadBytes
    ? `Array of 0 objects, with ${bytes} bytes of numbers`
    : `Array of ${objects} objects`;
}

/**
 * Undefined if it is unknown: trailing numbers have no edges, and for an array without objects only the capacity is known,
 * unless V8 shares its elements with the literal that created it.
 */
export function arrayLength(heap: Heap, node: number): number | undefined {
  const { snapshot } = heap;
  let length = 0;
  for (let edge = snapshot.nodes.firstEdge[node]!; edge < snapshot.nodes.firstEdge[node + 1]!; edge++)
    if (snapshot.edgeType(edge) === EdgeType.element)
      length = Math.max(length, snapshot.edges.nameOrIndex.get(edge) + 1);
  if (length) return length;
  const store = findChild(heap, node, 'elements', EdgeType.internal);
  const bytes = store < 0 ? 0 : snapshot.nodes.selfSize.get(store);
  if (bytes <= elementsHeadBytes) return 0;
  return snapshot.nodeName(store) === '(constant elements)' ? (bytes - elementsHeadBytes) / 8 : undefined;
}

function numberText(heap: Heap, node: number): string {
  const value = findChild(heap, node, 'value', EdgeType.internal);
  return value < 0 ? `(a ${heap.snapshot.nodeName(node)})` : heap.snapshot.nodeName(value);
}

/** Undefined if V8 was not asked to write the values of numbers. */
export function numberValue(heap: Heap, node: number): number | undefined {
  const value = findChild(heap, node, 'value', EdgeType.internal);
  return value < 0 ? undefined : Number(heap.snapshot.nodeName(value));
}

function symbolText(heap: Heap, node: number): string {
  const name = findChild(heap, node, 'name', EdgeType.internal);
  return `Symbol(${name < 0 ? '' : stringText(heap, name, 100)})`;
}

/** `null`, `undefined` and booleans. Since Node 24 their nodes have these names; before, only a string below them does. */
export function oddballText(heap: Heap, node: number): string {
  const { snapshot } = heap;
  for (let edge = snapshot.nodes.firstEdge[node]!; edge < snapshot.nodes.firstEdge[node + 1]!; edge++) {
    const child = snapshot.edgeTarget(edge);
    if (snapshot.edgeType(edge) === EdgeType.hidden && isStringType(snapshot.nodes.type[child]!))
      return snapshot.nodeName(child);
  }
  return snapshot.nodeName(node);
}

function bytesText(heap: Heap, node: number, name: string): string {
  const store = backingStore(heap, node);
  return store < 0 ? name : `${name} over ${heap.snapshot.nodes.selfSize.get(store)} bytes`;
}

/** The node of the memory outside of the JavaScript heap, for an ArrayBuffer or a view of one; otherwise -1. */
export function backingStore(heap: Heap, node: number): number {
  const buffer = findChild(heap, node, 'buffer', EdgeType.internal);
  return findChild(heap, buffer < 0 ? node : buffer, 'backing_store', EdgeType.internal);
}

function entriesOf(heap: Heap, node: number, kind: string): Entry[] {
  switch (kind) {
    case 'map':
      return tableEntries(heap, node, 3);
    case 'set':
      return tableEntries(heap, node, 2);
    case 'weakmap':
    case 'weakset':
      return weakEntries(heap, node);
    case 'function':
      return [...variables(heap, node), ...properties(heap, node)];
    default:
      return properties(heap, node);
  }
}

function properties(heap: Heap, node: number): Entry[] {
  const { snapshot } = heap;
  const entries: Entry[] = [];
  for (let edge = snapshot.nodes.firstEdge[node]!; edge < snapshot.nodes.firstEdge[node + 1]!; edge++) {
    const type = snapshot.edgeType(edge);
    const name = snapshot.edgeName(edge);
    if (type === EdgeType.element) entries.push({ key: `[${name}]`, node: snapshot.edgeTarget(edge) });
    else if (type === EdgeType.property && name !== '__proto__')
      entries.push({ key: name, node: snapshot.edgeTarget(edge) });
    else if (name === 'backing_store' || name === 'buffer')
      entries.push({ key: `{${name}}`, node: snapshot.edgeTarget(edge) });
  }
  return entries;
}

/** Ordinals of an array's elements that are objects. */
export function elementNodes(heap: Heap, node: number): number[] {
  const { snapshot } = heap;
  const nodes: number[] = [];
  for (let edge = snapshot.nodes.firstEdge[node]!; edge < snapshot.nodes.firstEdge[node + 1]!; edge++)
    if (snapshot.edgeType(edge) === EdgeType.element) nodes.push(snapshot.edgeTarget(edge));
  return nodes;
}

function tableEntries(heap: Heap, node: number, slots: 2 | 3): Entry[] {
  const text = (key: number | undefined): string =>
    key === undefined ? notAnObject : valueText(heap, key, 60);
  return [...readTable(heap, node, slots).values()].map(({ key, value }) => ({
    key: text(key),
    node: (slots === 2 ? key : value) ?? -1,
  }));
}

function weakEntries(heap: Heap, node: number): Entry[] {
  const { snapshot } = heap;
  const table = findChild(heap, node, 'table', EdgeType.internal);
  const entries: Entry[] = [];
  for (let edge = snapshot.nodes.firstEdge[table]!; edge < snapshot.nodes.firstEdge[table + 1]!; edge++) {
    if (snapshot.edgeType(edge) !== EdgeType.ephemeron) continue;
    const key = /part of key \((.*?)\) -> value/.exec(snapshot.edgeName(edge))?.[1] ?? '';
    entries.push({ key, node: snapshot.edgeTarget(edge) });
  }
  return entries;
}

/** The variables that a function closes over, nearest scope first. */
function variables(heap: Heap, node: number): Entry[] {
  const { snapshot } = heap;
  const entries: Entry[] = [];
  let context = findChild(heap, node, 'context', EdgeType.internal);
  for (let depth = 0; context >= 0 && depth < 64; depth++) {
    for (let edge = snapshot.nodes.firstEdge[context]!; edge < snapshot.nodes.firstEdge[context + 1]!; edge++)
      if (snapshot.edgeType(edge) === EdgeType.context)
        entries.push({ key: `(scope ${depth}) ${snapshot.edgeName(edge)}`, node: snapshot.edgeTarget(edge) });
    const previous = findChild(heap, context, 'previous', EdgeType.internal);
    context = previous === context ? -1 : previous;
  }
  return entries;
}
