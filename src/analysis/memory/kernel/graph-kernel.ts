/**
 * The columns of a small snapshot's graph in the memory of graph.as.ts, whose walks are fast from their first step on.
 * For large ones JavaScript is as fast, once V8 has compiled it. The reader writes into this memory where it was asked
 * for (`memoryFor`); what it wrote elsewhere is copied. Knows where the columns stand; what they say is the matter of
 * the files that ask.
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

/** More, and the walks in JavaScript are compiled before they are half done. */
const mostEdges = 2_500_000;
/** More, and a second thread pays, which must see the columns too (second-thread.ts). */
const mostNodes = 400_000;
const pageBytes = 65536;
/** That are looked at in one call: what V8 has compiled better meanwhile serves the next. */
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
  /** Classes that there is room for. */
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
}

/** What we use of it; Node's types leave it to the browser's. */
interface WebAssemblyApi {
  Module: new (code: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: unknown };
}

const api = (globalThis as unknown as { WebAssembly?: WebAssemblyApi }).WebAssembly;
/** Once it was refused, it is not asked for again: all walks of one snapshot must be of one kind. */
let isOff = api === undefined;
let compiled: object | undefined;
const kernels = new WeakMap<HeapSnapshot, GraphKernel>();
/** By memory: those that a reader was given. */
const given = new WeakMap<ArrayBufferLike, GraphKernel>();

export class GraphKernel {
  readonly code: Exports;
  /** Asked in `goOn` about an edge that is not simply strong: whether it counts. */
  counts: (value: number, edge: number, lastPage: number) => boolean = () => true;
  /** Asked in `visitQueue`, likewise. */
  passes: (value: number, edge: number, node: number) => boolean = () => true;
  /** Asked in `assignRows`: the row of a node's class. */
  rowOf: (node: number) => number = () => 0;
  /** Whether the dominators are in its column. */
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

  /** Where a reader may put a small snapshot's columns, so that they need not be copied. */
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

  /** Of a small snapshot, the same at each question; undefined for a large one, and where WebAssembly has no memory. */
  static of(snapshot: HeapSnapshot): GraphKernel | undefined {
    const { nodes, edges, strings } = snapshot;
    if (edges.count > mostEdges || !snapshot.hasAllEdges || isOff) return undefined;
    // A table by name has room for as many as nodes and edges could have.
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

  /** One of which no node is visited yet. */
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

  /** Whether an array is its column. */
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
