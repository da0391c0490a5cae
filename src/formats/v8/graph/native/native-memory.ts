/**
 * Memory outside of V8's heap that belongs to objects in it: the bytes of array buffers, and C++ objects that have a JavaScript
 * object of their own, with what only they refer to. V8's profiler asks each C++ object for its parts; in a dead process the
 * chunks of malloc tell their sizes, but not their names.
 */
import type { MemoryReader } from '../../../../bytes/memory.ts';
import type { V8Heap } from '../../heap/heap.ts';
import type { Names } from '../names.ts';
import { Edge, nodeTypes, type ObjectKinds } from '../object-kinds.ts';
import type { HeapObjects } from '../objects/heap-objects.ts';
import type { MallocChunks } from './malloc-chunks.ts';
import { forEachWord } from './native-words.ts';

interface Part {
  node: number;
  /** Text number. */
  name: number;
  bytes: number;
  /** What else belongs to it. */
  parts: Part[];
  /** Node of the JavaScript object of a C++ object that is a root. */
  wrapper?: number;
}

const native = nodeTypes.indexOf('native');
/** Words of an object before the fields that C++ can use. */
const objectHeader = 3;
const chunkHeader = 8;
/** Before this line the C++ objects that keep their JavaScript object alive are roots of Node's. */
const linesWithoutNativeRoots = 1300;
/** Limit for the bytes of C++ objects that are searched. Fewer words than a Map can have entries. */
const mostSearched = 1 << 27;
const mostParts = 1 << 23;

export interface NativeSources {
  memory: MemoryReader;
  chunks: MallocChunks;
  isGlobalHandle(address: number): boolean;
}

/** What is known about objects. */
export interface ObjectFacts {
  /** Text number of its class. */
  classOf(object: number): number;
  nodeOf(object: number): number;
  /** Whether C++ keeps it alive. */
  isHeld(object: number): boolean;
}

export class NativeMemory {
  readonly #heap: V8Heap;
  readonly #objects: HeapObjects;
  readonly #kinds: ObjectKinds;
  readonly #names: Names;
  readonly #sources: NativeSources;
  readonly #first: number;
  readonly #backingStore: number;
  readonly #toNative: number;
  readonly #memory: number;
  readonly #toWrapper: number;
  /** By address, in the order of their nodes. */
  readonly #parts = new Map<number, Part>();
  /** Edges from the parts. */
  #inner = 0;
  #isCut = false;
  /** Nodes of parts that the root refers to. */
  readonly roots: number[] = [];

  /**
   * `first`: number of the first node. `buffers`, `wrappers`: live array buffers, and live objects that may have a C++ object.
   */
  constructor(
    heap: V8Heap,
    objects: HeapObjects,
    kinds: ObjectKinds,
    names: Names,
    sources: NativeSources,
    first: number,
    buffers: Iterable<number>,
    wrappers: readonly number[],
    { classOf, nodeOf, isHeld }: ObjectFacts,
  ) {
    this.#heap = heap;
    this.#objects = objects;
    this.#kinds = kinds;
    this.#names = names;
    this.#sources = sources;
    this.#first = first;
    this.#backingStore = names.of('backing_store');
    this.#toNative = names.of('javascript_to_native');
    this.#memory = names.of('memory');
    this.#toWrapper = names.of('native_to_javascript');
    const data = names.of('system / JSArrayBufferData');
    for (const buffer of buffers) {
      const bytes = heap.memory.findWord(objects.pointer(buffer) - 1 + heap.layout.arrayBuffer.byteLength);
      this.#add(findStore(heap, objects, buffer), data, bytes ?? 0);
    }
    for (const [object, part] of this.#addWrapped(wrappers, classOf)) {
      if (heap.layout.line >= linesWithoutNativeRoots || !isHeld(object)) continue;
      part.wrapper = nodeOf(object);
      this.roots.push(part.node);
      this.#inner++;
    }
  }

  get count(): number {
    return this.#parts.size;
  }

  /** Whether there was more than is searched. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Number of edges from its nodes. */
  get innerEdgeCount(): number {
    return this.#inner;
  }

  nodes(sink: (type: number, name: number, size: number, edgeCount: number) => void): void {
    for (const { name, bytes, parts, wrapper } of this.#parts.values())
      sink(native, name, bytes, parts.length + (wrapper === undefined ? 0 : 1));
  }

  innerEdges(sink: (type: number, name: number, target: number) => void): void {
    for (const { parts, wrapper } of this.#parts.values()) {
      for (const { node } of parts) sink(Edge.internal, this.#memory, node);
      if (wrapper !== undefined) sink(Edge.internal, this.#toWrapper, wrapper);
    }
  }

  /** The edges from an object to what belongs to it. */
  edgesOf(object: number, sink: (type: number, name: number, target: number) => void): void {
    if (this.#parts.size === 0) return;
    const type = this.#objects.typeOf(object);
    if (type === this.#heap.layout.types.jsArrayBuffer) {
      const part = this.#parts.get(findStore(this.#heap, this.#objects, object));
      if (part) sink(Edge.internal, this.#backingStore, part.node);
    } else if (this.#kinds.isWrapper(type))
      this.#forEachField(object, (address) => {
        const part = this.#parts.get(address);
        if (part) sink(Edge.internal, this.#toNative, part.node);
      });
  }

  /** The node of the memory that contains an address. */
  nodeAt(address: number): number | undefined {
    for (const [start, { node, bytes }] of this.#parts)
      if (address >= start && address < start + bytes) return node;
    return undefined;
  }

  addressOf(node: number): number | undefined {
    for (const [address, part] of this.#parts) if (part.node === node) return address;
    return undefined;
  }

  #add(address: number, name: number, bytes: number): Part | undefined {
    if (address === 0 || this.#parts.has(address)) return undefined;
    if (this.#parts.size >= mostParts) {
      this.#isCut = true;
      return undefined;
    }
    const part: Part = { node: this.#first + this.#parts.size, name, bytes, parts: [] };
    this.#parts.set(address, part);
    return part;
  }

  /** Returns the objects that have a C++ object. */
  #addWrapped(wrappers: readonly number[], classOf: (object: number) => number): Map<number, Part> {
    const wrapped = new Map<number, Part>();
    const { chunks } = this.#sources;
    const found: [address: number, size: number, part: Part][] = [];
    for (const object of wrappers)
      this.#forEachField(object, (address) => {
        const size = chunks.sizeAt(address);
        const name = size > 0 ? this.#names.of(`${this.#names.text(classOf(object))} (C++)`) : 0;
        const part = size > 0 ? this.#add(address, name, size - chunkHeader) : undefined;
        if (!part) return;
        wrapped.set(object, part);
        found.push([address, size, part]);
      });
    for (const [address, owner] of this.#ownedBy(found)) {
      const part = this.#add(address, owner.name, chunks.sizeAt(address) - chunkHeader);
      if (!part) continue;
      owner.parts.push(part);
      this.#inner++;
    }
    return wrapped;
  }

  /**
   * Chunks that exactly one of these refers to. What several refer to, such as the environment, belongs to none; so none does if
   * there are more than can be searched.
   */
  #ownedBy(found: readonly [address: number, size: number, part: Part][]): Map<number, Part> {
    const { memory, chunks, isGlobalHandle } = this.#sources;
    if (found.reduce((sum, [, size]) => sum + size, 0) > mostSearched) {
      this.#isCut = true;
      return new Map();
    }
    const owners = new Map<number, Part | undefined>();
    for (const [start, size, part] of found)
      forEachWord(memory, [start, start + size - chunkHeader], (_, low, high) => {
        const address = high * 2 ** 32 + (low >>> 0);
        if (this.#parts.has(address)) return;
        if (owners.has(address)) {
          if (owners.get(address) !== part) owners.set(address, undefined);
        } else if (chunks.sizeAt(address) > 0 && !isGlobalHandle(address)) owners.set(address, part);
      });
    const owned = new Map<number, Part>();
    for (const [address, part] of owners) if (part) owned.set(address, part);
    return owned;
  }

  /** Fields of C++ are addresses without a tag. */
  #forEachField(object: number, visit: (address: number) => void): void {
    const { words } = this.#objects;
    const end = this.#objects.sizeOf(object);
    for (let word = objectHeader; word < end; word++) {
      const low = words.low(object + word);
      if (low !== 0 && (low & 15) === 0) visit(words.high(object + word) * 2 ** 32 + (low >>> 0));
    }
  }
}

/** The address of an array buffer's memory; 0 if it has none. */
export function findStore(heap: V8Heap, objects: HeapObjects, buffer: number): number {
  return heap.memory.findWord(objects.pointer(buffer) - 1 + heap.layout.arrayBuffer.backingStore) ?? 0;
}
