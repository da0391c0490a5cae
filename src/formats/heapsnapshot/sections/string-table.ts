/**
 * The strings, decoded on demand. Uses the offsets of string-index.ts and reads the bytes through a few cached blocks. V8
 * writes ASCII with escapes. It truncates characters above U+FFFF to 16 bits (all versions up to 14), which can't be
 * reversed.
 */
import type { RandomBytes } from '../scan/byte-source.ts';
import { Byte } from '../scan/numbers.ts';

const blockBytes = 1 << 16;
const maxBlocks = 128;
/** Bytes per read when searching for a string. */
const searchBytes = 1 << 20;
/** A section up to this size is read once and kept, because each search and each block would read parts of it again. */
const smallBytes = 1 << 23;
const maxCached = 1 << 17;
/** Strings that are searched for are short. */
const mostIndexed = 64;
/** More than the number of a slot in any table has. */
const mostDigits = 10;
const nine = Byte.zero + 9;
/** How many strings tell what the file has between two of them. */
const mostMeasured = 64;

/** Replaces a string that is missing because the file was cut. */
export const lostString = '(name lost)';

export class StringTable {
  readonly count: number;
  /** Indexes of strings that name an edge of a WeakMap entry, ascending. */
  readonly ephemeronNames: readonly number[];
  readonly #starts: Float64Array;
  readonly #bytes: RandomBytes;
  /** Offset of the section in `bytes`. */
  readonly #base: number;
  readonly #blocks = new Map<number, Buffer>();
  readonly #cache = new Map<number, string>();
  readonly #found = new Map<string, number>();
  #whole: Buffer | undefined;
  /** Built for the first search. */
  #byDistance: ByDistance | undefined;
  /** Bytes between two strings; NaN if they vary. */
  #separatorBytes: number | undefined;

  constructor(starts: Float64Array, ephemeronNames: readonly number[], bytes: RandomBytes, base: number) {
    this.count = starts.length - 1;
    this.ephemeronNames = ephemeronNames;
    this.#starts = starts;
    this.#bytes = bytes;
    this.#base = base;
  }

  /** The offsets of the strings, to create another table over the same bytes. */
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

  /** The number that a string of decimal digits stands for; NaN for any other text, and without a string. */
  numberAt(index: number): number {
    if (index >= this.count) return Number.NaN;
    const from = this.#starts[index]! + 1;
    const to = Math.min(this.#starts[index + 1]!, from + mostDigits + 1);
    const [bytes, at] = this.#bytesFrom(from, to);
    return digitsAt(bytes, at, at + to - from);
  }

  /** Index of the first string that equals `text`, or -1. Compares bytes, so `text` must be plain ASCII without quotes. */
  findAscii(text: string): number {
    const known = this.#found.get(text) ?? this.#find(Buffer.from(`"${text}"`, 'latin1'));
    this.#found.set(text, known);
    return known;
  }

  /** Compares only strings of the same length, if the file has the same separator everywhere, as every JSON writer has. */
  #find(wanted: Buffer): number {
    this.#separatorBytes ??= this.#measureSeparator();
    const between = this.#separatorBytes;
    if (Number.isNaN(between)) return this.#search(wanted);
    const last = this.count - 1;
    const distance = wanted.length + between;
    for (const index of this.#atDistance(distance)) if (this.#isAt(index, wanted)) return index;
    return last >= 0 && this.rawLength(last) >= wanted.length && this.#isAt(last, wanted) ? last : -1;
  }

  /** The strings but the last whose successor starts at this distance, in order. */
  #atDistance(distance: number): Iterable<number> {
    const starts = this.#starts;
    const last = this.count - 1;
    if (distance > mostIndexed)
      return (function* () {
        for (let index = 0; index < last; index++)
          if (starts[index + 1]! - starts[index]! === distance) yield index;
      })();
    this.#byDistance ??= indexByDistance(starts, last);
    const { first, rows } = this.#byDistance;
    return rows.subarray(first[distance]!, first[distance + 1]!);
  }

  /** Of strings from all parts of the section; NaN if they differ. */
  #measureSeparator(): number {
    const lengths = new Set<number>();
    const step = Math.ceil(this.count / mostMeasured) || 1;
    for (let index = 0; index < this.count - 1; index += step) {
      const raw = this.#rawBytes(index);
      lengths.add(raw.length - raw.lastIndexOf(Byte.quote) - 1);
    }
    const [length = 0] = lengths;
    return lengths.size > 1 ? Number.NaN : length;
  }

  #isAt(index: number, wanted: Buffer): boolean {
    const from = this.#starts[index]!;
    const [bytes, at] = this.#bytesFrom(from, from + wanted.length);
    for (let byte = 0; byte < wanted.length; byte++) if (bytes[at + byte] !== wanted[byte]) return false;
    return true;
  }

  /** Searches all bytes. A match in the middle of another string is discarded, because no string starts there. */
  #search(wanted: Buffer): number {
    const whole = this.#small();
    if (whole) return this.#findIn(whole, wanted, 0);
    const end = this.#starts[this.count]!;
    const room = Buffer.allocUnsafe(searchBytes + wanted.length);
    for (let from = 0; from < end; from += searchBytes) {
      const to = Math.min(from + searchBytes + wanted.length - 1, end);
      const index = this.#findIn(this.#bytes.read(this.#base + from, this.#base + to, room), wanted, from);
      if (index >= 0) return index;
    }
    return -1;
  }

  /** @param from offset of the bytes in the section. */
  #findIn(bytes: Buffer, wanted: Buffer, from: number): number {
    for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 1)) {
      const index = this.#indexAt(from + at);
      if (index >= 0) return index;
    }
    return -1;
  }

  /** The whole section, if it is small. */
  #small(): Buffer | undefined {
    const end = this.#starts[this.count]!;
    if (end > smallBytes) return undefined;
    this.#whole ??= this.#bytes.read(this.#base, this.#base + end);
    return this.#whole;
  }

  /** Index of the string that starts at this offset, or -1. */
  #indexAt(offset: number): number {
    const starts = this.#starts;
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (starts[middle]! < offset) low = middle + 1;
      else high = middle;
    }
    return low < this.count && starts[low] === offset ? low : -1;
  }

  /** Length in bytes of a string as written in the file, including quotes. May be hundreds of megabytes. */
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
    const [bytes, at] = this.#bytesFrom(from, to);
    return bytes.subarray(at, at + to - from);
  }

  /** Bytes that contain the section's from `from` to `to`, and where those begin. */
  #bytesFrom(from: number, to: number): [bytes: Buffer, at: number] {
    const whole = this.#small();
    if (whole) return [whole, from];
    const block = Math.floor(from / blockBytes);
    const within = from - block * blockBytes;
    if (within + to - from > blockBytes) return [this.#bytes.read(this.#base + from, this.#base + to), 0];
    return [this.#block(block), within];
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

/** Rows of the strings below `count`, grouped by the distance to the next one, as far as that is short. */
interface ByDistance {
  first: Uint32Array;
  rows: Uint32Array;
}

function indexByDistance(starts: Float64Array, count: number): ByDistance {
  const first = new Uint32Array(mostIndexed + 2);
  for (let index = 0; index < count; index++) {
    const distance = starts[index + 1]! - starts[index]!;
    if (distance <= mostIndexed) first[distance + 1]!++;
  }
  for (let distance = 0; distance <= mostIndexed; distance++) first[distance + 1]! += first[distance]!;
  const next = first.slice();
  const rows = new Uint32Array(first[mostIndexed + 1]!);
  for (let index = 0; index < count; index++) {
    const distance = starts[index + 1]! - starts[index]!;
    if (distance <= mostIndexed) rows[next[distance]!++] = index;
  }
  return { first, rows };
}

function digitsAt(bytes: Buffer, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    if (byte === Byte.quote && at > from) return number;
    if (byte < Byte.zero || byte > nine) return Number.NaN;
    number = number * 10 + byte - Byte.zero;
  }
  return Number.NaN;
}

function unescapeJson(text: Buffer): string {
  try {
    return JSON.parse(`"${text.toString('utf8')}"`);
  } catch {
    return text.toString('utf8');
  }
}
