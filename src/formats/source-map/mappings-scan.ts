/**
 * Lookups in the `mappings` text of a source map without decoding it into objects. One pass validates the text and records
 * the decoder's state every few hundred characters; a lookup resumes from the nearest recorded state. Memory is a few per
 * cent of the text's size, so this is used for maps that are too big for package-lookup.ts. Independent of JSON, names and
 * paths. Source: ECMA-426, https://tc39.es/ecma426/#sec-decode-mappings.
 */
import { MalformedInput } from '../../errors.ts';
import type { Segment, SegmentLookup } from './segment.ts';

const noteEveryChars = 512;
const comma = 44;
const semicolon = 59;
const noDigit = 255;

/** Value of each base64 digit by character code; noDigit for anything else. */
const digitValues = new Uint8Array(256).fill(noDigit);
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
for (let value = 0; value < 64; value++) digitValues[alphabet.charCodeAt(value)] = value;

/** Fields of a recorded state: position in the text, generated line and column, and the four running sums. */
const noteWidth = 7;

export class MappingsScan implements SegmentLookup {
  private readonly text: string;
  /** Each row is the state after a separator. Float64, because the sums of a file may temporarily exceed 2^31. */
  private notes = new Float64Array(noteWidth * 256);
  private noteCount = 0;
  /** On some line the segments are not in column order; then each line is read from its start. */
  private unsorted = false;

  /** Throws MalformedInput if the text is not a list of segments, or exceeds the ranges of the format. */
  constructor(text: string) {
    this.text = text;
    this.scan();
  }

  /** Starts one state earlier, because the wanted segment may end at the separator of the nearest state. */
  find(generatedLine: number, generatedColumn: number): Segment | undefined {
    const from = this.noteBefore(generatedLine, this.unsorted ? -1 : generatedColumn) - 1;
    return this.searchLine(from, generatedLine, generatedColumn);
  }

  close(): void {}

  /**
   * One pass over the characters. State: the number being decoded (`value`, `shift`), how many fields of the segment are
   * complete (`field`), the running sums that the fields are added to, and all digits of the segment combined with or
   * (`seen`), so that they are validated once, at its end.
   */
  private scan(): void {
    const { text } = this;
    const digits = digitValues;
    let [line, column, source, sourceLine, sourceColumn, name] = [0, 0, 0, 0, 0, 0];
    let [value, shift, field, seen, right, start, nextNote] = [0, 0, 0, 0, 0, 0, 0];
    for (let at = 0; at <= text.length; at++) {
      const code = at < text.length ? text.charCodeAt(at) : semicolon;
      if (code === comma || code === semicolon) {
        if (field > 0 || seen > 0 || shift > 0) {
          if (seen > 63) this.fail(start, 'base64 digits');
          if (shift > 0) this.fail(start, 'complete numbers of at most 32 bits');
          if (field === 2 || field === 3 || field > 5) this.fail(start, 'a segment of 1, 4 or 5 fields');
          if ((column | source | sourceLine | sourceColumn | name) < 0)
            this.fail(start, 'lines, columns and indexes from 0 to 2^31');
          if (column < right) this.unsorted = true;
          right = column;
          field = 0;
          seen = 0;
        }
        start = at + 1;
        if (code === semicolon) {
          line++;
          column = 0;
          right = 0;
        }
        if (at >= nextNote) {
          this.note(start, line, column, source, sourceLine, sourceColumn, name);
          nextNote = at + noteEveryChars;
        }
        continue;
      }
      const digit = digits[code & 255] as number;
      seen |= digit | (code & 0xff00);
      value |= (digit & 31) << shift;
      if (digit & 32) {
        shift += 5;
        if (shift > 30) this.fail(start, 'numbers of at most 32 bits');
        continue;
      }
      if (shift === 30 && digit > 3) this.fail(start, 'numbers of at most 32 bits');
      const delta = value & 1 ? -(value >>> 1) : value >>> 1;
      value = 0;
      shift = 0;
      if (field === 0) column += delta;
      else if (field === 1) source += delta;
      else if (field === 2) sourceLine += delta;
      else if (field === 3) sourceColumn += delta;
      else if (field === 4) name += delta;
      field++;
    }
  }

  private note(...row: number[]): void {
    if ((this.noteCount + 1) * noteWidth > this.notes.length) {
      const larger = new Float64Array(this.notes.length * 2);
      larger.set(this.notes);
      this.notes = larger;
    }
    this.notes.set(row, noteWidth * this.noteCount++);
  }

  /** The last state at or before a position; -1 for the start of the text. */
  private noteBefore(line: number, column: number): number {
    let low = 0;
    let high = this.noteCount;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const row = middle * noteWidth;
      const noteLine = this.notes[row + 1] as number;
      const isBefore = noteLine < line || (noteLine === line && (this.notes[row + 2] as number) <= column);
      if (isBefore) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /**
   * Decodes from a recorded state to the end of the wanted line or, in a sorted text, to the first segment after the column.
   * The constructor has validated the text.
   */
  private searchLine(from: number, wantedLine: number, wantedColumn: number): Segment | undefined {
    const { text } = this;
    let [at, line, column, source, sourceLine, sourceColumn, name] = this.stateAt(from);
    let [value, shift, field] = [0, 0, 0];
    let found: Segment | undefined;
    let foundColumn = -1;
    for (; at <= text.length; at++) {
      const code = at < text.length ? text.charCodeAt(at) : semicolon;
      if (code !== comma && code !== semicolon) {
        const digit = digitValues[code] as number;
        value |= (digit & 31) << shift;
        shift += 5;
        if (digit & 32) continue;
        const delta = value & 1 ? -(value >>> 1) : value >>> 1;
        value = 0;
        shift = 0;
        if (field === 0) column += delta;
        else if (field === 1) source += delta;
        else if (field === 2) sourceLine += delta;
        else if (field === 3) sourceColumn += delta;
        else name += delta;
        field++;
        continue;
      }
      if (field > 0 && line === wantedLine) {
        if (column > wantedColumn && !this.unsorted) return found;
        if (column <= wantedColumn && column >= foundColumn) {
          foundColumn = column;
          found = undefined;
          if (field >= 4) found = { source, line: sourceLine, column: sourceColumn };
          if (found && field === 5) found.name = name;
        }
      }
      field = 0;
      if (code === semicolon) {
        line++;
        column = 0;
        if (line > wantedLine) return found;
      }
    }
    return found;
  }

  private stateAt(note: number): [number, number, number, number, number, number, number] {
    if (note < 0) return [0, 0, 0, 0, 0, 0, 0];
    const row = this.notes.subarray(note * noteWidth, (note + 1) * noteWidth);
    return [...row] as [number, number, number, number, number, number, number];
  }

  private fail(offset: number, wanted: string): never {
    throw new MalformedInput(`source map: the mappings hold no valid segment at character ${offset}`, {
      format: 'source-map',
      field: 'mappings',
      offset,
      wanted,
      available: JSON.stringify(this.text.slice(offset, offset + 8)),
    });
  }
}
