/**
 * The columns of a small snapshot's graph in the memory of graph.as.ts, whose walks are fast from their first step on.
 * For large ones JavaScript is as fast, once V8 has compiled it, and needs no copy of the edges. Knows where the columns
 * stand; what they say is the matter of the files that ask.
 */
import { type HeapSnapshot, NodeType } from '../../formats/heapsnapshot/index.ts';
import { markEphemerons } from './ephemerons.ts';
import { graphCode } from './graph-code.ts';

/** More, and the walks in JavaScript are compiled before they are half done. */
const mostEdges = 2_500_000;
const pageBytes = 65536;

interface Constant {
  readonly value: number;
}

type Column =
  | 'packed'
  | 'firstEdge'
  | 'name'
  | 'type'
  | 'number'
  | 'parent'
  | 'semi'
  | 'order'
  | 'dominator'
  | 'distance'
  | 'owner'
  | 'shared'
  | 'starts'
  | 'links'
  | 'edgeName'
  | 'edgeNameHigh'
  | 'placeOf'
  | 'row'
  | 'plain'
  | 'plainState'
  | 'stateCount'
  | 'stateFirst';

type Places = { [Name in `${Column}At`]: Constant };

interface Exports extends Places {
  memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  visited: { value: number };
  states: Constant;
  layout(nodeCount: number, edgeCount: number, strings: number, places: number): number;
  setFlags(
    hidden: number,
    array: number,
    native: number,
    context: number,
    descriptors: number,
    data: number,
  ): void;
  findShared(): void;
  walk(start: number, lastPage: number): void;
  evaluateSemidominators(): void;
  findImmediateDominators(patience: number): number;
  orderNodes(root: number): void;
  indexDominated(root: number): void;
  resetDistances(unseen: number): void;
  reach(node: number, distance: number): void;
  visitQueue(unseen: number): void;
  findShapes(object: number, objectName: number, property: number, mostListed: number): number;
  assignRows(object: number, native: number): void;
  findOwners(unowned: number, shared: number): void;
}

/** What we use of it; Node's types leave it to the browser's. */
interface WebAssemblyApi {
  Module: new (code: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: unknown };
}

const api = (globalThis as unknown as { WebAssembly?: WebAssemblyApi }).WebAssembly;
/** Once it was refused, it is not asked for again: all walks of one snapshot must be of one kind. */
let isOff = api === undefined;
const kernels = new WeakMap<HeapSnapshot, GraphKernel>();

export class GraphKernel {
  readonly code: Exports;
  /** Asked in `walk` about an edge that is not simply strong: whether it counts. */
  counts: (value: number, edge: number, lastPage: number) => boolean = () => true;
  /** Asked in `visitQueue`, likewise. */
  passes: (value: number, edge: number, node: number) => boolean = () => true;
  /** Asked in `assignRows`: the row of a node's class. */
  rowOf: (node: number) => number = () => 0;
  /** Whether the dominators are in its column. */
  hasDominators = false;
  #isWalked = false;

  private constructor(snapshot: HeapSnapshot) {
    markEphemerons(snapshot);
    const { nodes, edges, strings, locations } = snapshot;
    const graph = {
      counts: (value: number, edge: number, lastPage: number) => this.counts(value, edge, lastPage),
      passes: (value: number, edge: number, node: number) => this.passes(value, edge, node),
      rowOf: (node: number) => this.rowOf(node),
    };
    this.code = new api!.Instance(new api!.Module(Buffer.from(graphCode, 'base64')), {
      'graph-columns': graph,
    }).exports as Exports;
    const bytes = this.code.layout(nodes.count, edges.count, strings.count, locations.places.length);
    this.code.memory.grow(Math.ceil(bytes / pageBytes));
    this.words('packed', edges.count).set(edges.packed.subarray(0, edges.count));
    this.words('firstEdge', nodes.count + 1).set(nodes.firstEdge.subarray(0, nodes.count + 1));
    this.words('name', nodes.count).set(nodes.name.subarray(0, nodes.count));
    this.bytes('type', nodes.count).set(nodes.type.subarray(0, nodes.count));
    this.bytes('edgeNameHigh', edges.count).set(edges.nameOrIndex.high.subarray(0, edges.count));
    this.halves('edgeName', edges.count).set(edges.nameOrIndex.low.subarray(0, edges.count));
    this.words('placeOf', nodes.count).set(locations.placeOf.subarray(0, nodes.count));
    const nameOf = (text: string): number => strings.findAscii(text);
    this.code.setFlags(
      NodeType.hidden,
      NodeType.array,
      NodeType.native,
      nameOf('system / NativeContext'),
      nameOf('(map descriptors)'),
      nameOf('system / ExternalStringData'),
    );
    this.code.findShared();
  }

  /** Of a small snapshot, the same at each question; undefined for a large one, and where WebAssembly has no memory. */
  static of(snapshot: HeapSnapshot): GraphKernel | undefined {
    if (snapshot.edges.count > mostEdges || !snapshot.hasAllEdges || isOff) return undefined;
    const known = kernels.get(snapshot);
    if (known) return known;
    try {
      const kernel = new GraphKernel(snapshot);
      kernels.set(snapshot, kernel);
      return kernel;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      isOff = true;
      return undefined;
    }
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
}
