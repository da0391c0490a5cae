/**
 * Finds the end of a value after a name: quoted at some depth of escaping (`"`, `\"`, `\\\"`, `%22`, `&quot;`), bare, or a
 * YAML block. Only determines ranges, not whether the value is a secret.
 */
import { alnum, characterTables, terminator, wordUnit } from '../scan/characters.ts';
import { escapeMask, escapeShift, readEscape } from '../scan/escapes.ts';
import type { Page } from '../scan/page.ts';

/** The range of a value. `close` is the position after its closing quote, where the scan continues. */
export interface ValueSpan {
  start: number;
  end: number;
  close: number;
  quoted: boolean;
  /** The text or page ended before the value: finds its end in the next page. */
  resume?: (page: Page, from: number) => number;
}

/** Longer values are not judged by their content. */
export const longestJudged = 4096;

const isQuote = (unit: number): boolean => unit === 34 || unit === 39 || unit === 96;

/** The quoted value that opens at `i`; undefined without a quote. */
export function readQuoted(page: Page, i: number): ValueSpan | undefined {
  const { units } = page;
  const first = units[i]!;
  if (isQuote(first)) {
    const isTriple = first !== 96 && units[i + 1] === first && units[i + 2] === first && units[i + 3]! > 32;
    return closeQuoted(page, isTriple ? i + 3 : i + 1, first, 0);
  }
  if (first === 92) {
    let depth = 1;
    while (units[i + depth] === 92) depth += 1;
    const unit = units[i + depth]!;
    // `\"\"\"x\"\"\"`
    const isTriple =
      isQuote(unit) && unit !== 96 && repeats(units, i, depth + 1) && units[i + 3 * (depth + 1)]! > 32;
    if (isQuote(unit)) return closeQuoted(page, i + (isTriple ? 3 : 1) * (depth + 1), unit, depth);
  }
  if (first === 37 || first === 38 || first === 92) {
    const packed = readEscape(units, i);
    if (packed !== 0 && isQuote(packed & escapeMask)) {
      const length = packed >>> escapeShift;
      return closeEscaped(page, i + length, page.text.slice(i, i + length));
    }
  }
  return undefined;
}

/** The `length` units at `i` stand there three times. */
function repeats(units: Uint16Array, i: number, length: number): boolean {
  for (let j = i; j < i + 2 * length; j++) if (units[j] !== units[j + length]) return false;
  return true;
}

const longestLiteral = 160;

/** A literal in other quotes than `"` that contains those: a value that is read ends there, as it may be within a string. */
export function wholeLiteral(page: Page, span: ValueSpan | undefined): ValueSpan | undefined {
  const { units } = page;
  const quote = span && units[span.start - 1];
  if (!span || (quote !== 39 && quote !== 96) || units[span.end] !== 34) return span;
  for (let i = span.end + 1; i < span.start + longestLiteral; i++) {
    if (units[i] === quote) return { ...span, end: i, close: i + 1 };
    if (units[i] === 10 || units[i] === 92 || units[i] === 0) return span;
  }
  return span;
}

function closeQuoted(page: Page, start: number, quote: number, depth: number): ValueSpan {
  const end = findClosing(page, start, quote, depth);
  const span = { start, end, close: behindQuote(page, end), quoted: true };
  if (end < page.length) return span;
  return { ...span, resume: (next, from) => findClosing(next, from, quote, depth) };
}

/** The position after the quote and its backslashes at `end`, or `end` itself if a line break ended the value. */
function behindQuote(page: Page, end: number): number {
  let i = end;
  while (page.units[i] === 92) i += 1;
  return isQuote(page.units[i]!) ? i + 1 : end;
}

/** The quote that ends a value opened after `depth` backslashes. A line break ends it too. */
function findClosing(page: Page, from: number, quote: number, depth: number): number {
  const { units, length } = page;
  for (let i = from; i < length; i++) {
    const unit = units[i]!;
    if (unit === 92) {
      let run = 1;
      while (units[i + run] === 92) run += 1;
      const escaped = units[i + run]!;
      const own = escaped === quote || escaped === 34 ? backslashesOfClosing(run, depth) : -1;
      if (own >= 0) return i + run - own;
      i += run;
    } else if (unit === quote || unit === 34) return i;
    else if (unit === 10 && quote !== 96 && !isSoftBreak(units, i)) return i;
  }
  return length;
}

/**
 * A line of quoted-printable text that continues on the next one. The `=` is not base64 padding: a closing quote would follow
 * it.
 */
const isSoftBreak = (units: Uint16Array, i: number): boolean => {
  const before = units[i - 1] === 13 ? i - 2 : i - 1;
  return units[before] === 61 && units[before - 1] !== 61 && units[i + 1]! > 32;
};

/**
 * How many of the `run` backslashes before a quote belong to the quote, if it ends a string with at most `depth` backslashes;
 * -1 if the quote is part of the content. Strings nested n deep have 2^n - 1 backslashes before their quotes, and each
 * backslash of their content becomes 2^n.
 */
function backslashesOfClosing(run: number, depth: number): number {
  for (let own = 0; own <= depth; own = own * 2 + 1) {
    const content = (run - own) / (own + 1);
    if (content >= 0 && content % 2 === 0) return own;
  }
  return -1;
}

function closeEscaped(page: Page, start: number, mark: string): ValueSpan {
  const find = (next: Page, from: number): number => {
    const at = next.text.indexOf(mark, from);
    const stop = findRawStop(next, from, at < 0 ? next.length : at);
    return stop;
  };
  const end = find(page, start);
  const close = page.text.startsWith(mark, end) ? end + mark.length : end;
  const span = { start, end, close, quoted: true };
  return end < page.length ? span : { ...span, resume: find };
}

/** An escaped quote ends at the latest with the raw string or line that contains it. */
function findRawStop(page: Page, from: number, to: number): number {
  const { units } = page;
  for (let i = from; i < to; i++) if (units[i] === 34 || units[i] === 10) return i;
  return to;
}

export interface BareForm {
  /** The sign before the value was percent-encoded, so its terminator is too. */
  encoded: boolean;
  /** Only blanks end the value: an environment or YAML line. */
  wholeLine: boolean;
}

/** The unquoted value that starts at `start`; of a longer one, the first `longest` units. */
export function readBare(
  page: Page,
  start: number,
  form: BareForm,
  longest = Number.POSITIVE_INFINITY,
): ValueSpan {
  const end = findBareEnd(page, start, form, Math.min(page.length, start + longest));
  const span = { start, end, close: end, quoted: false };
  return end < page.length ? span : { ...span, resume: (next, from) => findBareEnd(next, from, form) };
}

function findBareEnd(page: Page, start: number, form: BareForm, length = page.length): number {
  const { classes } = characterTables();
  const { units } = page;
  let i = start;
  while (i < length) {
    const unit = units[i]!;
    if (unit === 92 || (unit === 37 && form.encoded)) {
      const packed = readEscape(units, i);
      const stands = packed & escapeMask;
      if (packed !== 0 && stands !== 92 && classes[stands]! & terminator) return i;
      i += packed === 0 ? 1 : packed >>> escapeShift;
    } else if (classes[unit]! & terminator && endsBare(page, i, form)) {
      const behind = unit === 38 ? behindAmpersand(page, start, i) : 0;
      if (behind === 0) return i;
      i = behind;
    } else i += 1;
  }
  return length;
}

/** The name and the sign before a value of a list that semicolons divide, as drivers of databases read it. */
const inConnection = /;[ ]?[A-Za-z][A-Za-z ]{1,30}=[ ]?$/;
/** What stands behind the `&` within such a value, which is an entity in XML, and no field of a form. */
const ampersand = /&(?:(?:amp|lt|gt|#\d{2,3});)?(?=[^\s"'<>&=;]{1,80}(?:[;"'<\r\n]|$))/y;

function behindAmpersand({ text }: Page, start: number, at: number): number {
  ampersand.lastIndex = at;
  const isWithin = ampersand.test(text) && inConnection.test(text.slice(Math.max(0, start - 36), start));
  return isWithin ? ampersand.lastIndex : 0;
}

/** `SECRET=x${SUFFIX}` at the end of its line: the brace that ended the value belongs to it. */
export function includeBrace({ units, text }: Page, span: ValueSpan): ValueSpan {
  const { start, end } = span;
  if (units[end] !== 125 || !/\$\{\w{1,60}$/.test(text.slice(Math.max(start, end - 64), end))) return span;
  return /^\}(?:$|[\r\n]|\\[rn])/.test(text.slice(end, end + 3))
    ? { ...span, end: end + 1, close: end + 1 }
    : span;
}

/** The unit at `i`, or what an escape there stands for: in a string, a line's end is written `\n`. */
function standsFor(units: Uint16Array, i: number): number {
  const packed = units[i] === 92 ? readEscape(units, i) : 0;
  return packed === 0 ? units[i]! : packed & escapeMask;
}

function endsBare(page: Page, i: number, form: BareForm): boolean {
  const { classes } = characterTables();
  const unit = page.units[i]!;
  const next = standsFor(page.units, i + 1);
  if (unit <= 32 || unit === 34) return true;
  if (unit === 39 || unit === 96) return !(form.wholeLine && classes[next]! & alnum);
  if (unit === 44 || unit === 59 || unit === 38) {
    if (!form.wholeLine || i + 1 >= page.length || classes[next]! & terminator) return true;
    return /^[ \t]*[\w. -]{1,40}[=:]/.test(page.text.slice(i + 1, i + 44));
  }
  return !(classes[next]! & alnum);
}

/** Up to the line's end, real or escaped, or the quote that ends the string; at most `longest` units. */
export function readLine(page: Page, start: number, longest: number): ValueSpan {
  const { units } = page;
  const length = Math.min(page.length, start + longest);
  let i = start;
  while (i < length) {
    const unit = units[i]!;
    if (unit === 10 || unit === 13 || unit === 34 || unit === 39 || unit === 96) break;
    if (unit === 92) {
      const packed = readEscape(units, i);
      const stands = packed & escapeMask;
      if (stands === 10 || stands === 34 || stands === 39) break;
      i += Math.max(1, packed >>> escapeShift);
    } else i += 1;
  }
  return { start, end: i, close: i, quoted: false };
}

/** Skips blanks and terminal colours, real or escaped, and line breaks if `withBreaks`. */
export function skipBlanks(page: Page, from: number, withBreaks: boolean): number {
  const { units } = page;
  let i = from;
  for (let blanks = 0; blanks < 200; blanks++) {
    const unit = units[i]!;
    if (unit === 32 || unit === 9 || (withBreaks && (unit === 10 || unit === 13))) i += 1;
    else if (unit === 27) i = skipColorCode(units, i + 1);
    else {
      const packed = unit === 37 || unit === 92 ? readEscape(units, i) : 0;
      const stands = packed & escapeMask;
      if (packed === 0 || (stands !== 32 && stands !== 9 && stands !== 27 && !(withBreaks && stands === 10)))
        break;
      i += packed >>> escapeShift;
      if (stands === 27) i = skipColorCode(units, i);
    }
  }
  return i;
}

/** Skips the `[1;32m` that follows an escape character at `i`. */
export function skipColorCode(units: Uint16Array, i: number): number {
  if (units[i] !== 91) return i;
  let end = i + 1;
  while (end - i < 12 && ((units[end]! >= 48 && units[end]! <= 57) || units[end] === 59)) end += 1;
  return units[end] === 109 ? end + 1 : i;
}

/** Only indentation, a dash, `export` or a similar word, or the start of a dotted name precedes it in its line. */
export function startsLine(page: Page, start: number): boolean {
  const { units, text } = page;
  const { classes } = characterTables();
  let i = start;
  if (units[i - 1] === 46)
    while (i > 0 && start - i < 100 && (units[i - 1] === 46 || classes[units[i - 1]!]! & wordUnit)) i -= 1;
  // The letter of an escaped line break is not part of a name.
  if (i < start && units[i - 1] === 92 && (units[i] === 110 || units[i] === 116)) return true;
  while (i > 0 && start - i < 100 && (units[i - 1] === 32 || units[i - 1] === 9 || units[i - 1] === 45))
    i -= 1;
  if (i === 0 || units[i - 1] === 10) return true;
  if (units[i - 2] === 92 && (units[i - 1] === 110 || units[i - 1] === 116)) return true;
  return /(?:^|\n|\\n)[ \t]*(?:export|set|setx|ENV|ARG|env|declare -x) $/.test(
    text.slice(Math.max(0, i - 24), i),
  );
}

/** Number of blanks at the start of the line that contains `start`. */
export function indentOf(page: Page, start: number): number {
  const { units } = page;
  let line = start;
  while (line > 0 && units[line - 1] !== 10 && start - line < 200) line -= 1;
  let i = line;
  while (units[i] === 32 || units[i] === 9) i += 1;
  return i - line;
}

/** The lines of a YAML block (`|`, `>`) with its mark at `i`, indented deeper than `indent`. */
export function readBlock(page: Page, i: number, indent: number): ValueSpan | undefined {
  const mark = /[|>][-+\d]{0,3}[ \t]*\r?\n/y;
  mark.lastIndex = i;
  return mark.test(page.text) ? readIndented(page, mark.lastIndex, indent) : undefined;
}

/** The lines from `start` on that are indented deeper than `indent`. */
export function readIndented(page: Page, start: number, indent: number): ValueSpan | undefined {
  let end = start;
  const line = /([ \t]*)[^\n]*(?:\n|$)/y;
  for (let lines = 0; lines < 200 && end < page.length; lines++) {
    line.lastIndex = end;
    const match = line.exec(page.text);
    if (!match || (match[1]!.length <= indent && match[0].trim() !== '')) break;
    end = line.lastIndex;
  }
  while (end > start && page.units[end - 1]! <= 32) end -= 1;
  if (end === start) return undefined;
  let first = start;
  while (page.units[first]! <= 32) first += 1;
  return { start: first, end, close: end, quoted: true };
}
