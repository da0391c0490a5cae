/**
 * The class of each node as DevTools names and separates them: constructors of one name by where they were written,
 * plain objects by their properties (shapes.ts), internals by their kind in brackets. Where two classes have one name
 * and no place, they are one here; DevTools' table of them keeps only the last.
 */
import {
  Detachedness,
  type HeapSnapshot,
  NodeType,
  type SourcePlace,
} from '../../formats/heapsnapshot/index.ts';
import { computeDetachedness } from './detached-nodes.ts';
import { computeShapes } from './shapes.ts';

export interface ClassKind {
  name: string;
  /** Where the constructor was written; objects only. Line and column are 0-based. */
  place: SourcePlace | undefined;
}

export interface ClassTable {
  /** By ordinal: row of `kinds`. */
  of: Uint16Array | Uint32Array;
  kinds: ClassKind[];
}

export function computeClasses(snapshot: HeapSnapshot): ClassTable {
  const numbering = new ClassNumbering(snapshot);
  const { count } = snapshot.nodes;
  const rows = new Uint32Array(count);
  for (let node = 0; node < count; node++) rows[node] = numbering.rowOf(node);
  computeShapes(snapshot).forEach((node, name) => {
    rows[node] = numbering.rowOfName(name, placeOf(snapshot, node));
  });
  return { of: numbering.kinds.length <= 0x10000 ? Uint16Array.from(rows) : rows, kinds: numbering.kinds };
}

class ClassNumbering {
  readonly kinds: ClassKind[] = [];
  readonly #snapshot: HeapSnapshot;
  readonly #detached: Uint8Array | undefined;
  /** By place and name's text. */
  readonly #byText = new Map<string, number>();
  /** By place, name's index and whether detached, so that text is looked at once a class. */
  readonly #byIndex = new Map<number, number>();
  readonly #byType = new Map<number, number>();

  constructor(snapshot: HeapSnapshot) {
    this.#snapshot = snapshot;
    this.#detached = computeDetachedness(snapshot);
  }

  rowOf(node: number): number {
    const type = this.#snapshot.nodes.type[node]!;
    if (type === NodeType.object || type === NodeType.native) return this.#rowOfNamed(node, type);
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

  #rowOfNamed(node: number, type: number): number {
    const name = this.#snapshot.nodes.name[node]!;
    const isDetached = type === NodeType.native && this.#detached?.[node] === Detachedness.detached;
    const place = type === NodeType.object ? placeOf(this.#snapshot, node) : 0;
    const key = (place * 2 + (isDetached ? 1 : 0)) * 0x100000000 + name;
    const known = this.#byIndex.get(key);
    if (known !== undefined) return known;
    const text = this.#snapshot.strings.get(name);
    const row = this.rowOfName(tagName(isDetached ? `Detached ${text}` : text), place);
    this.#byIndex.set(key, row);
    return row;
  }

  rowOfName(name: string, place: number): number {
    const key = `${place},${name}`;
    const known = this.#byText.get(key);
    if (known !== undefined) return known;
    const row = this.kinds.push({ name, place: this.#snapshot.locations.places[place] }) - 1;
    this.#byText.set(key, row);
    return row;
  }
}

/** Number of the place, 0 for none. */
function placeOf(snapshot: HeapSnapshot, node: number): number {
  return snapshot.locations.placeOf[node] ?? 0;
}

/** DOM nodes are named by their tag with its attributes: `<div id="a">` is of class `<div>`. */
function tagName(name: string): string {
  const start = name.startsWith('Detached <') ? 10 : 0;
  if (start === 0 && !name.startsWith('<')) return name;
  const space = name.indexOf(' ', start);
  return space < 0 ? name : `${name.slice(0, space)}>`;
}
