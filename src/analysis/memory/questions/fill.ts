/**
 * How much of its memory a collection uses: the slots that V8 has reserved, against those that hold something. Maps and Sets
 * (tables.ts), arrays, arrays whose elements are a hash table, and objects whose properties are one (V8's "dictionary mode":
 * NameDictionary and NumberDictionary in src/objects/dictionary.h).
 *
 * A slot counts as free only if the snapshot shows it. Numbers have no edges (except small integers in arrays, if V8 was asked
 * to write them): what lies before the last visible entry counts as used, and the use of a collection without any visible
 * entry is unknown. Only numbers at the end of an array of objects are taken for free slots, and not in arrays that are too
 * small to have been grown.
 */
import { EdgeType, type HeapSnapshot, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { HeapFillKind } from '../../../model/heap.ts';
import type { Heap } from '../heap.ts';
import { isStringType } from './node-rows.ts';
import { tableFill } from './tables.ts';

export interface Fill {
  kind: HeapFillKind;
  /** Entries that there is room for. */
  capacity: number;
  /** Undefined if the snapshot does not show it. */
  used: number | undefined;
  /** Of one entry's slots. */
  entryBytes: number;
  /** The node of the slots. */
  store: number;
}

export const wastedBytes = ({ capacity, used, entryBytes }: Fill): number =>
  used === undefined ? 0 : (capacity - used) * entryBytes;

const slotBytes = 8;
/** A map and a length. */
const headBytes = 16;
/** After a first `push`; V8 makes smaller arrays as large as their contents (JSObject::NewElementsCapacity). */
const leastGrownCapacity = 17;
/** Entries have a key, a value and details, after a head of so many slots. */
const dictionaryEntrySlots = 3;
const nameDictionaryHead = 6;
const numberDictionaryHead = 4;

/** Reads the collections of one heap; an object may be several (an array with named properties). */
export class FillReader {
  readonly #heap: Heap;
  readonly #table: number;
  readonly #elements: number;
  readonly #properties: number;

  constructor(heap: Heap) {
    this.#heap = heap;
    const { strings } = heap.snapshot;
    this.#table = strings.findAscii('table');
    this.#elements = strings.findAscii('elements');
    this.#properties = strings.findAscii('properties');
  }

  /** The collection that a node is, or the larger one of two. */
  largest(node: number): Fill | undefined {
    const bytes = ({ capacity, entryBytes }: Fill): number => capacity * entryBytes;
    return this.of(node).sort((a, b) => bytes(b) - bytes(a))[0];
  }

  of(node: number): Fill[] {
    const { snapshot } = this.#heap;
    const { nodes, edges } = snapshot;
    if (nodes.type[node] !== NodeType.object && nodes.type[node] !== NodeType.closure) return [];
    const found: Fill[] = [];
    for (let edge = nodes.firstEdge[node]!; edge < nodes.firstEdge[node + 1]!; edge++) {
      if (snapshot.edgeType(edge) !== EdgeType.internal) continue;
      const name = edges.nameOrIndex.get(edge);
      const fill =
        name === this.#table
          ? this.#hashTable(node, snapshot.edgeTarget(edge))
          : name === this.#elements
            ? this.#elementStore(node, snapshot.edgeTarget(edge))
            : name === this.#properties
              ? nameDictionary(snapshot, snapshot.edgeTarget(edge))
              : undefined;
      if (fill) found.push(fill);
    }
    return found;
  }

  #hashTable(node: number, store: number): Fill | undefined {
    const fill = tableFill(this.#heap, node);
    if (!fill) return undefined;
    const { slots, capacity, used } = fill;
    return { kind: slots === 3 ? 'map' : 'set', capacity, used, entryBytes: slots * slotBytes, store };
  }

  #elementStore(node: number, store: number): Fill | undefined {
    const { snapshot } = this.#heap;
    // Literals share theirs until they are changed.
    if (snapshot.nodeName(store) === '(constant elements)') return undefined;
    const slots = slotsOf(snapshot, store);
    const { seen, end } = elementsOf(snapshot, node);
    if (slots <= 0) return undefined;
    if (end > slots) {
      const capacity = (slots - numberDictionaryHead) / dictionaryEntrySlots;
      if (!isPowerOfTwo(capacity) || seen > capacity) return undefined;
      const entryBytes = dictionaryEntrySlots * slotBytes;
      return { kind: 'sparse array', capacity, used: seen, entryBytes, store };
    }
    const kind = snapshot.nodeName(node) === 'Array' ? 'array' : 'elements';
    const used = slots < leastGrownCapacity ? slots : end > 0 ? end : undefined;
    return { kind, capacity: slots, used, entryBytes: slotBytes, store };
  }
}

/** Undefined for the plain list of an object whose shape knows its properties. */
function nameDictionary(snapshot: HeapSnapshot, store: number): Fill | undefined {
  const { nodes } = snapshot;
  if (nodes.type[store] !== NodeType.array) return undefined;
  const capacity = (slotsOf(snapshot, store) - nameDictionaryHead) / dictionaryEntrySlots;
  if (!isPowerOfTwo(capacity)) return undefined;
  let used = 0;
  for (let edge = nodes.firstEdge[store]!; edge < nodes.firstEdge[store + 1]!; edge++) {
    if (snapshot.edgeType(edge) === EdgeType.property) continue;
    const slot = Number(snapshot.edgeName(edge)) - nameDictionaryHead;
    if (!(slot >= 0) || slot % dictionaryEntrySlots !== 0) continue;
    const type = nodes.type[snapshot.edgeTarget(edge)]!;
    // An empty slot refers to `undefined`, a deleted one to V8's hole.
    if (isStringType(type) || type === NodeType.symbol) used++;
  }
  const entryBytes = dictionaryEntrySlots * slotBytes;
  return used > capacity ? undefined : { kind: 'dictionary', capacity, used, entryBytes, store };
}

/** Visible elements, and the index after the last of them. */
function elementsOf(snapshot: HeapSnapshot, node: number): { seen: number; end: number } {
  const { nodes, edges } = snapshot;
  let [seen, end] = [0, 0];
  for (let edge = nodes.firstEdge[node]!; edge < nodes.firstEdge[node + 1]!; edge++) {
    if (snapshot.edgeType(edge) !== EdgeType.element) continue;
    seen++;
    end = Math.max(end, edges.nameOrIndex.get(edge) + 1);
  }
  return { seen, end };
}

const slotsOf = ({ nodes }: HeapSnapshot, store: number): number =>
  (nodes.selfSize.get(store) - headBytes) / slotBytes;

const isPowerOfTwo = (count: number): boolean => count >= 1 && Number.isInteger(Math.log2(count));
