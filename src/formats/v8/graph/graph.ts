/**
 * The graph of a heap in memory, as V8's profiler would have written it: a node for each live object, and named edges. Nodes
 * and edges are not stored unless it is asked for: they are read from memory again whenever they are needed, because their
 * columns would take as much memory as the heap.
 */

import type { V8Heap } from '../heap/heap.ts';
import type { HeapPage } from '../heap/heap-pages.ts';
import { EdgeCounts } from './edge-counts.ts';
import { KeptEdges } from './kept-edges.ts';
import { Marking } from './marking.ts';
import { Names } from './names.ts';
import { HandleBlocks } from './native/global-handles.ts';
import { MallocChunks } from './native/malloc-chunks.ts';
import { findStore, NativeMemory, type NativeSources } from './native/native-memory.ts';
import type { RootGroup, RootSources } from './native/root-sources.ts';
import { findRoots } from './native/roots.ts';
import { type BuiltinNames, NodeReader } from './node-facts.ts';
import { Edge, nodeTypes, ObjectKinds } from './object-kinds.ts';
import { HeapObjects } from './objects/heap-objects.ts';
import { InOrder } from './objects/in-order.ts';
import { ReferenceReader } from './references.ts';
import { Tagger } from './tags.ts';

export interface GraphSources extends RootSources {
  pages: readonly HeapPage[];
  readOnlyPages: readonly HeapPage[];
  builtinAt: BuiltinNames;
}

export interface GraphOptions {
  /** Called with the number of objects of unknown size, which are counted with size 0. */
  onSizeless?(count: number): void;
  /** Called if C++ objects have more memory than is searched: what belongs to them may be missing. */
  onNativeCut?(): void;
  /**
   * Replaces the text of strings that don't name anything. Default: their own text. Different strings remain different nodes
   * in both cases.
   */
  withheld?: string | undefined;
  /** Edges are asked for once, soon, so that they are kept rather than read from memory again. */
  keepsEdges?: boolean | undefined;
}

/** `type`: index in `nodeTypes`; `name`: text number; `size`: in bytes. */
export type NodeSink = (type: number, name: number, size: number, edgeCount: number) => void;

/** `type`: index in `edgeTypes`; `name`: text number, or an index if the type is element or hidden; `target`: a node. */
export type EdgeSink = (type: number, name: number, target: number) => void;

const synthetic = nodeTypes.indexOf('synthetic');
/** The root, and V8's node for all groups of roots. */
const nodesBeforeGroups = 2;
/** From this line on V8 takes the realm itself for what its global object was before. */
const linesOfContexts = 1400;
/** How many objects are read between two pauses of a generator. */
const stride = 1 << 10;

/** The id of a node. V8 assigns odd ids. */
export const idOfNode = (node: number) => 2 * node + 1;

export function readGraph(
  heap: V8Heap,
  sources: GraphSources,
  { onSizeless, onNativeCut, withheld, keepsEdges = false }: GraphOptions = {},
): HeapGraph {
  const objects = new HeapObjects(heap, sources.pages, sources.readOnlyPages);
  if (objects.sizeless > 0) onSizeless?.(objects.sizeless);
  const kinds = new ObjectKinds(
    heap.layout,
    ephemeronTypes(heap, objects),
    nativeContextTypes(heap, objects),
  );
  const names = new Names(withheld);
  const references = new ReferenceReader(heap, objects, kinds, names, sources.native);
  const chunks = new MallocChunks(sources.memory, sources.native);
  const handles = new HandleBlocks(objects, sources);
  const isGlobalHandle = (address: number) => handles.has(address);
  const buffers = objects.allOf(heap.layout.types.jsArrayBuffer);
  const roots = findRoots(objects, sources, {
    chunks,
    handles,
    buffers: new Set(Array.from(buffers, (object) => findStore(heap, objects, object))),
    isListed: (type) => kinds.isListed(type),
  });
  const marking = new Marking(heap, objects, kinds, references);
  for (const { references: found } of roots)
    for (const { target, isWeak } of found) if (!isWeak) marking.add(target);
  const constants: RootGroup = { name: '(Read-only roots)', references: [] };
  for (let object = objects.next(objects.firstReadOnly); object >= 0; object = objects.next(object + 1)) {
    marking.add(object);
    constants.references.push({ target: object, isWeak: false });
  }
  marking.finish();
  objects.words.keepOnly(marking.live);
  const reader = new NodeReader(heap, objects, kinds, names, sources.builtinAt);
  const native = { memory: sources.memory, chunks, isGlobalHandle };
  const groups = [...roots, constants];
  const kept = keepsEdges ? new KeptEdges() : undefined;
  const graph = new HeapGraph(heap, objects, kinds, names, references, marking, reader, groups, native, kept);
  if (graph.isNativeCut) onNativeCut?.();
  return graph;
}

/** The first field of a weak map or set is its table. V8's metadata does not describe the type of the table. */
function ephemeronTypes(heap: V8Heap, objects: HeapObjects): Set<number> {
  const { jsWeakMap, jsWeakSet } = heap.layout.types;
  const found = new Set<number>();
  for (const object of [...objects.allOf(jsWeakMap), ...objects.allOf(jsWeakSet)]) {
    const table = objects.target(object, heap.layout.collectionTable / 8);
    if (table >= 0) found.add(objects.typeOf(table));
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
  for (const object of objects.allOf(types.map)) {
    const back = objects.target(object, map.constructorOrBack / 8);
    const type = back < 0 ? -1 : objects.typeOf(back);
    if (type >= first && type <= last) found.add(type);
  }
  return found;
}

export class HeapGraph {
  readonly names: Names;
  readonly nodeCount: number;
  readonly edgeCount: number;
  readonly #heap: V8Heap;
  readonly #objects: HeapObjects;
  readonly #references: ReferenceReader;
  readonly #marking: Marking;
  readonly #reader: NodeReader;
  readonly #roots: readonly RootGroup[];
  readonly #counts: EdgeCounts;
  readonly #kinds: ObjectKinds;
  readonly #globals: readonly number[];
  readonly #tagger: Tagger;
  /** Node of the first object. */
  readonly #first: number;
  readonly #native: NativeMemory;
  /** Live objects that may have a C++ object. */
  readonly #wrappers: number[] = [];
  readonly #ephemerons: ReadonlyMap<number, readonly { name: number; value: number }[]>;
  /** The objects that have more edges than their references, in order. */
  readonly #extended: Int32Array;
  readonly #kept: KeptEdges | undefined;

  constructor(
    heap: V8Heap,
    objects: HeapObjects,
    kinds: ObjectKinds,
    names: Names,
    references: ReferenceReader,
    marking: Marking,
    reader: NodeReader,
    roots: readonly RootGroup[],
    native: NativeSources,
    kept: KeptEdges | undefined,
  ) {
    this.#heap = heap;
    this.#objects = objects;
    this.names = names;
    this.#references = references;
    this.#marking = marking;
    this.#reader = reader;
    this.#roots = roots;
    this.#kinds = kinds;
    this.#kept = kept;
    this.#first = nodesBeforeGroups + roots.length;
    const live = marking.live.number();
    this.#globals = this.#findGlobals();
    this.#tagger = new Tagger(objects, kinds, names, heap.layout.deoptimization, live);
    this.#counts = new EdgeCounts(live);
    this.#countEdges();
    const buffers = objects.allOf(heap.layout.types.jsArrayBuffer);
    const [handles] = roots;
    const held = new Set(handles?.references.filter(({ isWeak }) => !isWeak).map(({ target }) => target));
    this.#native = new NativeMemory(
      heap,
      objects,
      kinds,
      names,
      native,
      this.#first + live,
      Array.from(buffers).filter((object) => marking.live.has(object)),
      this.#wrappers,
      {
        classOf: (object) => reader.of(object).name,
        nodeOf: (object) => this.#nodeOf(object),
        isHeld: (object) => held.has(object),
      },
    );
    this.nodeCount = this.#first + live + this.#native.count;
    this.#ephemerons = this.#findEphemerons();
    this.#extended = this.#findExtended(buffers);
    this.edgeCount = this.#countAll();
  }

  get isNativeCut(): boolean {
    return this.#native.isCut;
  }

  /** In the order of their numbers. Pauses between two nodes now and then. */
  *nodes(sink: NodeSink): Generator<void> {
    const { names } = this;
    const groups = this.#roots.map(
      ({ references }) => references.filter((each) => this.#isLive(each)).length,
    );
    sink(synthetic, names.of(''), 0, 1 + this.#globals.length + this.#native.roots.length);
    sink(synthetic, names.of('(GC roots)'), 0, groups.length);
    for (const [i, { name }] of this.#roots.entries()) sink(synthetic, names.of(name), 0, groups[i]!);
    const extended = new InOrder(this.#extended);
    for (let object = this.#next(0), index = 0; object >= 0; object = this.#next(object + 1), index++) {
      const { type, name, sizeBytes } = this.#reader.of(object);
      const count = this.#counts.of(index);
      sink(
        this.#tagger.typeOf(index, type),
        this.#tagger.nameOf(index, object, name),
        sizeBytes,
        extended.takes(object) ? count + this.#countAdded(object) : count,
      );
      if (index % stride === 0) yield;
    }
    this.#native.nodes(sink);
  }

  /** In the order of the nodes that they start from. Pauses like `nodes`. Once only, if they are kept. */
  *edges(sink: EdgeSink): Generator<void> {
    sink(Edge.element, 1, 1);
    for (const [i, node] of this.#globals.entries()) sink(Edge.shortcut, this.names.ofIndex(i + 2), node);
    for (const [i, node] of this.#native.roots.entries())
      sink(Edge.element, i + 2 + this.#globals.length, node);
    for (const i of this.#roots.keys()) sink(Edge.element, i + 1, nodesBeforeGroups + i);
    for (const { references } of this.#roots) {
      for (const [i, each] of references.entries())
        if (this.#isLive(each))
          sink(
            each.isWeak ? Edge.weak : Edge.internal,
            this.names.of(String(i + 1)),
            this.#nodeOf(each.target),
          );
      yield;
    }
    const extended = new InOrder(this.#extended);
    const toSink: EdgeSink = (type, name, target) => sink(type, name, this.#first + target);
    for (let object = this.#next(0), index = 0; object >= 0; object = this.#next(object + 1), index++) {
      if (this.#kept) this.#kept.take(this.#counts.of(index), toSink);
      else this.#edgesOf(object, sink);
      if (extended.takes(object)) {
        for (const { name, value } of this.#ephemerons.get(object) ?? []) sink(Edge.internal, name, value);
        this.#native.edgesOf(object, sink);
      }
      if (index % stride === 0) yield;
    }
    this.#native.innerEdges(sink);
  }

  #edgesOf(object: number, sink: EdgeSink): void {
    const { live } = this.#marking;
    const { count, types, names, targets } = this.#references.visit(object);
    for (let i = 0; i < count; i++) sink(types[i]!, names[i]!, this.#first + live.numberOf(targets[i]!));
  }

  /**
   * The id of the node whose object, or array buffer's memory, contains the address, which may be tagged or not. Undefined if
   * nothing live does.
   */
  idAt(address: number): number | undefined {
    const slot = this.#objects.words.slotOf(address);
    if (slot < 0) {
      const node = this.#native.nodeAt(address);
      return node === undefined ? undefined : idOfNode(node);
    }
    const object = this.#objects.before(slot);
    if (object < 0 || !this.#marking.live.has(object)) return undefined;
    const isInside = slot < object + Math.max(1, this.#objects.sizeOf(object));
    return isInside ? idOfNode(this.#nodeOf(object)) : undefined;
  }

  /** The address of a node's object; undefined for an id without one. */
  addressOf(id: number): number | undefined {
    const node = (id - 1) / 2;
    if (!Number.isInteger(node) || node < this.#first || node >= this.nodeCount) return undefined;
    // A binary search for the slot by the number of live objects before it.
    const { live } = this.#marking;
    const wanted = node - this.#first;
    let low = 0;
    let high = this.#objects.words.slotCount - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (live.numberOf(middle) <= wanted) low = middle;
      else high = middle - 1;
    }
    if (live.has(low) && live.numberOf(low) === wanted) return this.#objects.pointer(low) - 1;
    return this.#native.addressOf(node);
  }

  /** Drops the memory that nodes and edges are read from. Addresses stay known. */
  release(): void {
    this.#objects.words.release();
  }

  #next(from: number): number {
    return this.#marking.live.next(from);
  }

  #nodeOf(object: number): number {
    return this.#first + this.#marking.live.numberOf(object);
  }

  #isLive({ target }: { target: number }): boolean {
    return this.#marking.live.has(target);
  }

  /** What DevTools shows as the program's own: the global objects of the realms that roots refer to. */
  #findGlobals(): number[] {
    const { context, line } = this.#heap.layout;
    const globalWord = context.data / 8 + context.previous + 1;
    const found = new Set<number>();
    for (const { target, isWeak } of this.#roots.flatMap(({ references }) => references)) {
      if (isWeak || !this.#kinds.isNativeContext(this.#objects.typeOf(target))) continue;
      const global = line < linesOfContexts ? this.#objects.target(target, globalWord) : target;
      if (global >= 0 && this.#marking.live.has(global)) found.add(this.#nodeOf(global));
    }
    return [...found];
  }

  /** Also tags the nodes, which must be known before the first is read. */
  #countEdges(): void {
    const { live } = this.#marking;
    for (let object = this.#next(0), index = 0; object >= 0; object = this.#next(object + 1), index++) {
      const edges = this.#references.visit(object);
      this.#tagger.tag(object, edges, live);
      this.#counts.set(index, edges.count);
      this.#kept?.add(edges, live);
      if (this.#kinds.isWrapper(this.#objects.typeOf(object))) this.#wrappers.push(object);
    }
    this.#kept?.finish();
  }

  #findExtended(buffers: readonly number[]): Int32Array {
    const found = new Set([...this.#ephemerons.keys(), ...buffers, ...this.#wrappers]);
    return Int32Array.from(found).sort();
  }

  /** Number of edges of an object that are not among its references. */
  #countAdded(object: number): number {
    let count = this.#ephemerons.get(object)?.length ?? 0;
    this.#native.edgesOf(object, () => count++);
    return count;
  }

  #countAll(): number {
    let count =
      1 + this.#globals.length + this.#native.roots.length + this.#roots.length + this.#counts.total;
    for (const { references } of this.#roots) for (const each of references) if (this.#isLive(each)) count++;
    for (const entries of this.#ephemerons.values()) count += entries.length;
    for (const object of [...this.#objects.allOf(this.#heap.layout.types.jsArrayBuffer), ...this.#wrappers])
      if (this.#marking.live.has(object)) this.#native.edgesOf(object, () => count++);
    return count + this.#native.innerEdgeCount;
  }

  /**
   * Edges that represent entries of weak maps, by the object that they start from: one from the key and one from the table.
   */
  #findEphemerons(): Map<number, { name: number; value: number }[]> {
    const found = new Map<number, { name: number; value: number }[]>();
    let count = 1;
    const add = (from: number, name: number, value: number) => {
      const known = found.get(from);
      if (known) known.push({ name, value });
      else found.set(from, [{ name, value }]);
    };
    this.#references.onEphemeron = ({ table, key, value }) => {
      if (![table, key, value].every((target) => this.#isLive({ target }))) return;
      const name = this.names.of(
        `${count++} / part of key (${this.#label(key)}) -> value (${this.#label(value)}) pair in WeakMap (table @${idOfNode(this.#nodeOf(table))})`,
      );
      add(key, name, this.#nodeOf(value));
      add(table, name, this.#nodeOf(value));
    };
    for (const table of [...this.#marking.ephemeronTables].sort((a, b) => a - b))
      this.#references.visit(table);
    this.#references.onEphemeron = () => {};
    return found;
  }

  #label(object: number): string {
    const node = this.#nodeOf(object);
    const name = this.#tagger.nameOf(node - this.#first, object, this.#reader.of(object).name);
    return `${this.names.text(name)} @${idOfNode(node)}`;
  }
}
