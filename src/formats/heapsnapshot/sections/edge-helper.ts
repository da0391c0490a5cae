/**
 * The edges of a large file from both ends: the main thread goes forward from the section's start, a second thread
 * takes windows from its end, until they meet. Neither waits: what both have read is the same. Then the second one finds
 * the shared targets, while the first reads what is behind the edges. If the second thread can't (the file is laid out
 * in some other way, the thread doesn't start), the first does all by itself.
 */
import type { Worker } from 'node:worker_threads';
import { type EdgeColumns, sharedMemory } from '../columns.ts';
import { startThread } from '../thread.ts';
import type { SnapshotHeader } from './header.ts';
import { sharedTargetBytes } from './shared-targets.ts';

/** Where both threads look, in one shared block. Rows are below 2^31: more edges are read by one thread. */
export const Control = {
  /** The main thread has read the rows below this. */
  forwardRow: 0,
  /** The second thread has read the rows from this on; 0 while it has found nothing. */
  backwardRow: 1,
  /** Highest index of a name among the second thread's rows. */
  maxName: 2,
  /** Set to 1 by the main thread: nothing more is needed. */
  stop: 3,
  /** What the second thread is at: 0 before it began, then one of `Progress`. */
  progress: 4,
  words: 5,
} as const;

/** While it reads it may write rows that the first thread has as well; later it writes to no column. */
export const Progress = { reading: 1, counting: 2, found: 3, givenUp: 4 } as const;

/** A thread's start costs some 40 ms: as long as scanning so much. */
const leastFileBytes = 48 * 1024 * 1024;
const mostRows = 0x7fffffff;
/** Longer than it takes; a thread that was ended can't say that it was. */
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
  /** As of shared-targets.ts. */
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
    // Reported nowhere: the main thread reads those rows itself, and says what is wrong with them.
    this.#worker.on('error', () => {});
  }

  /** Undefined where it would not pay, or can't work. `columns` must be shared memory. */
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

  /** Says how far the main thread is. Returns the offset after the section when the rest is read, else undefined. */
  meet(row: number): number | undefined {
    Atomics.store(this.#control, Control.forwardRow, row);
    const backwardRow = Atomics.load(this.#control, Control.backwardRow);
    return row >= backwardRow && backwardRow < this.columns.count ? this.#place[0] : undefined;
  }

  get maxName(): number {
    return Atomics.load(this.#control, Control.maxName) >>> 0;
  }

  /** All edges are read: no more of them is needed. */
  finish(): void {
    Atomics.store(this.#control, Control.stop, 1);
  }

  /** After `finish`: waits for the window that it is in the midst of, so that nobody else writes to the columns. */
  settle(): void {
    Atomics.wait(this.#control, Control.progress, Progress.reading, mostWaitMs);
  }

  /** After `settle`: a bit by ordinal, as of shared-targets.ts; undefined if the thread could not do it. */
  sharedTargets(): Uint8Array | undefined {
    Atomics.wait(this.#control, Control.progress, Progress.counting, mostWaitMs);
    return Atomics.load(this.#control, Control.progress) === Progress.found ? this.#isShared : undefined;
  }

  stop(): void {
    this.finish();
    void this.#worker.terminate();
  }
}
