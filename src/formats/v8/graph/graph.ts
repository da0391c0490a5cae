/**
 * The graph of a heap in memory, as V8's profiler would have written it: a node for each live object, and named edges. Nodes
 * and edges are not stored unless it is asked for: they are read from memory again whenever they are needed, because their
 * columns would take as much memory as the heap.
 */

import type { V8Heap } from '../heap/heap.ts';
import { type EdgeBatch, EdgeBuffer } from './edges/edge-batch.ts';
import { EdgeReader } from './edges/edge-reader.ts';
import { Programs } from './kernel/programs.ts';
import { type GraphPlace, type LocationBatch, LocationReader } from './locations.ts';
import type { Marking } from './marking.ts';
import type { Names } from './names.ts';
import { NativeMemory, type NativeSources } from './native/native-memory.ts';
import type { RootGroup } from './native/root-sources.ts';
import { type NodeBatch, NodeBuffer, objectNodes } from './node-batch.ts';
import type { NodeReader } from './node-facts.ts';
import { Edge, nodeTypes, type ObjectKinds } from './object-kinds.ts';
import type { HeapObjects } from './objects/heap-objects.ts';
import { InOrder } from './objects/in-order.ts';
import type { SlotSet } from './objects/slot-set.ts';
import type { ReferenceReader } from './references.ts';
import { Tagger } from './tags.ts';

export interface GraphParts {
  heap: V8Heap;
  objects: HeapObjects;
  kinds: ObjectKinds;
  names: Names;
  references: ReferenceReader;
  marking: Marking;
  reader: NodeReader;
  native: NativeSources;
  /** Edges are asked for once, soon, so that they are kept rather than read from memory again. */
  keepsEdges: boolean;
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
const roomOfBuffer = 1 << 12;

/** The id of a node. V8 assigns odd ids. */
export const idOfNode = (node: number) => 2 * node + 1;

export class HeapGraph {
  readonly names: Names;
  readonly nodeCount: number;
  readonly edgeCount: number;
  readonly #heap: V8Heap;
  readonly #objects: HeapObjects;
  /** What reads from memory, until it is released. */
  #references: ReferenceReader | undefined;
  readonly #reader: NodeReader;
  readonly #roots: readonly RootGroup[];
  #edges: EdgeReader | undefined;
  readonly #live: SlotSet;
  readonly #ephemeronTables: readonly number[];
  readonly #kinds: ObjectKinds;
  readonly #globals: readonly number[];
  #tagger: Tagger | undefined;
  /** Node of the first object. */
  readonly #first: number;
  readonly #native: NativeMemory;
  readonly #ephemerons: ReadonlyMap<number, readonly { name: number; value: number }[]>;
  /** The objects that have more edges than their references, in order. */
  readonly #extended: Int32Array;
  readonly #liveCount: number;

  constructor(parts: GraphParts, roots: readonly RootGroup[]) {
    const { heap, objects, kinds, names, references, marking, reader, native, keepsEdges } = parts;
    this.#heap = heap;
    this.#objects = objects;
    this.names = names;
    this.#references = references;
    const { live: set } = marking;
    this.#live = set;
    this.#ephemeronTables = marking.ephemeronTables;
    this.#reader = reader;
    this.#roots = roots;
    this.#kinds = kinds;
    this.#first = nodesBeforeGroups + roots.length;
    const live = set.number();
    this.#liveCount = live;
    this.#globals = this.#findGlobals();
    const { kernel } = objects.words;
    const tags = kernel?.bytes('tags', live).fill(0);
    this.#tagger = new Tagger(objects, kinds, names, heap.layout.deoptimization, live, tags);
    if (kernel) new Programs(kernel, heap.layout, objects, kinds, references, this.#tagger);
    this.#edges = new EdgeReader({ objects, kinds, references, live: set, first: this.#first }, live);
    this.#edges.readAll(this.#tagger, keepsEdges);
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
      Array.from(buffers).filter((object) => set.has(object)),
      this.#edges.wrappers,
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

  /** In the order of their numbers. */
  *nodes(): Generator<NodeBatch> {
    const { names } = this;
    const groups = this.#roots.map(
      ({ references }) => references.filter((each) => this.#isLive(each)).length,
    );
    const buffer = new NodeBuffer();
    buffer.add(synthetic, names.of(''), 0, 1 + this.#globals.length + this.#native.roots.length);
    buffer.add(synthetic, names.of('(GC roots)'), 0, groups.length);
    for (const [i, { name }] of this.#roots.entries()) buffer.add(synthetic, names.of(name), 0, groups[i]!);
    yield buffer;
    const extended = new InOrder(this.#extended);
    yield* objectNodes({
      objects: this.#objects,
      live: this.#live,
      reader: this.#reader,
      tagger: this.#tagger!,
      counts: this.#edges!.counts,
      added: (object) => (extended.takes(object) ? this.#countAdded(object) : 0),
    });
    yield* nodesOf((sink) => this.#native.nodes(sink));
  }

  /** In the order of the nodes that they start from. Once only, if they are kept. */
  *edges(): Generator<EdgeBatch> {
    const edgesOf = edgesInBatches();
    yield* edgesOf((sink) => this.#rootEdges(sink));
    const live = this.#live;
    let index = 0;
    for (const object of this.#extended) {
      if (!live.has(object)) continue;
      const next = live.numberOf(object) + 1;
      yield* this.#edges!.take(next - index);
      index = next;
      yield* edgesOf((sink) => {
        for (const { name, value } of this.#ephemerons.get(object) ?? []) sink(Edge.internal, name, value);
        this.#native.edgesOf(object, sink);
      });
    }
    yield* this.#edges!.take(this.#liveCount - index);
    yield* edgesOf((sink) => this.#native.innerEdges(sink));
  }

  /** Of functions, and of objects of the program's classes. `places`: receives each place before a batch has its number. */
  *locations(places: (GraphPlace | undefined)[]): Generator<LocationBatch> {
    const reader = new LocationReader(this.#heap, this.#objects, this.#kinds);
    const batch = { count: 0, nodes: new Uint32Array(roomOfBuffer), places: new Uint32Array(roomOfBuffer) };
    const hand = () => {
      for (let at = places.length; at < reader.places.length; at++) places.push(reader.places[at]);
      return batch;
    };
    const live = this.#live;
    let node = this.#first;
    for (let object = live.next(0); object >= 0; object = live.next(object + 1), node++) {
      const place = reader.of(object);
      if (place === 0) continue;
      batch.nodes[batch.count] = node;
      batch.places[batch.count++] = place;
      if (batch.count < roomOfBuffer) continue;
      yield hand();
      batch.count = 0;
    }
    yield hand();
  }

  #rootEdges(sink: EdgeSink): void {
    sink(Edge.element, 1, 1);
    for (const [i, node] of this.#globals.entries()) sink(Edge.shortcut, this.names.ofIndex(i + 2), node);
    for (const [i, node] of this.#native.roots.entries())
      sink(Edge.element, i + 2 + this.#globals.length, node);
    for (const i of this.#roots.keys()) sink(Edge.element, i + 1, nodesBeforeGroups + i);
    for (const { references } of this.#roots)
      for (const [i, each] of references.entries())
        if (this.#isLive(each))
          sink(
            each.isWeak ? Edge.weak : Edge.internal,
            this.names.of(String(i + 1)),
            this.#nodeOf(each.target),
          );
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
    if (object < 0 || !this.#live.has(object)) return undefined;
    const isInside = slot < object + Math.max(1, this.#objects.sizeOf(object));
    return isInside ? idOfNode(this.#nodeOf(object)) : undefined;
  }

  /** The address of a node's object; undefined for an id without one. */
  addressOf(id: number): number | undefined {
    const node = (id - 1) / 2;
    if (!Number.isInteger(node) || node < this.#first || node >= this.nodeCount) return undefined;
    // A binary search for the slot by the number of live objects before it.
    const live = this.#live;
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
    this.#objects.release();
    this.#references = undefined;
    this.#tagger = undefined;
    this.#edges = undefined;
  }

  #nodeOf(object: number): number {
    return this.#first + this.#live.numberOf(object);
  }

  #isLive({ target }: { target: number }): boolean {
    return this.#live.has(target);
  }

  /** What DevTools shows as the program's own: the global objects of the realms that roots refer to. */
  #findGlobals(): number[] {
    const { context, line } = this.#heap.layout;
    const globalWord = context.data / 8 + context.previous + 1;
    const found = new Set<number>();
    for (const { target, isWeak } of this.#roots.flatMap(({ references }) => references)) {
      if (isWeak || !this.#kinds.isNativeContext(this.#objects.typeOf(target))) continue;
      const global = line < linesOfContexts ? this.#objects.target(target, globalWord) : target;
      if (global >= 0 && this.#live.has(global)) found.add(this.#nodeOf(global));
    }
    return [...found];
  }

  #findExtended(buffers: readonly number[]): Int32Array {
    const found = new Set([...this.#ephemerons.keys(), ...buffers, ...this.#edges!.wrappers]);
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
      1 + this.#globals.length + this.#native.roots.length + this.#roots.length + this.#edges!.counts.total;
    for (const { references } of this.#roots) for (const each of references) if (this.#isLive(each)) count++;
    for (const entries of this.#ephemerons.values()) count += entries.length;
    for (const object of [
      ...this.#objects.allOf(this.#heap.layout.types.jsArrayBuffer),
      ...this.#edges!.wrappers,
    ])
      if (this.#live.has(object)) this.#native.edgesOf(object, () => count++);
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
    this.#references!.onEphemeron = ({ table, key, value }) => {
      if (![table, key, value].every((target) => this.#isLive({ target }))) return;
      const name = this.names.of(
        `${count++} / part of key (${this.#label(key)}) -> value (${this.#label(value)}) pair in WeakMap (table @${idOfNode(this.#nodeOf(table))})`,
      );
      add(key, name, this.#nodeOf(value));
      add(table, name, this.#nodeOf(value));
    };
    for (const table of [...this.#ephemeronTables].sort((a, b) => a - b)) this.#references!.visit(table);
    this.#references!.onEphemeron = () => {};
    return found;
  }

  #label(object: number): string {
    const node = this.#nodeOf(object);
    const name = this.#tagger!.nameOf(node - this.#first, object, this.#reader.of(object).name);
    return `${this.names.text(name)} @${idOfNode(node)}`;
  }
}

/** For many lists of edges, most of which are short: one buffer for all of them. */
function edgesInBatches(): (fill: (sink: EdgeSink) => void) => EdgeBatch[] {
  let full: EdgeBatch[] = [];
  const take = ({ count, packed, names }: EdgeBatch) =>
    full.push({ count, packed: packed.slice(0, count), names: names.slice(0, count) });
  const buffer = new EdgeBuffer(new Uint32Array(roomOfBuffer), new Uint32Array(roomOfBuffer), take);
  return (fill) => {
    full = [];
    fill((type, name, target) => buffer.add(type, name, target));
    buffer.flush();
    return full;
  };
}

function* nodesOf(fill: (sink: NodeSink) => void): Generator<NodeBatch> {
  const full: NodeBatch[] = [];
  let buffer = new NodeBuffer();
  fill((type, name, size, edgeCount) => {
    if (buffer.isFull) {
      full.push(buffer);
      buffer = new NodeBuffer();
    }
    buffer.add(type, name, size, edgeCount);
  });
  yield* full;
  if (buffer.count > 0) yield buffer;
}
