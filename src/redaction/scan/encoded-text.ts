/**
 * Text inside text as base64, hexadecimal, a run of escapes or a printed buffer: decodes what is readable so that it can be
 * searched. A few characters are decoded first, so that ids and digests cost little.
 */
import { base64Unit, characterTables, hexUnit } from './characters.ts';
import { escapeMask, escapeShift, listGap, readEscape } from './escapes.ts';
import type { Page } from './page.ts';

/** Decoded text and the end of its encoded form. */
export interface DecodedRun {
  text: string;
  end: number;
  /** The start, if the run begins before the position that was passed in. */
  start?: number;
  /** In JSON a list of numbers is replaced by a string with these quotes. */
  quote?: string;
}

/** Longer encoded runs are decoded up to this length. */
const longestDecoded = 16_384;

const isReadableByte = (byte: number): boolean =>
  (byte >= 32 && byte < 127) || byte === 10 || byte === 13 || byte === 9;

/** The base64 that starts at `start`, if it encodes readable text. `wordEnd` is the end of its first word. */
export function decodeBase64Run(page: Page, start: number, wordEnd: number): DecodedRun | undefined {
  if (!startsReadable(page.units, start)) return undefined;
  const { classes } = characterTables();
  const { units, length } = page;
  let end = wordEnd;
  const stop = Math.min(length, start + longestDecoded);
  while (end < stop && classes[units[end]!]! & base64Unit) end += 1;
  const text = Buffer.from(page.text.slice(start, end), 'base64').toString('latin1');
  while (units[end] === 61) end += 1;
  return isMostlyReadable(text) ? { text, end } : undefined;
}

/** The word at `start` begins as readable text in base64 or in hexadecimal digits. */
export const mayBeEncoded = (units: Uint16Array, start: number): boolean =>
  startsReadable(units, start) || startsReadableHex(units, start);

/** The first eight characters encode six readable bytes. */
function startsReadable(units: Uint16Array, start: number): boolean {
  const { sextets } = characterTables();
  for (let group = start; group < start + 8; group += 4) {
    const a = sextets[units[group]! & 255]!;
    const b = sextets[units[group + 1]! & 255]!;
    const c = sextets[units[group + 2]! & 255]!;
    const d = sextets[units[group + 3]! & 255]!;
    if ((a | b | c | d) & 64) return false;
    const bits = (a << 18) | (b << 12) | (c << 6) | d;
    if (!isReadableByte(bits >> 16) || !isReadableByte((bits >> 8) & 255) || !isReadableByte(bits & 255))
      return false;
  }
  return true;
}

function isMostlyReadable(text: string): boolean {
  if (text.length < 8) return false;
  let unreadable = 0;
  for (let i = 0; i < text.length; i++) if (!isReadableByte(text.charCodeAt(i))) unreadable += 1;
  return unreadable <= 2 || unreadable * 20 < text.length;
}

/** The byte that two hexadecimal digits encode, or -1. */
function hexByte(units: Uint16Array, i: number): number {
  const { classes } = characterTables();
  const high = units[i]!;
  const low = units[i + 1]!;
  if (!(classes[high]! & classes[low]! & hexUnit)) return -1;
  return (hexDigit(high) << 4) | hexDigit(low);
}

const hexDigit = (unit: number): number => (unit <= 57 ? unit - 48 : (unit | 32) - 87);

function startsReadableHex(units: Uint16Array, start: number): boolean {
  for (let i = start; i < start + 12; i += 2) if (!isReadableByte(hexByte(units, i))) return false;
  return true;
}

/** Pairs of hexadecimal digits that encode readable text; [start, end) is one word. */
export function decodeHexRun(page: Page, start: number, end: number): DecodedRun | undefined {
  const { units } = page;
  if (!startsReadableHex(units, start)) return undefined;
  const { classes } = characterTables();
  let stop = start + 12;
  while (stop < end && classes[units[stop]!]! & hexUnit) stop += 1;
  if (stop - start < 24 || stop !== end) return undefined;
  const even = start + ((stop - start) & ~1);
  const text = Buffer.from(page.text.slice(start, Math.min(even, start + longestDecoded)), 'hex').toString(
    'latin1',
  );
  return isMostlyReadable(text) ? { text, end: stop } : undefined;
}

/** At most this many characters of a run of escapes are decoded at once. */
const longestEscaped = 4096;

/** Runs of escapes that each encode a plain letter or digit, which never needs escaping. */
export class EscapeRuns {
  #until = 0;

  /** For a scan that starts at the first unit. */
  restart(): void {
    this.#until = 0;
  }

  /** The run that starts at `start`; undefined within a run that was already returned, because it was searched as a whole. */
  at(page: Page, start: number): DecodedRun | undefined {
    if (start < this.#until) return undefined;
    const run = decodeEscapeRun(page, start);
    if (!run) return undefined;
    // A run that was cut is continued from its middle, so that a secret across the cut is seen whole once.
    const isCut = run.text.length >= longestEscaped;
    this.#until = isCut ? start + ((run.end - start) >> 1) : run.end;
    return run;
  }
}

function decodeEscapeRun(page: Page, start: number): DecodedRun | undefined {
  const { classes } = characterTables();
  let text = '';
  let end = start;
  let escapes = 0;
  let plain = 0;
  while (end < page.length && text.length < longestEscaped && plain < 4) {
    const packed = readEscape(page.units, end);
    const stands = packed & escapeMask;
    if (packed !== 0 && stands > 32) {
      text += String.fromCharCode(stands);
      end += packed >>> escapeShift;
      escapes += 1;
      plain = 0;
    } else if (classes[page.units[end]!]! & base64Unit) {
      text += page.text[end];
      end += 1;
      plain += 1;
    } else break;
  }
  return escapes >= 4 ? { text, end } : undefined;
}

const printedBuffer = /<Buffer((?: [0-9a-f]{2}){6,60})(?: \.\.\. \d+ more bytes)?>/y;
const contents = /<((?:[0-9a-f]{2} ){6,100}[0-9a-f]{2})(?: \.\.\. \d+ more bytes)?>/y;
const bufferData = new RegExp(
  String.raw`"data(\\*)": ?(\[${listGap}((?:\d{1,3},${listGap}){7,4000}\d{1,3})${listGap}\])`,
  'y',
);
const typedArray = new RegExp(
  String.raw`\(\d{1,9}\) \[${listGap}((?:\d{1,3},${listGap}){7,200}(?:\d{1,3}|\.{3} \d{1,9} more items?))${listGap}(?=\])`,
  'y',
);

/** `<Buffer 67 68 …>` as util.inspect prints it. There is a `<` at `start`. */
export function decodePrintedBuffer(page: Page, start: number): DecodedRun | undefined {
  printedBuffer.lastIndex = start;
  const match = printedBuffer.exec(page.text);
  if (!match) return undefined;
  const text = Buffer.from(match[1]!.replaceAll(' ', ''), 'hex').toString('latin1');
  return isMostlyReadable(text) ? { text, end: start + match[0].length } : undefined;
}

/** `<67 68 …>` after `[Uint8Contents]:`. There is a `<` at `start`. */
export function decodeContents(page: Page, start: number): DecodedRun | undefined {
  contents.lastIndex = start;
  const match = contents.exec(page.text);
  if (!match) return undefined;
  const text = Buffer.from(match[1]!.replaceAll(' ', ''), 'hex').toString('latin1');
  return isMostlyReadable(text) ? { text, start: start + 1, end: start + 1 + match[1]!.length } : undefined;
}

/** `Uint8Array(40) [ 103, 104, … ]` as util.inspect prints it. There is a `(` at `start`. */
export function decodeTypedArray(page: Page, start: number): DecodedRun | undefined {
  typedArray.lastIndex = start;
  const list = typedArray.exec(page.text)?.[1];
  if (list === undefined) return undefined;
  const text = textOfNumbers(list.replace(/\.{3}.*$/, ''));
  const { lastIndex } = typedArray;
  const at = page.text.lastIndexOf(list, lastIndex);
  return isMostlyReadable(text) ? { text, start: at, end: at + list.length } : undefined;
}

const textOfNumbers = (list: string): string =>
  Buffer.from((list.match(/\d+/g) ?? []).map(Number)).toString('latin1');

/**
 * `"data":[103,104,…]` as JSON.stringify writes a Buffer, on one line or several, also within a JSON string. The name's quote
 * is at `start`.
 */
export function decodeBufferData(page: Page, start: number): DecodedRun | undefined {
  bufferData.lastIndex = start;
  const match = bufferData.exec(page.text);
  if (!match) return undefined;
  const [whole, backslashes, list = '', numbers = ''] = match;
  const text = textOfNumbers(numbers);
  const end = start + whole.length;
  return isMostlyReadable(text)
    ? { text, start: end - list.length, end, quote: `${backslashes}"` }
    : undefined;
}
