/**
 * Reads the edges of a large file from both ends: the main thread reads forwards from the start of the section, a second
 * thread reads windows backwards from its end, until they meet. Neither waits for the other; rows that both have read are
 * identical. The second thread then finds the shared targets, while the first reads what follows the edges. If the second
 * thread fails (unexpected file layout, the thread does not start), the first reads everything itself.
 */
import type { Worker } from 'node:worker_threads';
import { type EdgeColumns, sharedMemory } from '../columns.ts';
import { startThread } from '../thread.ts';
import type { SnapshotHeader } from './header.ts';
import { sharedTargetBytes } from './shared-targets.ts';

/** Indexes of the shared control block. Rows are below 2^31: with more edges, one thread reads them all. */
export const Control = {
  /** The main thread has read the rows below this. */
  forwardRow: 0,
  /** The second thread has read the rows from this one on; 0 until it has found any. */
  backwardRow: 1,
  /** Highest index of a name in the second thread's rows. */
  maxName: 2,
  /** Set to 1 by the main thread when the second thread should stop. */
  stop: 3,
  /** State of the second thread: 0 before it began, then one of `Progress`. */
  progress: 4,
  words: 5,
} as const;

/** In state `reading` it may write rows that the first thread writes too; later it writes to no column. */
export const Progress = { reading: 1, counting: 2, found: 3, givenUp: 4 } as const;

/** Starting a thread takes about 40 ms, the time to scan this many bytes. */
const leastFileBytes = 48 * 1024 * 1024;
const mostRows = 0x7fffffff;
/** Longer than it takes. A thread that was terminated can't report its end. */
const mostWaitMs = 1000;

export interface EdgeHelperData {
  path: string;
  header: SnapshotHeader;
  /** The arrays of the edge columns. */
  count: number;
  packed: Uint32Array;
  nameLow: Uint16Array;
  nameHigh: Uint8Array;
  control: Int32Array;
  /** See shared-targets.ts. */
  isShared: Uint8Array;
  /** [0] offset of the byte after the section's closing bracket, once found. */
  place: Float64Array;
}

export class EdgeHelper {
  readonly columns: EdgeColumns;
  readonly #control: Int32Array;
  readonly #isShared: Uint8Array;
  readonly #place: Float64Array;
  readonly #worker: Worker;

  private constructor(columns: EdgeColumns, data: EdgeHelperData) {
    this.columns = columns;
    this.#control = data.control;
    this.#isShared = data.isShared;
    this.#place = data.place;
    this.#worker = startThread('formats/heapsnapshot/sections/edge-worker', { ...data });
    // Not reported: the main thread reads those rows itself, and reports any error in them.
    this.#worker.on('error', () => {});
  }

  /** Undefined if it would not be faster, or can't work. `columns` must be in shared memory. */
  static start(
    path: string,
    sizeBytes: number,
    header: SnapshotHeader,
    columns: EdgeColumns,
  ): EdgeHelper | undefined {
    if (sizeBytes < leastFileBytes || columns.count === 0 || columns.count > mostRows) return undefined;
    const control = new Int32Array(new SharedArrayBuffer(4 * Control.words));
    control[Control.backwardRow] = columns.count;
    const { count, packed, nameOrIndex } = columns;
    const place = new Float64Array(new SharedArrayBuffer(8));
    const isShared = sharedMemory.bytes(sharedTargetBytes(header.nodeCount), 'isShared');
    const names = { nameLow: nameOrIndex.low, nameHigh: nameOrIndex.high };
    return new EdgeHelper(columns, { path, header, count, packed, ...names, control, isShared, place });
  }

  /**
   * Publishes the main thread's position. Returns the offset after the section if the rest has been read, otherwise
   * undefined.
   */
  meet(row: number): number | undefined {
    Atomics.store(this.#control, Control.forwardRow, row);
    const backwardRow = Atomics.load(this.#control, Control.backwardRow);
    return row >= backwardRow && backwardRow < this.columns.count ? this.#place[0] : undefined;
  }

  get maxName(): number {
    return Atomics.load(this.#control, Control.maxName) >>> 0;
  }

  /** All edges have been read. */
  finish(): void {
    Atomics.store(this.#control, Control.stop, 1);
  }

  /**
   * After `finish`: waits until the second thread has finished its current window, and so no longer writes to the columns.
   */
  settle(): void {
    Atomics.wait(this.#control, Control.progress, Progress.reading, mostWaitMs);
  }

  /** After `settle`: a bit by ordinal, see shared-targets.ts; undefined if the second thread failed. */
  sharedTargets(): Uint8Array | undefined {
    Atomics.wait(this.#control, Control.progress, Progress.counting, mostWaitMs);
    return Atomics.load(this.#control, Control.progress) === Progress.found ? this.#isShared : undefined;
  }

  stop(): void {
    this.finish();
    void this.#worker.terminate();
  }
}
