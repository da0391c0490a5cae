/**
 * The copy of a process's memory, in ours, as the bytes of a core. A reader may move parts of it to where it needs them: then
 * they are in memory once, because the block that they came from is given back at once and not when garbage is collected.
 */

/** The pieces of a core, in order. The space between them is zero. */
export interface CoreInMemory {
  kept: { bytes: Uint8Array; offset: number }[];
  size: number;
}

/** Random access to the bytes of a core. */
export interface CoreBytes {
  readonly size: number;
  /** Fills `target` from `offset` up to the end of the core; returns the number of bytes. */
  readInto(target: Uint8Array, offset: number): number;
  /** The bytes without a copy; undefined if they are not contiguous in memory. */
  view(offset: number, length: number): Uint8Array | undefined;
  /** Moves ranges, which do not overlap, into zeroed memory of the caller's. Views are invalid afterwards. */
  move(ranges: readonly { offset: number; into: Uint8Array }[]): void;
  /** `listener` is called before views become invalid. */
  onMove(listener: () => void): void;
  /** Gives back all of it. */
  drop(): void;
}

interface Piece {
  bytes: Uint8Array;
  offset: number;
}

/** A buffer that can be given back (ES2024). */
interface Resizable {
  readonly resizable?: boolean;
  resize(bytes: number): void;
}

const makeBuffer = ArrayBuffer as unknown as new (
  bytes: number,
  options: { maxByteLength: number },
) => ArrayBuffer;

/** Zeroed memory that can be given back. */
export const makeBlock = (bytes: number): Buffer =>
  Buffer.from(new makeBuffer(bytes, { maxByteLength: bytes }));

/** Views of a block that was given back are empty. Other buffers are left alone. */
function giveBack(buffer: ArrayBufferLike): void {
  const block = buffer as unknown as Resizable;
  if (block.resizable) block.resize(0);
}

export class CopiedMemory implements CoreBytes {
  readonly size: number;
  /** In order, and not overlapping. */
  #pieces: Piece[];
  readonly #listeners: (() => void)[] = [];

  constructor({ kept, size }: CoreInMemory) {
    this.#pieces = kept;
    this.size = size;
  }

  readInto(target: Uint8Array, offset: number): number {
    const length = Math.max(0, Math.min(target.length, this.size - offset));
    target.fill(0, 0, length);
    for (let i = this.#lastBefore(offset); i < this.#pieces.length; i++) {
      const { bytes, offset: start } = this.#pieces[i]!;
      if (start >= offset + length) break;
      const from = Math.max(0, offset - start);
      const part = bytes.subarray(from, Math.max(from, offset + length - start));
      target.set(part, start + from - offset);
    }
    return length;
  }

  view(offset: number, length: number): Uint8Array | undefined {
    const piece = this.#pieces[this.#lastBefore(offset)];
    if (!piece) return undefined;
    const from = offset - piece.offset;
    const isInside = from >= 0 && from + length <= piece.bytes.length;
    return isInside ? piece.bytes.subarray(from, from + length) : undefined;
  }

  onMove(listener: () => void): void {
    this.#listeners.push(listener);
  }

  move(ranges: readonly { offset: number; into: Uint8Array }[]): void {
    for (const listener of this.#listeners) listener();
    const sorted = [...ranges].sort((a, b) => a.offset - b.offset);
    const moving = sorted.map(({ offset, into }) => ({ start: offset, end: offset + into.length, into }));
    const left = this.#blocksOf(moving);
    const pieces: Piece[] = [];
    let next = 0;
    for (const piece of this.#pieces) {
      const { buffer } = piece.bytes;
      const count = left.get(buffer);
      if (count === undefined) {
        pieces.push(piece);
        continue;
      }
      const end = piece.offset + piece.bytes.length;
      while (next < moving.length && moving[next]!.end <= piece.offset) next++;
      let at = piece.offset;
      const part = (to: number) => piece.bytes.subarray(at - piece.offset, to - piece.offset);
      for (let i = next; i < moving.length && moving[i]!.start < end; i++) {
        const { start, end: stop, into } = moving[i]!;
        if (start > at) pieces.push({ bytes: new Uint8Array(part(start)), offset: at });
        at = Math.max(at, start);
        const to = Math.min(stop, end);
        const bytes = into.subarray(at - start, to - start);
        bytes.set(part(to));
        pieces.push({ bytes, offset: at });
        at = to;
      }
      if (at < end) pieces.push({ bytes: new Uint8Array(part(end)), offset: at });
      left.set(buffer, count - 1);
      if (count === 1) giveBack(buffer);
    }
    this.#pieces = pieces;
  }

  drop(): void {
    for (const listener of this.#listeners) listener();
    for (const { bytes } of this.#pieces) giveBack(bytes.buffer);
    this.#pieces = [];
  }

  /** The number of pieces in each block that has a part of a range. */
  #blocksOf(ranges: readonly { start: number; end: number }[]): Map<ArrayBufferLike, number> {
    const counts = new Map<ArrayBufferLike, number>();
    let next = 0;
    for (const { bytes, offset } of this.#pieces) {
      while (next < ranges.length && ranges[next]!.end <= offset) next++;
      if (next < ranges.length && ranges[next]!.start < offset + bytes.length) counts.set(bytes.buffer, 0);
    }
    for (const { bytes } of this.#pieces) {
      const count = counts.get(bytes.buffer);
      if (count !== undefined) counts.set(bytes.buffer, count + 1);
    }
    return counts;
  }

  /** Index of the last piece that starts at or before the offset. */
  #lastBefore(offset: number): number {
    let low = 0;
    let high = this.#pieces.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#pieces[middle]!.offset <= offset) low = middle;
      else high = middle;
    }
    return low;
  }
}
