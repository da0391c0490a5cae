/**
 * Random access to bytes, possibly of a file of many gigabytes. Small reads are served from cached windows, large ones read
 * the file directly, and nothing is allocated for a length that the input can't contain. Independent of formats.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { AgentdumpError, MalformedInput } from '../errors.ts';

export interface ByteSource {
  /** Length in bytes. */
  readonly size: number;
  /** Fills `target` from byte `offset` as far as there is input; returns the number of bytes. */
  readInto(target: Uint8Array, offset: number): number;
  /** Like `readInto`, without caching the surrounding bytes. */
  readUncached?(target: Uint8Array, offset: number): number;
  /** A view of the bytes, read-only, if the source has them in memory in one piece. */
  view?(offset: number, length: number): Uint8Array | undefined;
  /**
   * Moves ranges, which do not overlap, into memory of the caller's, from which they are read from then on, and gives back the
   * memory that they were in. Views of the source are invalid afterwards.
   */
  move?(ranges: readonly MovedRange[]): void;
  /** `listener` is called before views become invalid. */
  onMove?(listener: () => void): void;
  /** Gives back the memory that the bytes are in. */
  drop?(): void;
}

/** `into` has the length of the range, and is zeroed. */
export interface MovedRange {
  offset: number;
  into: Uint8Array;
}

/** Names the field that is read, for the error if it is absent. */
export interface FieldName {
  format: string;
  field: string;
}

const windowSize = 64 * 1024;
const maxWindows = 256;

/** Bytes in memory. */
export function bytesSource(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    readInto(target, offset) {
      const part = bytes.subarray(Math.max(0, offset), Math.max(0, offset) + target.length);
      target.set(part);
      return part.length;
    },
  };
}

/** A range of another source as a source, truncated to the size of the other. */
export function sliceSource(source: ByteSource, start: number, size: number): ByteSource {
  const length = Math.max(0, Math.min(size, source.size - start));
  return {
    size: length,
    readInto(target, offset) {
      if (offset < 0 || offset >= length) return 0;
      return source.readInto(target.subarray(0, Math.min(target.length, length - offset)), start + offset);
    },
  };
}

/** A file, of which at most 16 MB of windows are cached. The size is determined when it is opened. */
export class FileSource implements ByteSource {
  readonly size: number;
  readonly path: string;
  readonly #fd: number;
  readonly #windows = new Map<number, Uint8Array>();

  /** `opened`: an open descriptor of the file, which this source closes. */
  constructor(path: string, opened?: number) {
    this.path = path;
    try {
      this.#fd = opened ?? openSync(path, 'r');
    } catch (error) {
      throw new AgentdumpError('not-found', `cannot open ${path}`, { path }, error);
    }
    const stat = fstatSync(this.#fd);
    if (!stat.isFile()) {
      closeSync(this.#fd);
      throw new AgentdumpError('not-found', `${path} is not a file`, { path });
    }
    this.size = stat.size;
  }

  readInto(target: Uint8Array, offset: number): number {
    if (offset < 0 || offset >= this.size) return 0;
    if (target.length >= windowSize) return this.#readFile(target, offset);
    let filled = 0;
    while (filled < target.length) {
      const at = offset + filled;
      const window = this.#window(Math.floor(at / windowSize));
      const part = window.subarray(at % windowSize, (at % windowSize) + target.length - filled);
      if (part.length === 0) break;
      target.set(part, filled);
      filled += part.length;
    }
    return filled;
  }

  readUncached(target: Uint8Array, offset: number): number {
    return offset < 0 || offset >= this.size ? 0 : this.#readFile(target, offset);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #window(index: number): Uint8Array {
    const cached = this.#windows.get(index);
    if (cached) return cached;
    const bytes = new Uint8Array(Math.min(windowSize, Math.max(0, this.size - index * windowSize)));
    const window = bytes.subarray(0, this.#readFile(bytes, index * windowSize));
    if (this.#windows.size >= maxWindows) {
      const oldest = this.#windows.keys().next().value;
      if (oldest !== undefined) this.#windows.delete(oldest);
    }
    this.#windows.set(index, window);
    return window;
  }

  #readFile(target: Uint8Array, offset: number): number {
    let filled = 0;
    while (filled < target.length) {
      const got = readSync(this.#fd, target, filled, target.length - filled, offset + filled);
      if (got === 0) break;
      filled += got;
    }
    return filled;
  }
}

/** Exactly `length` bytes from `offset`. Throws MalformedInput with the wanted field; checked before allocating. */
export function readExactly(source: ByteSource, offset: number, length: number, name: FieldName): Uint8Array {
  const available = Math.max(0, source.size - offset);
  const fits = Number.isSafeInteger(offset) && offset >= 0 && length >= 0 && length <= available;
  const bytes = new Uint8Array(fits ? length : 0);
  if (fits && source.readInto(bytes, offset) === length) return bytes;
  throw new MalformedInput(`${name.format}: ${name.field} is cut off`, {
    ...name,
    offset,
    wanted: `${length} bytes`,
    available: `${offset < 0 ? 0 : available} bytes`,
  });
}
