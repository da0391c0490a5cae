/**
 * Rewrites the list of strings of a heap snapshot, in chunks that are cut anywhere. A string that no node or edge uses as its
 * name is replaced by a marker. Names are searched for shapes and known values, and random-looking ones are removed too (an
 * object may be a dictionary whose property names are keys). V8 writes pure ASCII, so bytes are characters.
 */
import type { Policy } from '../policy.ts';
import { isPublicId } from '../values/public-ids.ts';
import { looksRandom } from '../values/randomness.ts';
import type { NameMarks } from './names.ts';

/** With `clean`, values are kept if nothing is found in them. */
export type SnapshotStrings = 'names' | 'clean';

/** Replaces a value. */
export const withheldString = '[redacted]';
const withheldText = `"${withheldString}"`;
/** Names are searched in batches of about this many characters. */
const batchSize = 1 << 16;
/** From this length on a batch ends before a value, since what replaces values need not be searched. */
const shortBatch = 1 << 12;
/** Strings from this length on are withheld. By default, Node truncates strings in snapshots at 1,024 characters. */
const longestKept = 1 << 20;
const shortestRandomName = 20;
/** V8's own text (V8ExplorerExtractor::ExtractEphemeronHashTableReferences), as it is in JSON. */
const isEphemeron = /^\d+ \/ part of key \(/;
const ephemeron =
  /^(\d+ \/ part of key \()(.*?) @(\d+)(\) -> value \()(.*) @(\d+)(\) pair in WeakMap \(table @\d+\))$/s;

export class StringListRewriter {
  private readonly marks: NameMarks;
  private readonly values: NameMarks;
  private readonly policy: Policy;
  private readonly strings: SnapshotStrings;
  private index = 0;
  private inString = false;
  private isKept = false;
  private escaped = false;
  /** The part of the current string from earlier chunks. */
  private text = '';
  private batch = '';
  private ready = '';

  constructor(marks: NameMarks, values: NameMarks, policy: Policy, strings: SnapshotStrings) {
    this.marks = marks;
    this.values = values;
    this.policy = policy;
    this.strings = strings;
  }

  /** Reads from `from` to the list's closing bracket or the chunk's end. Returns the position where it stopped. */
  read(chunk: Buffer, from: number): number {
    let i = from;
    while (i < chunk.length) {
      if (this.inString) {
        i = this.readInside(chunk, i);
        continue;
      }
      const byte = chunk[i]!;
      if (byte === 93) return i;
      if (byte === 34) this.openString();
      else this.batch += String.fromCharCode(byte);
      i += 1;
    }
    return i;
  }

  /** Returns what is rewritten so far; everything if the list has ended. */
  take(isLast: boolean): string {
    if (isLast) this.flush();
    const { ready } = this;
    this.ready = '';
    return ready;
  }

  private openString(): void {
    this.inString = true;
    this.escaped = false;
    this.text = '';
    this.isKept = this.strings === 'clean' || this.index === 0 || this.marks.has(this.index);
  }

  private readInside(chunk: Buffer, from: number): number {
    const end = this.findEnd(chunk, from);
    if (this.isKept && this.text.length < longestKept) this.text += chunk.toString('latin1', from, end);
    if (end === chunk.length) return end;
    this.closeString();
    return end + 1;
  }

  /** The closing quote, or the chunk's end. */
  private findEnd(chunk: Buffer, from: number): number {
    let { escaped } = this;
    let i = from;
    for (; i < chunk.length; i++) {
      const byte = chunk[i]!;
      if (escaped) escaped = false;
      else if (byte === 92) escaped = true;
      else if (byte === 34) break;
    }
    this.escaped = escaped;
    return i;
  }

  private closeString(): void {
    this.inString = false;
    if (this.isKept) this.batch += `"${this.rewrite()}"`;
    else this.withhold();
    this.index += 1;
    if (this.batch.length >= batchSize) this.flush();
  }

  private withhold(): void {
    if (this.batch.length >= shortBatch) this.flush();
    // The comma before it, or nothing.
    if (this.batch.length > 1) this.batch += withheldText;
    else {
      this.ready += this.batch + withheldText;
      this.batch = '';
    }
  }

  private rewrite(): string {
    const { text } = this;
    if (text.length >= longestKept) return withheldString;
    const isName = this.index === 0 || this.marks.has(this.index);
    if (isName && isEphemeron.test(text)) return this.rewriteEphemeron(text);
    if (isName) return isRandomName(text) ? this.rewriteRandom(text) : text;
    const clean = text.length < 4 || (this.isClean(text) && !looksRandom(text, 8));
    return clean ? text : withheldString;
  }

  /** Escaped slashes, as in the known values that are searched for in JSON, hide the shape of a key (`1//0…`). */
  private isClean(text: string): boolean {
    if (this.policy.text(text) !== text) return false;
    const plain = text.replace(/\\+\//g, '/');
    return plain === text || this.policy.text(plain) === plain;
  }

  /** V8 describes an entry of a WeakMap with the names of its key and value, and a string's name is its content. */
  private rewriteEphemeron(text: string): string {
    const parts = ephemeron.exec(text);
    if (!parts) return withheldString;
    const [, start, key, keyId, middle, value, valueId, rest] = parts;
    const shown = (name = '', id = ''): string =>
      `${this.values.has(Number(id)) ? withheldString : name} @${id}`;
    return `${start}${shown(key, keyId)}${middle}${shown(value, valueId)}${rest}`;
  }

  /** A known shape is more specific than a random look. */
  private rewriteRandom(text: string): string {
    const shown = this.policy.names(text);
    return shown === text ? withheldString : shown;
  }

  private flush(): void {
    this.ready += this.policy.names(this.batch);
    this.batch = '';
  }
}

function isRandomName(text: string): boolean {
  return text.length >= shortestRandomName && looksRandom(text, shortestRandomName) && !isPublicId(text);
}
