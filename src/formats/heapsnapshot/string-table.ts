/**
 * The strings, decoded one by one when asked for. Knows where each one stands (string-index.ts) and reads its bytes
 * through a few cached blocks. V8 writes ASCII with escapes; characters above U+FFFF it cuts to 16 bits (all versions
 * up to 14), which nobody can undo.
 */
import type { RandomBytes } from './byte-source.ts';
import { Byte } from './numbers.ts';

const blockBytes = 1 << 16;
const maxBlocks = 128;
const maxCached = 1 << 17;

/** Stands for a string that the file does not hold, because it was cut before it. */
export const lostString = '(name lost)';

export class StringTable {
  readonly count: number;
  /** Indexes of strings that name a WeakMap entry's edge, ascending. */
  readonly ephemeronNames: readonly number[];
  readonly #starts: Float64Array;
  readonly #bytes: RandomBytes;
  /** Offset of the section in what `bytes` reads. */
  readonly #base: number;
  readonly #blocks = new Map<number, Buffer>();
  readonly #cache = new Map<number, string>();
  readonly #found = new Map<string, number>();

  constructor(starts: Float64Array, ephemeronNames: readonly number[], bytes: RandomBytes, base: number) {
    this.count = starts.length - 1;
    this.ephemeronNames = ephemeronNames;
    this.#starts = starts;
    this.#bytes = bytes;
    this.#base = base;
  }

  /** Where the strings stand, for another table over the same bytes. */
  layout(): { starts: Float64Array; ephemeronNames: readonly number[]; base: number } {
    return { starts: this.#starts, ephemeronNames: this.ephemeronNames, base: this.#base };
  }

  get(index: number): string {
    const cached = this.#cache.get(index);
    if (cached !== undefined) return cached;
    if (this.#cache.size >= maxCached) this.#cache.clear();
    const text = this.#decode(index);
    this.#cache.set(index, text);
    return text;
  }

  /** Index of the first string that is `text`, or -1. Compares bytes: for plain ASCII without quotes only. */
  findAscii(text: string): number {
    const known = this.#found.get(text) ?? this.#find(Buffer.from(`"${text}"`, 'latin1'));
    this.#found.set(text, known);
    return known;
  }

  #find(wanted: Buffer): number {
    const starts = this.#starts;
    for (let index = 0; index < this.count; index++) {
      const length = starts[index + 1]! - starts[index]!;
      // Between two strings are a comma and, of some versions, a newline.
      if (length < wanted.length || length > wanted.length + 3) continue;
      if (this.#startsWith(starts[index]!, wanted)) return index;
    }
    return -1;
  }

  #startsWith(from: number, wanted: Buffer): boolean {
    const number = Math.floor(from / blockBytes);
    const within = from - number * blockBytes;
    if (within + wanted.length > blockBytes)
      return this.#bytes.read(this.#base + from, this.#base + from + wanted.length).equals(wanted);
    const block = this.#block(number);
    for (let at = 1; at < wanted.length; at++) if (block[within + at] !== wanted[at]) return false;
    return true;
  }

  /** Bytes of a string as it stands in the file, quotes included. Overlong ones may be hundreds of megabytes. */
  rawLength(index: number): number {
    return this.#starts[index + 1]! - this.#starts[index]!;
  }

  #decode(index: number): string {
    if (index >= this.count) return lostString;
    const raw = this.#rawBytes(index);
    const closing = raw.lastIndexOf(Byte.quote);
    const text = raw.subarray(1, closing > 0 ? closing : raw.length);
    if (text.includes(Byte.backslash)) return unescapeJson(text);
    return text.toString('utf8');
  }

  #rawBytes(index: number): Buffer {
    const from = this.#starts[index]!;
    const to = this.#starts[index + 1]!;
    const block = Math.floor(from / blockBytes);
    const within = from - block * blockBytes;
    if (within + to - from > blockBytes) return this.#bytes.read(this.#base + from, this.#base + to);
    return this.#block(block).subarray(within, within + to - from);
  }

  #block(number: number): Buffer {
    const known = this.#blocks.get(number);
    if (known) return known;
    if (this.#blocks.size >= maxBlocks) this.#blocks.delete(this.#blocks.keys().next().value!);
    const from = number * blockBytes;
    const to = Math.min(from + blockBytes, this.#starts[this.count]!);
    const block = this.#bytes.read(this.#base + from, this.#base + to);
    this.#blocks.set(number, block);
    return block;
  }
}

function unescapeJson(text: Buffer): string {
  try {
    return JSON.parse(`"${text.toString('utf8')}"`);
  } catch {
    return text.toString('utf8');
  }
}
