/**
 * The graph of a heap in memory, as V8's profiler would have written it: a node for each live object, and named edges. Dead
 * objects that have not been swept yet are excluded by marking from the roots.
 */

import type { V8Heap } from '../heap/heap.ts';
import type { HeapPage } from '../heap/heap-pages.ts';
import { GraphColumns, idOfNode } from './graph-columns.ts';
import { HeapObjects } from './heap-objects.ts';
import { Names } from './names.ts';
import { type BuiltinNames, NodeReader } from './node-facts.ts';
import { Edge, nodeTypes, ObjectKinds } from './object-kinds.ts';
import { type Ephemeron, ReferenceReader } from './references.ts';
import { findRoots, type RootGroup, type RootSources } from './roots.ts';
import { Tagger } from './tags.ts';

export interface GraphSources extends RootSources {
  pages: readonly HeapPage[];
  readOnlyPages: readonly HeapPage[];
  builtinAt: BuiltinNames;
}

const synthetic = nodeTypes.indexOf('synthetic');
const native = nodeTypes.indexOf('native');

export interface GraphOptions {
  /** Called with the number of objects of unknown size, which are counted with size 0. */
  onSizeless?(count: number): void;
  /**
   * Replaces the text of strings that don't name anything. Default: their own text. Different strings remain different nodes
   * in both cases.
   */
  withheld?: string | undefined;
}

export function readGraph(
  heap: V8Heap,
  sources: GraphSources,
  { onSizeless, withheld }: GraphOptions = {},
): GraphColumns {
  const objects = new HeapObjects(heap, sources.pages, sources.readOnlyPages);
  if (objects.sizeless > 0) onSizeless?.(objects.sizeless);
  const kinds = new ObjectKinds(
    heap.layout,
    ephemeronTypes(heap, objects),
    nativeContextTypes(heap, objects),
  );
  const names = new Names(withheld);
  const references = new ReferenceReader(heap, objects, kinds, names, sources.native);
  const roots = findRoots(objects, sources);
  const marked = new Marked(objects, references);
  for (const { references: found } of roots)
    for (const { target, isWeak } of found) if (!isWeak) marked.add(target);
  for (let object = objects.firstReadOnly; object < objects.count; object++) marked.add(object);
  marked.finish();
  const reader = new NodeReader(heap, objects, kinds, names, sources.builtinAt);
  return new GraphWriter(heap, objects, kinds, names, references, marked, reader).write(roots);
}

/** The first field of a weak map or set is its table. V8's metadata does not describe the type of the table. */
function ephemeronTypes(heap: V8Heap, objects: HeapObjects): Set<number> {
  const { jsWeakMap, jsWeakSet } = heap.layout.types;
  const found = new Set<number>();
  for (let object = 0; object < objects.count; object++) {
    if (objects.type[object] !== jsWeakMap && objects.type[object] !== jsWeakSet) continue;
    const table = objects.target(object, heap.layout.collectionTable / 8);
    if (table >= 0) found.add(objects.type[table]!);
  }
  return found;
}

/**
 * Contexts of realms have a type of their own, which V8's metadata does not describe either. Maps of a realm refer to its
 * context where others have their constructor.
 */
function nativeContextTypes(heap: V8Heap, objects: HeapObjects): Set<number> {
  const { map, types } = heap.layout;
  const [first, last] = types.context;
  const found = new Set<number>();
  for (let object = 0; object < objects.count; object++) {
    if (objects.type[object] !== types.map) continue;
    const back = objects.target(object, map.constructorOrBack / 8);
    const type = back < 0 ? -1 : objects.type[back]!;
    if (type >= first && type <= last) found.add(type);
  }
  return found;
}

/** Objects that are reachable by strong edges. */
class Marked {
  readonly #references: ReferenceReader;
  readonly #isMarked: Uint8Array;
  readonly #open: number[] = [];
  readonly #waiting: Ephemeron[] = [];
  count = 0;
  /** Number of edges from marked objects, also to unmarked ones. */
  edges = 0;

  constructor(objects: HeapObjects, references: ReferenceReader) {
    this.#references = references;
    this.#isMarked = new Uint8Array(objects.count);
  }

  has(object: number): boolean {
    return this.#isMarked[object] === 1;
  }

  add(object: number): void {
    if (this.#isMarked[object] === 1) return;
    this.#isMarked[object] = 1;
    this.count++;
    this.#open.push(object);
  }

  finish(): void {
    this.#references.onEphemeron = (entry) => this.#waiting.push(entry);
    const sink = (type: number, _: number, target: number) => {
      this.edges++;
      if (type !== Edge.weak) this.add(target);
    };
    do {
      for (let object = this.#open.pop(); object !== undefined; object = this.#open.pop())
        this.#references.visit(object, sink);
      for (const { key, value } of this.#waiting) if (this.has(key)) this.add(value);
    } while (this.#open.length > 0);
  }
}

class GraphWriter {
  readonly #heap: V8Heap;
  readonly #objects: HeapObjects;
  readonly #kinds: ObjectKinds;
  readonly #names: Names;
  readonly #references: ReferenceReader;
  readonly #marked: Marked;
  readonly #reader: NodeReader;
  readonly #columns: GraphColumns;
  /** Node of each object. */
  readonly #nodeOf: Uint32Array;
  /** Backing stores outside of the heap, by address. */
  readonly #stores = new Map<number, { node: number; bytes: number }>();

  constructor(
    heap: V8Heap,
    objects: HeapObjects,
    kinds: ObjectKinds,
    names: Names,
    references: ReferenceReader,
    marked: Marked,
    reader: NodeReader,
  ) {
    this.#heap = heap;
    this.#objects = objects;
    this.#kinds = kinds;
    this.#names = names;
    this.#references = references;
    this.#marked = marked;
    this.#reader = reader;
    this.#columns = new GraphColumns(names.texts, marked.count, marked.edges);
    this.#nodeOf = new Uint32Array(objects.count);
  }

  write(roots: readonly RootGroup[]): GraphColumns {
    const groups: RootGroup[] = [...roots, { name: '(Read-only roots)', references: this.#readOnly() }];
    const columns = this.#columns;
    const first = 2 + groups.length;
    this.#number(first);
    const named = (text: string) => this.#names.of(text);
    for (const name of ['', '(GC roots)', ...groups.map((group) => group.name)])
      columns.addNode(synthetic, named(name), 0);
    this.#addNodes();
    columns.beginEdges();
    columns.addEdge(Edge.element, 1, 1);
    this.#globals().forEach((node, i) => {
      columns.addEdge(Edge.shortcut, this.#names.ofIndex(i + 2), node);
    });
    columns.endNode();
    groups.forEach((_, i) => {
      columns.addEdge(Edge.element, i + 1, 2 + i);
    });
    columns.endNode();
    for (const { references } of groups) {
      references.forEach(({ target, isWeak }, i) => {
        if (this.#marked.has(target))
          columns.addEdge(isWeak ? Edge.weak : Edge.internal, named(String(i + 1)), this.#nodeOf[target]!);
      });
      columns.endNode();
    }
    this.#addEdges();
    for (const _ of this.#stores) columns.endNode();
    return columns;
  }

  #readOnly() {
    const { firstReadOnly, count } = this.#objects;
    return Array.from({ length: count - firstReadOnly }, (_, i) => ({
      target: firstReadOnly + i,
      isWeak: false,
    }));
  }

  #number(first: number): void {
    let next = first;
    for (let object = 0; object < this.#objects.count; object++)
      if (this.#marked.has(object)) this.#nodeOf[object] = next++;
    for (let object = 0; object < this.#objects.count; object++) {
      const address = this.#marked.has(object) ? this.#storeOf(object) : 0;
      if (address === 0 || this.#stores.has(address)) continue;
      const at = this.#objects.pointer(object) - 1 + this.#heap.layout.arrayBuffer.byteLength;
      this.#stores.set(address, { node: next++, bytes: this.#heap.memory.findWord(at) ?? 0 });
    }
  }

  /** Address of an array buffer's backing store; 0 for other objects. */
  #storeOf(object: number): number {
    const { types, arrayBuffer } = this.#heap.layout;
    if (this.#objects.type[object] !== types.jsArrayBuffer) return 0;
    return this.#heap.memory.findWord(this.#objects.pointer(object) - 1 + arrayBuffer.backingStore) ?? 0;
  }

  #addNodes(): void {
    for (let object = 0; object < this.#objects.count; object++) {
      if (!this.#marked.has(object)) continue;
      const { type, name, sizeBytes } = this.#reader.of(object);
      this.#columns.addNode(type, name, sizeBytes, this.#objects.pointer(object) - 1);
    }
    for (const [address, { bytes }] of this.#stores)
      this.#columns.addNode(native, this.#names.of('system / JSArrayBufferData'), bytes, address);
  }

  #globals(): number[] {
    const { types } = this.#heap.layout;
    const found: number[] = [];
    for (let object = 0; object < this.#objects.firstReadOnly; object++)
      if (this.#objects.type[object] === types.globalObject && this.#marked.has(object))
        found.push(this.#nodeOf[object]!);
    return found;
  }

  #addEdges(): void {
    const columns = this.#columns;
    const ofKeys = this.#ephemerons();
    const tagger = new Tagger(this.#objects, this.#kinds, this.#names, columns);
    let from = 0;
    const sink = (type: number, name: number, target: number) => {
      if (!this.#marked.has(target)) return;
      const node = this.#nodeOf[target]!;
      tagger.tag(from, type, name, target, node);
      columns.addEdge(type, name, node);
    };
    const backingStore = this.#names.of('backing_store');
    for (let object = 0; object < this.#objects.count; object++) {
      if (!this.#marked.has(object)) continue;
      from = object;
      this.#references.visit(object, sink);
      for (const { name, value } of ofKeys.get(object) ?? []) columns.addEdge(Edge.internal, name, value);
      const store = this.#stores.get(this.#storeOf(object));
      if (store) columns.addEdge(Edge.internal, backingStore, store.node);
      columns.endNode();
    }
  }

  /**
   * Edges that represent entries of weak maps, by the object that they start from: one from the key and one from the table.
   */
  #ephemerons(): Map<number, { name: number; value: number }[]> {
    const found = new Map<number, { name: number; value: number }[]>();
    let count = 1;
    const add = (from: number, name: number, value: number) => {
      const known = found.get(from);
      if (known) known.push({ name, value });
      else found.set(from, [{ name, value }]);
    };
    this.#references.onEphemeron = ({ table, key, value }) => {
      if (![table, key, value].every((each) => this.#marked.has(each))) return;
      const [from, to] = [this.#nodeOf[key]!, this.#nodeOf[value]!];
      const name = this.#names.of(
        `${count++} / part of key (${this.#label(from)}) -> value (${this.#label(to)}) pair in WeakMap (table @${idOfNode(this.#nodeOf[table]!)})`,
      );
      add(key, name, to);
      add(table, name, to);
    };
    for (let object = 0; object < this.#objects.count; object++)
      if (this.#marked.has(object) && this.#kinds.of(this.#objects.type[object]!).shape === 'ephemerons')
        this.#references.visit(object, () => {});
    this.#references.onEphemeron = () => {};
    return found;
  }

  #label(node: number): string {
    return `${this.#names.texts[this.#columns.name[node]!]} @${idOfNode(node)}`;
  }
}
