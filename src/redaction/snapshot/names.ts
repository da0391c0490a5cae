/**
 * Reads the flat number lists of a heap snapshot, in chunks that are cut anywhere, and marks the strings that are used as
 * names. Never changes a number. Types that are not listed in the head name nothing.
 */
import { MalformedInput } from '../../errors.ts';
import type { RecordColumns } from './meta.ts';

/** Far above V8's number of strings and its object ids. */
const mostMarks = 1 << 28;

/** A set of small integers: indexes of strings that are names, or ids of objects that are values. */
export class NameMarks {
  /** A bit each: a heap of a gigabyte has some 30 million objects. */
  private marks = new Uint8Array(1 << 13);

  mark(index: number): void {
    if (index >= this.marks.length * 8) this.grow(index);
    this.marks[index >>> 3]! |= 1 << (index & 7);
  }

  has(index: number): boolean {
    return (((this.marks[index >>> 3] ?? 0) >>> (index & 7)) & 1) === 1;
  }

  private grow(index: number): void {
    if (index >= mostMarks)
      throw new MalformedInput('The heap snapshot has a number that cannot be.', {
        format: 'heapsnapshot',
        field: 'name or id',
        available: String(index),
      });
    const grown = new Uint8Array(
      Math.min(mostMarks >>> 3, Math.max((index >>> 3) + 1, this.marks.length * 2)),
    );
    grown.set(this.marks);
    this.marks = grown;
  }
}

export class RecordReader {
  private readonly columns: RecordColumns;
  private readonly marks: NameMarks;
  private readonly values: NameMarks;
  private column = 0;
  private type = 0;
  private value = 0;
  private inNumber = false;

  /** @param values receives the ids of the nodes that have their content as their name. */
  constructor(columns: RecordColumns, marks: NameMarks, values: NameMarks) {
    this.columns = columns;
    this.marks = marks;
    this.values = values;
  }

  /** Reads from `from` to the list's closing bracket or the chunk's end. Returns the position where it stopped. */
  read(chunk: Uint8Array, from: number): number {
    const { width, typeColumn, nameColumn, idColumn, isName } = this.columns;
    const { length } = chunk;
    let { column, type, value, inNumber } = this;
    let i = from;
    for (; i < length; i++) {
      const byte = chunk[i]!;
      const figure = byte - 48;
      if (figure >= 0 && figure <= 9) {
        value = value * 10 + figure;
        inNumber = true;
        continue;
      }
      if (inNumber) {
        if (column === typeColumn) type = value;
        else if (column === nameColumn) {
          if (isName[type] === 1) this.marks.mark(value);
        } else if (column === idColumn && isName[type] === 0) this.values.mark(value);
        column = column + 1 === width ? 0 : column + 1;
        value = 0;
        inNumber = false;
      }
      if (byte === 93) break;
      if (byte === 34) throw unexpectedString();
    }
    this.column = column;
    this.type = type;
    this.value = value;
    this.inNumber = inNumber;
    return i;
  }
}

export function unexpectedString(): MalformedInput {
  return new MalformedInput('The heap snapshot has a string among its numbers.', {
    format: 'heapsnapshot',
    field: 'nodes, edges or another list of numbers',
  });
}
