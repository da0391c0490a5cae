/**
 * A section of records, each with the number of fields that the file's meta states. Records in the form in which V8 writes
 * them are parsed in bulk by the kernel, if the bytes are in its window; the loop here parses anything else, number by number
 * (NUL bytes end each window). Subclasses define what a record means.
 */
import { MalformedInput } from '../../../errors.ts';
import { formatName } from '../layout.ts';
import { afterNumber, Byte, beforeNumber, closed, incomplete, readLongNumber } from '../scan/numbers.ts';
import { ScanKernel } from '../scan/scan-kernel.ts';

export abstract class RecordReader {
  /** Rows read so far. */
  row = 0;
  /** Whether the closing bracket was read. */
  done = false;
  protected readonly section: string;
  readonly #fieldCount: number;
  readonly #record: Float64Array;
  /** Number of rows according to the header; undefined if it is not stated. */
  readonly #expected: number | undefined;

  constructor(section: string, fieldCount: number, expected: number | undefined) {
    this.section = section;
    this.#fieldCount = fieldCount;
    this.#record = new Float64Array(fieldCount);
    this.#expected = expected;
  }

  /** Stores one whole record as row `this.row`. */
  protected abstract take(record: Float64Array): void;

  /** Called once, after the last record. */
  protected finish(): void {}

  /**
   * With a kernel: consumes records in the form in which V8 writes them, and returns the end position in the kernel's memory.
   */
  protected takeMany(_kernel: ScanKernel, start: number): number {
    return start;
  }

  /** Consumes whole records from [start, end) and returns the position of the first byte that was not consumed. */
  scan(bytes: Uint8Array, start: number, end: number): number {
    const kernel = ScanKernel.over(bytes);
    if (!kernel) return this.#scanRecords(bytes, start, end, Number.POSITIVE_INFINITY);
    let at = start;
    while (!this.done) {
      at = this.takeMany(kernel, bytes.byteOffset + at) - bytes.byteOffset;
      const next = this.#scanRecords(bytes, at, end, 1);
      if (next === at) break;
      at = next;
    }
    return at;
  }

  /** At most `limit` records, in any form. */
  #scanRecords(bytes: Uint8Array, start: number, end: number, limit: number): number {
    if (this.row === 0 && this.#isEmpty(bytes, start, end)) return this.#close(bytes, start);
    const fieldCount = this.#fieldCount;
    const record = this.#record;
    let at = start;
    // State between iterations: `at` is where a record's first number starts (or white space before it).
    for (let taken = 0; taken < limit && !this.done; taken++) {
      const recordStart = at;
      for (let field = 0; field < fieldCount; field++) {
        let digit = bytes[at]! - 48;
        if (digit >>> 0 > 9) {
          at = beforeNumber(bytes, at, end, this.section);
          if (at === incomplete) return recordStart;
          digit = bytes[at]! - 48;
        }
        const first = at++;
        let value = digit;
        for (digit = bytes[at]! - 48; digit >>> 0 <= 9; digit = bytes[++at]! - 48)
          value = (value * 10 + digit) | 0;
        record[field] = at - first > 9 ? readLongNumber(bytes, first, at) : value;
        if (bytes[at] === 44) at++;
        else if (bytes[at] === 10 && bytes[at + 1] === 44) at += 2;
        else {
          const next = afterNumber(bytes, at, end, this.section);
          if (next === incomplete) return recordStart;
          if (next === closed && field !== fieldCount - 1) throw this.malformed('a record is cut short');
          this.done = next === closed;
          at = next === closed ? at : next;
        }
      }
      if (this.row === this.#expected) throw this.malformed('there are more records');
      this.take(record);
      this.row++;
    }
    return this.done ? this.#close(bytes, at) : at;
  }

  #isEmpty(bytes: Uint8Array, start: number, end: number): boolean {
    let at = start;
    while (at < end && bytes[at]! <= Byte.space && bytes[at] !== Byte.nul) at++;
    return at < end && bytes[at] === Byte.closeBracket;
  }

  #close(bytes: Uint8Array, at: number): number {
    this.done = true;
    if (this.#expected !== undefined && this.row !== this.#expected)
      throw this.malformed('there are fewer records');
    this.finish();
    return bytes.indexOf(Byte.closeBracket, at) + 1;
  }

  protected malformed(what: string, field?: string): MalformedInput {
    const promised = this.#expected === undefined ? '' : ` (${this.#expected} promised, row ${this.row})`;
    return new MalformedInput(`not a heap snapshot: in "${this.section}" ${what}${promised}`, {
      format: formatName,
      field: field ? `${this.section}.${field}` : this.section,
    });
  }
}
