/**
 * The memory of heap.as.ts, in which the pages of a heap are read, and what its walks ask of TypeScript. This file only knows
 * where the columns are; the files that use them know their meaning.
 */
import { heapCode } from './heap-code.ts';

const pageBytes = 65536;
const mostPages = 65536;
const rowBytes = 1 << 18;
/** Objects per call: code that V8 has optimised in the meantime is only used from the next call on. */
export const objectsAtOnce = 1 << 12;

interface Constant {
  readonly value: number;
}

type Column =
  | 'rows'
  | 'starts'
  | 'ends'
  | 'live'
  | 'before'
  | 'counts'
  | 'tags'
  | 'ways'
  | 'flags'
  | 'nodeWays'
  | 'nodeTypes'
  | 'nodeNames'
  | 'programs'
  | 'program'
  | 'indexes'
  | 'codes'
  | 'constants'
  | 'packed'
  | 'names'
  | 'nodeSlots'
  | 'batchTypes'
  | 'batchNames'
  | 'batchSizes'
  | 'texts';

interface Exports extends Readonly<Record<`${Column}At`, Constant>> {
  memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  mapRoom: Constant;
  programRoom: Constant;
  edgeRoom: Constant;
  indexRoom: Constant;
  codeRoom: Constant;
  nodeRoom: Constant;
  /** Edges that are ready. */
  edges: { value: number };
  /** Strings that `readNodes` compares. */
  strings: Constant;
  layout(rows: number): number;
  setFirstReadOnly(slot: number): void;
  putChunk(chunk: number, row: number): void;
  putMap(low: number, high: number, number: number): void;
  mark(object: number): void;
  follow(most: number, hasCodes: boolean): number;
  keepOnlyLive(): void;
  start(firstNode: number, tags: boolean, hasCodes: boolean): void;
  readFrom(slot: number, most: number): number;
  startNodes(textRows: number, lengthAt: number, charsAt: number, isConstantEmpty: boolean): void;
  readNodes(most: number): number;
}

/** Flags of a map. */
export const MapFlag = { fixedArray: 1, otherFixed: 2, taggedArray: 4, map: 8, receiver: 16 } as const;
/** Flags of a constant. */
export const ConstantFlag = { inessential: 1, hole: 2 } as const;
/** How the nodes of a map are named: all alike, by their characters, or in TypeScript. */
export const NodeWay = { unknown: 0, same: 1, oneByte: 2, twoByte: 3, reader: 4 } as const;
/** Type of a node that is left to TypeScript. */
export const unreadNode = 0xff;
/** Address of no program: objects are read in TypeScript. */
export const byReader = 1;

/** What the walks ask for. */
export interface HeapQuestions {
  learnMap(object: number): number;
  learnProgram(object: number, map: number): number;
  learnIndex(index: number): number;
  learnTag(combination: number, tag: number): number;
  readObject(object: number, index: number): void;
  takeEdges(): void;
  largeCount(index: number, count: number): void;
  addWithheld(): number;
  spill(object: number): void;
}

/** The part of the WebAssembly API used here; Node's types leave it to those of the browser. */
interface WebAssemblyApi {
  Module: new (code: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: unknown };
}

const api = (globalThis as unknown as { WebAssembly?: WebAssemblyApi }).WebAssembly;
let compiled: object | undefined;
const unasked = (): never => {
  throw new Error('nobody answers the kernel');
};

export class HeapKernel {
  readonly code: Exports;
  /** Set by those who know the answers, before the walk that asks. */
  readonly answers: HeapQuestions = {
    learnMap: unasked,
    learnProgram: unasked,
    learnIndex: unasked,
    learnTag: unasked,
    readObject: unasked,
    takeEdges: unasked,
    largeCount: unasked,
    addWithheld: unasked,
    spill: unasked,
  };

  private constructor(rows: number) {
    const { answers } = this;
    compiled ??= new api!.Module(Buffer.from(heapCode, 'base64'));
    const imports: HeapQuestions = {
      learnMap: (object) => answers.learnMap(object),
      learnProgram: (object, map) => answers.learnProgram(object, map),
      learnIndex: (index) => answers.learnIndex(index),
      learnTag: (combination, tag) => answers.learnTag(combination, tag),
      readObject: (object, index) => answers.readObject(object, index),
      takeEdges: () => answers.takeEdges(),
      largeCount: (index, count) => answers.largeCount(index, count),
      addWithheld: () => answers.addWithheld(),
      spill: (object) => answers.spill(object),
    };
    this.code = new api!.Instance(compiled, { 'heap-memory': imports }).exports as Exports;
    const bytes = this.code.layout(rows);
    // Behind the columns, as many bytes as the rows for the hashes of texts. Pages that are never written cost nothing.
    const pages = Math.min(mostPages - 1, Math.ceil((bytes + rows * rowBytes) / pageBytes));
    if (bytes > pages * pageBytes) throw new RangeError('the heap is too large for one memory');
    this.code.memory.grow(pages);
  }

  /** For pages of so many rows. Undefined without WebAssembly, or if there is not enough memory for it. */
  static create(rows: number): HeapKernel | undefined {
    if (!api) return undefined;
    try {
      return new HeapKernel(rows);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return undefined;
    }
  }

  /** WebAssembly exports an address as a signed number, which is negative from 2 GB on. */
  addressOf(column: Column): number {
    return this.code[`${column}At`].value >>> 0;
  }

  bytes(column: Column, length: number, from = 0): Uint8Array {
    return new Uint8Array(this.code.memory.buffer, this.addressOf(column) + from, length);
  }

  words(column: Column, length: number, from = 0): Uint32Array {
    return new Uint32Array(this.code.memory.buffer, this.addressOf(column) + from, length);
  }

  numbers(column: Column, length: number, from = 0): Int32Array {
    return new Int32Array(this.code.memory.buffer, this.addressOf(column) + from, length);
  }
}
