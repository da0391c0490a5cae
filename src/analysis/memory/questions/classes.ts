/**
 * The class of each node, named and distinguished as in DevTools: constructors of the same name by where they are defined,
 * plain objects by their properties (shapes.ts), internals by their kind in brackets. Two classes with the same name and no
 * place are one here; DevTools' table keeps only the last.
 */
import {
  Detachedness,
  forEachRowWith,
  type HeapSnapshot,
  NodeType,
  type SourcePlace,
} from '../../../formats/heapsnapshot/index.ts';
import { computeDetachedness } from '../graph/detached-nodes.ts';
import { GraphKernel } from '../kernel/graph-kernel.ts';
import { computeShapes } from './shapes.ts';

export interface ClassKind {
  name: string;
  /** Where the constructor is defined; objects only. Line and column are 0-based. */
  place: SourcePlace | undefined;
}

export interface ClassTable {
  /** By ordinal: row of `kinds`. */
  of: Uint16Array | Uint32Array;
  kinds: ClassKind[];
}

/** @param room working memory, one word per node. @param into memory for the rows, one word per node. */
export function computeClasses(snapshot: HeapSnapshot, room?: Uint32Array, into?: ArrayBuffer): ClassTable {
  const numbering = new ClassNumbering(snapshot);
  const inKernel = rowsInKernel(snapshot, numbering);
  const rows = inKernel ?? rowsOneByOne(snapshot, numbering, room);
  nameShapes(snapshot, numbering, rows);
  const { kinds } = numbering;
  if (inKernel) return { of: inKernel, kinds };
  const isNarrow = GraphKernel.of(snapshot) === undefined && kinds.length <= 0x10000;
  if (!isNarrow && !room) return { of: rows, kinds };
  const Column = isNarrow ? Uint16Array : Uint32Array;
  const of = new Column(into ?? new ArrayBuffer(rows.length * Column.BYTES_PER_ELEMENT), 0, rows.length);
  of.set(rows);
  return { of, kinds };
}

function nameShapes(snapshot: HeapSnapshot, numbering: ClassNumbering, rows: Uint32Array): void {
  const { names, forEach } = computeShapes(snapshot);
  const { placeOf } = snapshot.locations;
  const known = new Int32Array(names.length).fill(-1);
  forEach((node, kind) => {
    const place = placeOf[node] ?? 0;
    if (place === 0 && known[kind]! >= 0) rows[node] = known[kind]!;
    else {
      rows[node] = numbering.rowOfName(names[kind]!, place);
      if (place === 0) known[kind] = rows[node]!;
    }
  });
}

function rowsOneByOne(
  snapshot: HeapSnapshot,
  numbering: ClassNumbering,
  room: Uint32Array = new Uint32Array(snapshot.nodes.count),
): Uint32Array {
  const rows = room.subarray(0, snapshot.nodes.count);
  for (let node = 0; node < rows.length; node++) rows[node] = numbering.rowOf(node);
  return rows;
}

/** Undefined for a large snapshot. */
function rowsInKernel(snapshot: HeapSnapshot, numbering: ClassNumbering): Uint32Array | undefined {
  const kernel = GraphKernel.of(snapshot);
  // In a snapshot that was cut, nodes have names beyond the last string, for which the kernel has no row.
  if (!kernel || snapshot.gaps.length > 0) return undefined;
  kernel.rowOf = (node) => numbering.rowOf(node, false);
  const { count } = snapshot.nodes;
  const { placeOf, places } = snapshot.locations;
  const kept = kernel.words('placeOf', count);
  if (placeOf.length === count) kept.set(placeOf);
  else kept.fill(0);
  kernel.code.assignRows(NodeType.object, NodeType.native, snapshot.strings.count, places.length);
  const rows = kernel.words('row', count);
  // The kernel knows one class by name, but detached nodes have another than those in the document.
  const state = computeDetachedness(snapshot);
  if (state)
    forEachRowWith(state, count, Detachedness.detached, (node) => {
      rows[node] = numbering.rowOf(node);
    });
  return rows;
}

class ClassNumbering {
  readonly kinds: ClassKind[] = [];
  readonly #snapshot: HeapSnapshot;
  readonly #detached: Uint8Array | undefined;
  /** By place and text of the name. */
  readonly #byText = new Map<string, number>();
  /** By name alone, for classes without a place: avoids building a key for each plain object. */
  readonly #placeless = new Map<string, number>();
  /** By index of the name, for classes without a place; -1 if not looked up yet. So the text is read once per class. */
  readonly #rowOfName: Int32Array;
  /** By place: the name of the last lookup, and its row. Most places have only one name. */
  readonly #nameAtPlace: Int32Array;
  readonly #rowAtPlace: Int32Array;
  readonly #byType = new Map<number, number>();

  constructor(snapshot: HeapSnapshot) {
    this.#snapshot = snapshot;
    this.#detached = computeDetachedness(snapshot);
    this.#rowOfName = new Int32Array(snapshot.strings.count).fill(-1);
    this.#nameAtPlace = new Int32Array(snapshot.locations.places.length).fill(-1);
    this.#rowAtPlace = new Int32Array(snapshot.locations.places.length);
  }

  /** @param tellsDetached whether a detached node has a class of its own. */
  rowOf(node: number, tellsDetached = true): number {
    const type = this.#snapshot.nodes.type[node]!;
    if (type === NodeType.object || type === NodeType.native)
      return this.#rowOfNamed(node, type, tellsDetached);
    const known = this.#byType.get(type);
    if (known !== undefined) return known;
    const row = this.rowOfName(this.#typeClass(type), 0);
    this.#byType.set(type, row);
    return row;
  }

  #typeClass(type: number): string {
    if (type === NodeType.hidden) return '(system)';
    if (type === NodeType.code) return '(compiled code)';
    if (type === NodeType.closure) return 'Function';
    if (type === NodeType.regexp) return 'RegExp';
    return `(${this.#snapshot.header.nodeTypeNames[type]})`;
  }

  #rowOfNamed(node: number, type: number, tellsDetached: boolean): number {
    const name = this.#snapshot.nodes.name[node]!;
    const place = type === NodeType.object ? placeOf(this.#snapshot, node) : 0;
    const isDetached = tellsDetached && this.#detached?.[node] === Detachedness.detached;
    if (type === NodeType.native && isDetached)
      return this.rowOfName(tagName(`Detached ${this.#snapshot.strings.get(name)}`), 0);
    if (place === 0) {
      const known = this.#rowOfName[name] ?? -1;
      if (known >= 0) return known;
    } else if (this.#nameAtPlace[place] === name) return this.#rowAtPlace[place]!;
    const row = this.rowOfName(tagName(this.#snapshot.strings.get(name)), place);
    if (place === 0) this.#rowOfName[name] = row;
    this.#nameAtPlace[place] = name;
    this.#rowAtPlace[place] = row;
    return row;
  }

  rowOfName(name: string, place: number): number {
    if (place > 0) return this.#rowOfText(name, place);
    const known = this.#placeless.get(name) ?? this.#rowOfText(name, 0);
    this.#placeless.set(name, known);
    return known;
  }

  #rowOfText(name: string, place: number): number {
    const key = `${place},${name}`;
    const known = this.#byText.get(key);
    if (known !== undefined) return known;
    const row = this.kinds.push({ name, place: this.#snapshot.locations.places[place] }) - 1;
    this.#byText.set(key, row);
    return row;
  }
}

/** Index of the place, 0 for none. */
function placeOf(snapshot: HeapSnapshot, node: number): number {
  return snapshot.locations.placeOf[node] ?? 0;
}

/** DOM nodes are named by their tag with attributes: `<div id="a">` has the class `<div>`. */
function tagName(name: string): string {
  const start = name.startsWith('Detached <') ? 10 : 0;
  if (start === 0 && !name.startsWith('<')) return name;
  const space = name.indexOf(' ', start);
  return space < 0 ? name : `${name.slice(0, space)}>`;
}
