/**
 * A small snapshot's graph in the memory of graph.as.ts, whose WebAssembly code is fast from its first step on; for large
 * snapshots JavaScript is as fast once V8 has compiled it. The reader writes directly into this memory if it was given it
 * (`memoryFor`); other columns are copied. This file only knows where the columns are; the files that use them know their
 * meaning.
 */
import {
  type Allocator,
  type HeapSnapshot,
  NodeType,
  privateMemory,
  type SnapshotHeader,
} from '../../../formats/heapsnapshot/index.ts';
import { markEphemerons } from '../graph/ephemerons.ts';
import { graphCode } from './graph-code.ts';

/** With more edges, the walks in JavaScript are compiled before they are half done. */
const mostEdges = 2_500_000;
/** With more nodes a second thread is worthwhile, which must also see the columns (second-thread.ts). */
const mostNodes = 400_000;
const pageBytes = 65536;
/** Edges per call: code that V8 has optimised in the meantime is only used from the next call on. */
const edgesAtOnce = 30_000;

interface Constant {
  readonly value: number;
}

type Column =
  | 'packed'
  | 'edgeName'
  | 'edgeNameHigh'
  | 'firstEdge'
  | 'name'
  | 'id'
  | 'selfSize'
  | 'type'
  | 'number'
  | 'parent'
  | 'semi'
  | 'order'
  | 'dominator'
  | 'distance'
  | 'shallow'
  | 'retained'
  | 'first'
  | 'dominated'
  | 'owner'
  | 'shared'
  | 'retainerFirst'
  | 'retainers'
  | 'markOfName'
  | 'marked'
  | 'marks'
  | 'placeOf'
  | 'row'
  | 'plain'
  | 'plainState'
  | 'stateCount'
  | 'stateFirst'
  | 'classCount'
  | 'classSelf'
  | 'classRetained'
  | 'classDistance';

type Places = { [Name in `${Column}At`]: Constant };

interface Exports extends Places {
  memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  visited: { value: number };
  states: Constant;
  /** The maximum number of classes. */
  classRoom: Constant;
  layout(nodeCount: number, edgeCount: number): number;
  setFlags(
    hidden: number,
    array: number,
    native: number,
    context: number,
    descriptors: number,
    data: number,
  ): void;
  findShared(from: number, to: number): void;
  startTree(): void;
  walk(start: number): void;
  goOn(lastPage: number, steps: number): number;
  sortCrossings(): void;
  evaluateSemidominators(last: number, first: number): void;
  findImmediateDominators(patience: number): number;
  orderNodes(root: number): void;
  sumRetained(): void;
  indexDominated(root: number): void;
  resetDistances(unseen: number): void;
  reach(node: number, distance: number): void;
  visitQueue(unseen: number, most: number): number;
  startOwners(unowned: number): void;
  findOwners(from: number, to: number, unowned: number, shared: number): void;
  transferSizes(root: number, synthetic: number, shared: number): number;
  findShapes(object: number, objectName: number, property: number, mostListed: number): number;
  assignRows(object: number, native: number, strings: number, places: number): void;
  sumClasses(rows: number, noDistance: number): void;
  sumClassesRetained(root: number): void;
  indexRetainers(edges: number): void;
  findMarked(object: number, property: number): number;
}

/** The part of the WebAssembly API used here; Node's types leave it to those of the browser. */
interface WebAssemblyApi {
  Module: new (code: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: unknown };
}

const api = (globalThis as unknown as { WebAssembly?: WebAssemblyApi }).WebAssembly;
/** Set once memory was refused, and never retried: all walks over one snapshot must use the same implementation. */
let isOff = api === undefined;
let compiled: object | undefined;
const kernels = new WeakMap<HeapSnapshot, GraphKernel>();
/** Kernels whose memory was given to a reader, by that memory. */
const given = new WeakMap<ArrayBufferLike, GraphKernel>();

export class GraphKernel {
  readonly code: Exports;
  /** Called in `goOn` for an edge that is not simply strong: whether it counts. */
  counts: (value: number, edge: number, lastPage: number) => boolean = () => true;
  /** Called in `visitQueue`, likewise. */
  passes: (value: number, edge: number, node: number) => boolean = () => true;
  /** Called in `assignRows`: the row of a node's class. */
  rowOf: (node: number) => number = () => 0;
  /** Whether its column contains the dominators. */
  hasDominators = false;
  #isWalked = false;

  private constructor(nodeCount: number, edgeCount: number) {
    const graph = {
      counts: (value: number, edge: number, lastPage: number) => this.counts(value, edge, lastPage),
      passes: (value: number, edge: number, node: number) => this.passes(value, edge, node),
      rowOf: (node: number) => this.rowOf(node),
    };
    compiled ??= new api!.Module(Buffer.from(graphCode, 'base64'));
    this.code = new api!.Instance(compiled, { 'graph-columns': graph }).exports as Exports;
    this.code.memory.grow(Math.ceil(this.code.layout(nodeCount, edgeCount) / pageBytes));
  }

  /** Memory for the columns of a small snapshot, so that they need not be copied. */
  static memoryFor({ nodeCount, edgeCount }: SnapshotHeader): Allocator | undefined {
    if (edgeCount > mostEdges || nodeCount > mostNodes) return undefined;
    const kernel = GraphKernel.#make(nodeCount, edgeCount);
    if (!kernel) return undefined;
    given.set(kernel.code.memory.buffer, kernel);
    const has = (column: string): column is Column => `${column}At` in kernel.code;
    return {
      bytes: (length, name) => (has(name) ? kernel.bytes(name, length) : privateMemory.bytes(length, name)),
      halves: (length, name) =>
        has(name) ? kernel.halves(name, length) : privateMemory.halves(length, name),
      words: (length, name) => (has(name) ? kernel.words(name, length) : privateMemory.words(length, name)),
    };
  }

  static #make(nodeCount: number, edgeCount: number): GraphKernel | undefined {
    if (isOff) return undefined;
    try {
      return new GraphKernel(nodeCount, edgeCount);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      isOff = true;
      return undefined;
    }
  }

  /** The kernel of a small snapshot, always the same one; undefined for a large snapshot, or if WebAssembly has no memory. */
  static of(snapshot: HeapSnapshot): GraphKernel | undefined {
    const { nodes, edges, strings } = snapshot;
    if (edges.count > mostEdges || !snapshot.hasAllEdges || isOff) return undefined;
    // Tables by name are sized for at most one name per node and edge.
    if (strings.count > nodes.count + edges.count) return undefined;
    const known = kernels.get(snapshot);
    if (known) return known;
    const kernel = GraphKernel.#over(snapshot);
    if (kernel) kernels.set(snapshot, kernel);
    return kernel;
  }

  static #over(snapshot: HeapSnapshot): GraphKernel | undefined {
    markEphemerons(snapshot);
    const { buffer } = snapshot.edges.packed;
    const read = given.get(buffer);
    given.delete(buffer);
    const kernel = read ?? GraphKernel.#make(snapshot.nodes.count, snapshot.edges.count);
    if (!kernel) return undefined;
    if (!read) kernel.#copy(snapshot);
    kernel.#prepare(snapshot);
    return kernel;
  }

  #copy({ nodes, edges }: HeapSnapshot): void {
    this.words('packed', edges.count).set(edges.packed.subarray(0, edges.count));
    this.halves('edgeName', edges.count).set(edges.nameOrIndex.low.subarray(0, edges.count));
    this.bytes('edgeNameHigh', edges.count).set(edges.nameOrIndex.high.subarray(0, edges.count));
    this.words('firstEdge', nodes.count + 1).set(nodes.firstEdge.subarray(0, nodes.count + 1));
    this.words('name', nodes.count).set(nodes.name.subarray(0, nodes.count));
    this.words('selfSize', nodes.count).set(nodes.selfSize.narrow.subarray(0, nodes.count));
    this.bytes('type', nodes.count).set(nodes.type.subarray(0, nodes.count));
  }

  #prepare({ strings, edges }: HeapSnapshot): void {
    const nameOf = (text: string): number => strings.findAscii(text);
    this.code.setFlags(
      NodeType.hidden,
      NodeType.array,
      NodeType.native,
      nameOf('system / NativeContext'),
      nameOf('(map descriptors)'),
      nameOf('system / ExternalStringData'),
    );
    for (let edge = 0; edge < edges.count; edge += edgesAtOnce)
      this.code.findShared(edge, Math.min(edges.count, edge + edgesAtOnce));
  }

  /** A kernel in which no node was visited yet. */
  static unwalked(snapshot: HeapSnapshot): GraphKernel | undefined {
    const known = GraphKernel.of(snapshot);
    if (!known) return undefined;
    if (!known.#isWalked) {
      known.#isWalked = true;
      return known;
    }
    kernels.delete(snapshot);
    return GraphKernel.unwalked(snapshot);
  }

  /** Whether an array is the kernel's own column. */
  holds(column: Column, array: ArrayBufferView): boolean {
    return array.buffer === this.code.memory.buffer && array.byteOffset === this.code[`${column}At`].value;
  }

  bytes(column: Column, length: number): Uint8Array {
    return new Uint8Array(this.code.memory.buffer, this.code[`${column}At`].value, length);
  }

  halves(column: Column, length: number): Uint16Array {
    return new Uint16Array(this.code.memory.buffer, this.code[`${column}At`].value, length);
  }

  words(column: Column, length: number): Uint32Array {
    return new Uint32Array(this.code.memory.buffer, this.code[`${column}At`].value, length);
  }

  numbers(column: Column, length: number): Int32Array {
    return new Int32Array(this.code.memory.buffer, this.code[`${column}At`].value, length);
  }

  doubles(column: Column, length: number): Float64Array {
    return new Float64Array(this.code.memory.buffer, this.code[`${column}At`].value, length);
  }
}
