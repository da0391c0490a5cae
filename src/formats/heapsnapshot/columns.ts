/**
 * The nodes and edges of a snapshot as columns of plain numbers: about 17 bytes per node and 7 per edge. Defines the arrays
 * and how large numbers are stored, not how they are read or what they mean.
 */
import { AgentdumpError } from '../../errors.ts';
import { edgeTargetMask, edgeTypeShift } from './layout.ts';
import { IdColumn } from './sections/id-column.ts';

/** In a column of names: the value is in the side map. */
const wideName = 0xffffff;
/** In a 32-bit column of sizes: the value is in the side map. */
const wideMark = 0xffffffff;

export interface NodeColumns {
  count: number;
  /** The codes of layout.ts. */
  type: Uint8Array;
  /** Index into the strings. */
  name: Uint32Array;
  id: IdColumn;
  selfSize: SizeColumn;
  /** Row of the node's first edge; one more entry at the end, so that a node's edges are [n], [n + 1]. */
  firstEdge: Uint32Array;
  /** V8's detachedness; absent if all are 0. */
  detachedness: Uint8Array | undefined;
  /** Id of the trace tree node that allocated this node; absent if allocations were not tracked. */
  traceNodeId: Uint32Array | undefined;
}

export interface EdgeColumns {
  count: number;
  /** `code << 29 | ordinal of the target`; codes of layout.ts. */
  packed: Uint32Array;
  /** Index into the strings; for the types element and hidden, the index of the element. */
  nameOrIndex: NameColumn;
}

/**
 * Names and indexes in three bytes: a snapshot has more edges than anything else, and few have an index above 2^24. The loops
 * that fill the column write to the two arrays directly.
 */
export class NameColumn {
  readonly low: Uint16Array;
  readonly high: Uint8Array;
  readonly #wide = new Map<number, number>();

  constructor(low: Uint16Array, high: Uint8Array) {
    this.low = low;
    this.high = high;
  }

  get(row: number): number {
    const value = this.low[row]! | (this.high[row]! << 16);
    return value === wideName ? (this.#wide.get(row) ?? value) : value;
  }

  set(row: number, value: number): void {
    const kept = Math.min(value, wideName);
    this.low[row] = kept;
    this.high[row] = kept >>> 16;
    if (kept === wideName) this.#wide.set(row, value);
  }

  /** Whether a value does not fit the two arrays. */
  get hasWide(): boolean {
    return this.#wide.size > 0;
  }
}

/**
 * Sizes in bytes, with 4 bytes each, and exact up to 2^53. V8 writes sizes above 2^32 for big ArrayBuffers, which would wrap
 * in a 32-bit column.
 */
export class SizeColumn {
  readonly narrow: Uint32Array;
  readonly #wide = new Map<number, number>();

  constructor(narrow: Uint32Array) {
    this.narrow = narrow;
  }

  get(row: number): number {
    const value = this.narrow[row]!;
    return value === wideMark ? (this.#wide.get(row) ?? value) : value;
  }

  set(row: number, bytes: number): void {
    if (bytes < wideMark) {
      this.narrow[row] = bytes;
      if (this.#wide.size > 0) this.#wide.delete(row);
      return;
    }
    this.narrow[row] = wideMark;
    this.#wide.set(row, bytes);
  }

  /** Whether a value does not fit the narrow column. */
  get hasWide(): boolean {
    return this.#wide.size > 0;
  }

  /** Rows whose value does not fit the narrow column. */
  wideRows(): IterableIterator<[number, number]> {
    return this.#wide.entries();
  }
}

/** Calls back with each of the first `count` rows that have this value: faster than a comparison of every row. */
export function forEachRowWith(
  column: Uint8Array | Uint32Array,
  count: number,
  value: number,
  callback: (row: number) => void,
): void {
  for (let row = column.indexOf(value); row >= 0 && row < count; row = column.indexOf(value, row + 1))
    callback(row);
}

export type ColumnName =
  | 'type'
  | 'name'
  | 'id'
  | 'selfSize'
  | 'firstEdge'
  | 'detachedness'
  | 'traceNodeId'
  | 'place'
  | 'packed'
  | 'edgeName'
  | 'edgeNameHigh'
  | 'isShared';

/**
 * Creates zeroed arrays in private memory, in shared memory, or at a place of the caller's choice, which is why it receives
 * the column's name. Pages that are never written to take no memory.
 */
export interface Allocator {
  bytes(length: number, column: ColumnName): Uint8Array;
  halves(length: number, column: ColumnName): Uint16Array;
  words(length: number, column: ColumnName): Uint32Array;
}

export const privateMemory: Allocator = {
  bytes: (length) => allocate(length, () => new Uint8Array(length)),
  halves: (length) => allocate(length * 2, () => new Uint16Array(length)),
  words: (length) => allocate(length * 4, () => new Uint32Array(length)),
};

export const sharedMemory: Allocator = {
  bytes: (length) => allocate(length, () => new Uint8Array(new SharedArrayBuffer(length))),
  halves: (length) => allocate(length * 2, () => new Uint16Array(new SharedArrayBuffer(length * 2))),
  words: (length) => allocate(length * 4, () => new Uint32Array(new SharedArrayBuffer(length * 4))),
};

function allocate<Column>(bytes: number, make: () => Column): Column {
  try {
    return make();
  } catch (cause) {
    throw new AgentdumpError(
      'over-limit',
      `the snapshot needs a column of ${bytes} bytes, which this machine does not give`,
      { limit: 'memory', wanted: bytes },
      cause,
    );
  }
}

export function createNodeColumns(count: number, memory: Allocator): NodeColumns {
  return {
    count,
    type: memory.bytes(count, 'type'),
    name: memory.words(count, 'name'),
    id: new IdColumn(memory.words(count, 'id')),
    selfSize: new SizeColumn(memory.words(count, 'selfSize')),
    firstEdge: memory.words(count + 1, 'firstEdge'),
    detachedness: undefined,
    traceNodeId: undefined,
  };
}

export function createEdgeColumns(count: number, memory: Allocator): EdgeColumns {
  return {
    count,
    packed: memory.words(count, 'packed'),
    nameOrIndex: new NameColumn(memory.halves(count, 'edgeName'), memory.bytes(count, 'edgeNameHigh')),
  };
}

export const edgeTarget = (packed: number): number => packed & edgeTargetMask;
export const edgeType = (packed: number): number => packed >>> edgeTypeShift;
