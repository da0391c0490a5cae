/**
 * The `strings` section: records the start of each string, but no text. Also detects the names of WeakMap entries, because
 * the graph analysis needs them and a second pass over the section would double the cost.
 */

import { MalformedInput } from '../../../errors.ts';
import { formatName } from '../layout.ts';
import { Byte, isSpace } from '../scan/numbers.ts';
import { ScanKernel } from '../scan/scan-kernel.ts';

/** Part of every name that V8 gives to an edge of a WeakMap's entry (heap-snapshot-generator.cc, ExtractEphemeron…). */
const ephemeronWords = Buffer.from(' pair in WeakMap (table @', 'latin1');

export class StringIndex {
  done = false;
  count = 0;
  /** Indexes of strings that name an edge of a WeakMap entry. */
  readonly ephemeronNames: number[] = [];
  /** Offset of each opening quote, relative to the start of the section; one more at the end. */
  #starts = new Float64Array(4096);
  #afterItem = false;
  #insideString = false;

  get starts(): Float64Array {
    return this.#starts.subarray(0, this.count + 1);
  }

  /**
   * Consumes whole strings from [start, end); `base` is the offset of bytes[0] relative to the section. A string longer than
   * the window is consumed in pieces if `mustMove` is set.
   */
  scan(bytes: Buffer, start: number, end: number, base: number, mustMove: boolean): number {
    const firstCount = this.count;
    const kernel = ScanKernel.over(bytes);
    let at = start;
    while (!this.done) {
      if (!this.#insideString) {
        const opening = this.#beforeString(bytes, at, end, base);
        if (this.done || opening < 0) {
          at = this.done ? ~opening : at;
          break;
        }
        at = opening;
        this.#afterItem = false;
        const taken = kernel ? this.#takeMany(kernel, bytes, at, end, base) : at;
        if (taken > at) {
          at = taken;
          this.#afterItem = true;
          continue;
        }
      }
      const closing = findClosingQuote(bytes, this.#insideString ? at : at + 1, end);
      if (closing < 0) {
        if (mustMove && at === start) at = this.#takePiece(bytes, at, end, base);
        break;
      }
      if (!this.#insideString) this.#push(base + at);
      this.#insideString = false;
      this.#afterItem = true;
      at = closing + 1;
    }
    this.#noteEnd(base + at);
    this.#findEphemerons(bytes, start, at, base, firstCount);
    return at;
  }

  /** Consumes whole strings from an opening quote; returns the position after the last one. */
  #takeMany(kernel: ScanKernel, bytes: Buffer, at: number, end: number, base: number): number {
    const { code } = kernel;
    const shift = bytes.byteOffset;
    const rows = code.scanStrings(shift + at, shift + end, code.stringRows.value, base + at);
    this.#reserve(rows);
    this.#starts.set(kernel.doubles(0, rows), this.count);
    this.count += rows;
    return code.position.value - shift;
  }

  /** Position of the next opening quote. At the closing bracket, sets `done` and returns ~(position after it). */
  #beforeString(bytes: Buffer, at: number, end: number, base: number): number {
    let needsComma = this.#afterItem;
    for (; at < end; at++) {
      const byte = bytes[at];
      if (byte === Byte.quote && !needsComma) return at;
      if (byte === Byte.comma && needsComma) needsComma = false;
      else if (byte === Byte.closeBracket && (needsComma || this.count === 0)) {
        this.done = true;
        return ~(at + 1);
      } else if (!isSpace(byte)) throw malformedStrings(base + at, byte);
    }
    return -1;
  }

  #takePiece(bytes: Buffer, at: number, end: number, base: number): number {
    if (!this.#insideString) this.#push(base + at);
    this.#insideString = true;
    // A backslash at the very end is left to the next window, so that an escaped quote is not taken for a closing one.
    let backslashes = 0;
    while (end - 1 - backslashes > at && bytes[end - 1 - backslashes] === Byte.backslash) backslashes++;
    return backslashes % 2 ? end - 1 : end;
  }

  #push(offset: number): void {
    this.#reserve(1);
    this.#starts[this.count++] = offset;
  }

  /** Reserves space for `rows` more rows, and the end. */
  #reserve(rows: number): void {
    if (this.count + rows < this.#starts.length) return;
    const larger = new Float64Array(2 * (this.count + rows));
    larger.set(this.#starts);
    this.#starts = larger;
  }

  #noteEnd(offset: number): void {
    this.#starts[this.count] = offset;
  }

  #findEphemerons(bytes: Buffer, start: number, end: number, base: number, firstCount: number): void {
    const taken = bytes.subarray(start, end);
    let index = firstCount;
    for (let at = taken.indexOf(ephemeronWords); at >= 0; at = taken.indexOf(ephemeronWords, at + 1)) {
      while (index + 1 < this.count && this.#starts[index + 1]! <= base + start + at) index++;
      if (this.ephemeronNames.at(-1) !== index) this.ephemeronNames.push(index);
    }
  }
}

/** Position of the first quote without a backslash before it, or -1. */
function findClosingQuote(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const byte = bytes[at]!;
    if (byte === 34) return at;
    at += byte === 92 ? 2 : 1;
  }
  return -1;
}

function malformedStrings(offset: number, byte: number | undefined): MalformedInput {
  const found = JSON.stringify(String.fromCharCode(byte ?? 0));
  return new MalformedInput(`not a heap snapshot: ${found} between strings`, {
    format: formatName,
    field: 'strings',
    offset,
    available: found,
  });
}
