/**
 * The memory of a dead process, assembled from extents of files (segments of a core, sections of a module on disk). Addresses
 * are plain numbers: user space is below 2^53 on every supported machine, and a heap walk with bigint addresses is several
 * times slower. Independent of formats. Reading absent memory throws AbsentMemory.
 */
import { AgentdumpError } from '../errors.ts';
import type { ByteSource, MovedRange } from './byte-source.ts';

/** Addresses `start` (inclusive) to `end` (exclusive) contain the bytes of `source` from `offset`. */
export interface MemoryExtent {
  start: number;
  end: number;
  source: ByteSource;
  offset: number;
}

/** The interface for readers of process memory. `read…` throws AbsentMemory, `find…` returns undefined. */
export interface MemoryReader {
  /** A signed 64-bit word as a double: exact for user-space addresses and for V8's small integers. */
  readWord(address: number): number;
  readBigWord(address: number): bigint;
  readInt32(address: number): number;
  readUint32(address: number): number;
  readUint16(address: number): number;
  readUint8(address: number): number;
  readDouble(address: number): number;
  /** A copy. */
  readBytes(address: number, length: number): Uint8Array;
  findWord(address: number): number | undefined;
  has(address: number, length: number): boolean;
  /**
   * A copy that is not cached in a window, for isolated reads; undefined unless all bytes are present. `into`, if given,
   * receives them, and must have that length.
   */
  peek(address: number, length: number, into?: Uint8Array): Uint8Array | undefined;
  /** A view of the bytes, read-only, if they are in our memory in one piece; otherwise undefined. */
  view?(address: number, length: number): Uint8Array | undefined;
  /** Whether the memory around an address can be moved. */
  canMove?(address: number): boolean;
  /**
   * Fills each `into`, which is zeroed, with what is present of the memory from `address` on. Memory that can be moved is in
   * there only from then on, and views of it are invalid. The ranges must not overlap.
   */
  move?(ranges: readonly { address: number; into: Uint8Array }[]): void;
}

export class AbsentMemory extends AgentdumpError {
  constructor(address: number) {
    super('not-found', `no memory at 0x${address.toString(16)}`, { address: `0x${address.toString(16)}` });
  }
}

/** The result of `read`; undefined if it needs absent memory. */
export function whereMapped<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof AbsentMemory) return undefined;
    throw error;
  }
}

interface Window {
  view: DataView;
  bytes: Uint8Array;
  /** Present parts as [from, to) pairs within the window; undefined if all of it is present. */
  parts: number[] | undefined;
  /** The bytes are the source's, and must not be written to. */
  isHeld: boolean;
}

const windowBits = 16;
const windowSize = 1 << windowBits;
const maxWindows = 512;
/** Of sources that are in memory: windows are only made of what they don't have in one piece. */
const maxWindowsInMemory = 64;
/** Buffers of windows that were released, for reuse; otherwise each would wait for a garbage collection. */
const spareBuffers: Pick<Window, 'bytes' | 'view'>[] = [];
/** Granularity at which reads are recorded. */
export const touchBlockBytes = 16;
/** A single object larger than this is never read in one piece. */
const maxRead = 1 << 30;

export class ProcessMemory implements MemoryReader {
  /** Sorted by address, not overlapping. */
  readonly extents: readonly MemoryExtent[];
  /** Numbers of the blocks of `touchBlockBytes` that were read; undefined if they are not recorded. */
  touchedBlocks: Set<number> | undefined;
  readonly #windows = new Map<number, Window>();
  readonly #maxWindows: number;
  #last: Window | undefined;
  #lastStart = -1;

  /** If extents overlap, the earlier one in the list is used. */
  constructor(extents: readonly MemoryExtent[]) {
    this.extents = flattenExtents(extents);
    const sources = new Set(this.extents.map((extent) => extent.source));
    this.#maxWindows = [...sources].some(({ view }) => view) ? maxWindowsInMemory : maxWindows;
    for (const source of sources) source.onMove?.(() => this.release());
  }

  readWord(address: number): number {
    const view = this.#at(address, 8);
    return view.getInt32(this.#offset + 4, true) * 2 ** 32 + view.getUint32(this.#offset, true);
  }

  readBigWord(address: number): bigint {
    return this.#at(address, 8).getBigUint64(this.#offset, true);
  }

  readInt32(address: number): number {
    return this.#at(address, 4).getInt32(this.#offset, true);
  }

  readUint32(address: number): number {
    return this.#at(address, 4).getUint32(this.#offset, true);
  }

  readUint16(address: number): number {
    return this.#at(address, 2).getUint16(this.#offset, true);
  }

  readUint8(address: number): number {
    return this.#at(address, 1).getUint8(this.#offset);
  }

  readDouble(address: number): number {
    return this.#at(address, 8).getFloat64(this.#offset, true);
  }

  readBytes(address: number, length: number): Uint8Array {
    if (length < 0 || length > maxRead || !this.has(address, length)) throw new AbsentMemory(address);
    const bytes = new Uint8Array(length);
    for (let filled = 0; filled < length; ) {
      const at = address + filled;
      const start = Math.floor(at / windowSize) * windowSize;
      const part = this.#window(start).bytes.subarray(at - start, at - start + length - filled);
      bytes.set(part, filled);
      filled += part.length;
    }
    this.#touch(address, length);
    return bytes;
  }

  findWord(address: number): number | undefined {
    const window = address >= 0 ? this.#find(address, 8) : undefined;
    if (!window) return this.has(address, 8) ? this.readWord(address) : undefined;
    const at = address - this.#lastStart;
    return window.view.getInt32(at + 4, true) * 2 ** 32 + window.view.getUint32(at, true);
  }

  has(address: number, length: number): boolean {
    // Above MAX_SAFE_INTEGER, incrementing by one has no effect.
    if (!(address >= 0 && address <= Number.MAX_SAFE_INTEGER - length) || length < 0) return false;
    let at = address;
    for (let i = this.#extentAt(at); at < address + length; i++) {
      const extent = this.extents[i];
      if (!extent || extent.start > at) return false;
      at = extent.end;
    }
    return true;
  }

  peek(address: number, length: number, into?: Uint8Array): Uint8Array | undefined {
    const extent = this.extents[this.#extentAt(address)];
    if (!extent || extent.start > address || address + length > extent.end) return undefined;
    const bytes = into ?? new Uint8Array(length);
    const offset = extent.offset + (address - extent.start);
    const { source } = extent;
    const got = source.readUncached ? source.readUncached(bytes, offset) : source.readInto(bytes, offset);
    if (got < length) return undefined;
    this.#touch(address, length);
    return bytes;
  }

  view(address: number, length: number): Uint8Array | undefined {
    const extent = this.extents[this.#extentAt(address)];
    if (!extent || extent.start > address || address + length > extent.end) return undefined;
    const bytes = extent.source.view?.(extent.offset + (address - extent.start), length);
    if (bytes) this.#touch(address, length);
    return bytes;
  }

  canMove(address: number): boolean {
    return this.findExtent(address)?.source.move !== undefined;
  }

  move(ranges: readonly { address: number; into: Uint8Array }[]): void {
    const moved = new Map<ByteSource, MovedRange[]>();
    for (const { address, into } of ranges)
      for (let i = this.#extentAt(address); i < this.extents.length; i++) {
        const { start, end, source, offset } = this.extents[i]!;
        if (start >= address + into.length) break;
        const from = Math.max(start, address);
        const part = into.subarray(from - address, Math.min(end, address + into.length) - address);
        const range = { offset: offset + (from - start), into: part };
        const known = moved.get(source);
        if (known) known.push(range);
        else if (source.move) moved.set(source, [range]);
        else if (source.readUncached) source.readUncached(part, range.offset);
        else source.readInto(part, range.offset);
      }
    for (const [source, parts] of moved) source.move!(parts);
  }

  /** The extent that contains `address`. */
  findExtent(address: number): MemoryExtent | undefined {
    const extent = this.extents[this.#extentAt(address)];
    return extent && extent.start <= address ? extent : undefined;
  }

  #offset = 0;

  /** A view, with `#offset` set to the position of `address` in it. */
  #at(address: number, length: number): DataView {
    const window = this.#find(address, length);
    if (!window) {
      this.#offset = 0;
      return this.#straddling(address, length);
    }
    this.#offset = address - this.#lastStart;
    return window.view;
  }

  /** The bytes of a value that crosses the end of a window or an absent part. Throws AbsentMemory unless all are present. */
  #straddling(address: number, length: number): DataView {
    const bytes = this.readBytes(address, length);
    return new DataView(bytes.buffer);
  }

  /** The window that contains the whole value, with `#lastStart` set to its address; undefined if the slow path is needed. */
  #find(address: number, length: number): Window | undefined {
    const at = address - this.#lastStart;
    if (!(at >= 0 && at + length <= windowSize) || !this.#last) {
      if (!(address >= 0)) throw new AbsentMemory(address);
      const start = Math.floor(address / windowSize) * windowSize;
      if (address + length > start + windowSize) return undefined;
      this.#last = this.#window(start);
      this.#lastStart = start;
    }
    if (this.#last.parts && !covers(this.#last.parts, address - this.#lastStart, length)) return undefined;
    if (this.touchedBlocks) this.#touch(address, length);
    return this.#last;
  }

  #touch(address: number, length: number): void {
    if (!this.touchedBlocks) return;
    const last = Math.floor((address + length - 1) / touchBlockBytes);
    for (let block = Math.floor(address / touchBlockBytes); block <= last; block++)
      this.touchedBlocks.add(block);
  }

  #window(start: number): Window {
    const cached = this.#windows.get(start);
    if (cached) return cached;
    const held = this.#held(start);
    if (held) return this.#keep(start, held);
    const { bytes, view } = this.#buffer();
    const parts: number[] = [];
    for (let i = this.#extentAt(start); i < this.extents.length; i++) {
      const extent = this.extents[i];
      if (!extent || extent.start >= start + windowSize) break;
      const from = Math.max(extent.start, start);
      const to = Math.min(extent.end, start + windowSize);
      const target = bytes.subarray(from - start, to - start);
      const got = extent.source.readInto(target, extent.offset + (from - extent.start));
      if (parts.at(-1) === from - start) parts[parts.length - 1] = from - start + got;
      else parts.push(from - start, from - start + got);
    }
    const whole = parts.length === 2 && parts[0] === 0 && parts[1] === windowSize;
    return this.#keep(start, { bytes, view, parts: whole ? undefined : parts, isHeld: false });
  }

  /** The window as a view, if its source has all of it in memory. */
  #held(start: number): Window | undefined {
    const extent = this.extents[this.#extentAt(start)];
    if (!extent || extent.start > start || extent.end < start + windowSize) return undefined;
    const bytes = extent.source.view?.(extent.offset + (start - extent.start), windowSize);
    if (!bytes) return undefined;
    const view = new DataView(bytes.buffer, bytes.byteOffset, windowSize);
    return { bytes, view, parts: undefined, isHeld: true };
  }

  #keep(start: number, window: Window): Window {
    this.#windows.set(start, window);
    return window;
  }

  /** A buffer for a window: that of the oldest window if there are enough. There are no other references to it. */
  #buffer(): Pick<Window, 'bytes' | 'view'> {
    if (this.#windows.size >= this.#maxWindows)
      for (const [start, window] of this.#windows) {
        if (window === this.#last) continue;
        this.#windows.delete(start);
        if (!window.isHeld) return window;
        break;
      }
    const spare = spareBuffers.pop();
    if (spare) return spare;
    const bytes = new Uint8Array(windowSize);
    return { bytes, view: new DataView(bytes.buffer) };
  }

  /** Releases the windows of memory that will not be read soon; a later read works as before. */
  release(): void {
    for (const window of this.#windows.values())
      if (!window.isHeld && spareBuffers.length < this.#maxWindows) spareBuffers.push(window);
    this.#windows.clear();
    this.#last = undefined;
    this.#lastStart = -1;
  }

  /** The result of `read`, whose reads are not recorded. */
  unrecorded<T>(read: () => T): T {
    const touched = this.touchedBlocks;
    this.touchedBlocks = undefined;
    try {
      return read();
    } finally {
      this.touchedBlocks = touched;
    }
  }

  /** Index of the first extent that ends after `address`. */
  #extentAt(address: number): number {
    let low = 0;
    let high = this.extents.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.extents[middle]?.end ?? 0) > address) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

function covers(parts: number[], from: number, length: number): boolean {
  for (let i = 0; i < parts.length; i += 2)
    if (from >= (parts[i] ?? 0) && from + length <= (parts[i + 1] ?? 0)) return true;
  return false;
}

/** Sorts extents, truncates them to the size of their sources, and removes what an earlier one in the list provides. */
export function flattenExtents(extents: readonly MemoryExtent[]): MemoryExtent[] {
  const valid = extents
    .map((e) => ({ ...e, end: Math.min(e.end, e.start + e.source.size - e.offset) }))
    .filter((e) => e.end > e.start);
  const edges = [...new Set(valid.flatMap((e) => [e.start, e.end]))].sort((a, b) => a - b);
  const order = valid.map((_, i) => i).sort((a, b) => (valid[a]?.start ?? 0) - (valid[b]?.start ?? 0));
  const active = new Set<number>();
  const flat: MemoryExtent[] = [];
  let next = 0;
  for (let i = 0; i + 1 < edges.length; i++) {
    const start = edges[i] as number;
    const end = edges[i + 1] as number;
    for (let index = order[next]; index !== undefined; index = order[++next]) {
      if ((valid[index]?.start ?? 0) > start) break;
      active.add(index);
    }
    let best: number | undefined;
    for (const index of active) {
      if ((valid[index]?.end ?? 0) <= start) active.delete(index);
      else if (best === undefined || index < best) best = index;
    }
    const winner = best === undefined ? undefined : valid[best];
    if (!winner) continue;
    const offset = winner.offset + (start - winner.start);
    const previous = flat.at(-1);
    const continues =
      previous?.end === start &&
      previous.source === winner.source &&
      previous.offset + (previous.end - previous.start) === offset;
    if (previous && continues) previous.end = end;
    else flat.push({ start, end, source: winner.source, offset });
  }
  return flat;
}
