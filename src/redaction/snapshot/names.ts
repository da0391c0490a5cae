/**
 * Reads the flat number lists of a heap snapshot in chunks cut anywhere, and marks the strings that serve as a name.
 * Numbers are never changed. A type that the head did not announce names nothing.
 */
import { MalformedInput } from '../../errors.ts';
import type { RecordColumns } from './meta.ts';

/** V8's own count of strings stays far below. */
const mostStrings = 1 << 28;

export class NameMarks {
  private marks = new Uint8Array(1 << 16);

  mark(index: number): void {
    if (index >= this.marks.length) this.grow(index);
    this.marks[index] = 1;
  }

  has(index: number): boolean {
    return this.marks[index] === 1;
  }

  private grow(index: number): void {
    if (index >= mostStrings)
      throw new MalformedInput('The heap snapshot points at a string that cannot exist.', {
        format: 'heapsnapshot',
        field: 'name',
        available: String(index),
      });
    const grown = new Uint8Array(Math.min(mostStrings, Math.max(index + 1, this.marks.length * 2)));
    grown.set(this.marks);
    this.marks = grown;
  }
}

export class RecordReader {
  private readonly columns: RecordColumns;
  private readonly marks: NameMarks;
  private column = 0;
  private type = 0;
  private value = 0;
  private inNumber = false;

  constructor(columns: RecordColumns, marks: NameMarks) {
    this.columns = columns;
    this.marks = marks;
  }

  /** Reads from `from` to the list's closing bracket or the chunk's end; answers with where it stopped. */
  read(chunk: Uint8Array, from: number): number {
    const { width, typeColumn, nameColumn, isName } = this.columns;
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
        else if (column === nameColumn && isName[type] === 1) this.marks.mark(value);
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
