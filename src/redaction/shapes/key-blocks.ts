/**
 * Private keys in text armour (PEM, OpenSSH, PGP, PuTTY), whole or truncated at either end, with real or escaped line breaks,
 * or in string pieces that source code joins. Public keys and certificates are skipped.
 */
import { base64Unit, characterTables } from '../scan/characters.ts';
import { escapeMask, escapeShift, readEscape } from '../scan/escapes.ts';
import type { Finding, Page } from '../scan/page.ts';
import { isReadable } from '../values/randomness.ts';

/** A key of 16,384 bits has 12,700 characters. */
const longestBlock = 16_000;

/** In a URL a blank is `%20` or `+`. */
const opening = /BEGIN(?: |%20|\+)([A-Za-z0-9](?:[A-Za-z0-9 +-]|%20){0,40}?)-----/y;

/** There is a `BEGIN` and a blank at `i`. Returns the position where the scan continues, or 0 if it is not a block. */
export function readBlockFrom(page: Page, i: number, out: Finding[]): number {
  opening.lastIndex = i;
  const match = opening.exec(page.text);
  if (!match) return 0;
  const start = opening.lastIndex;
  const end = findEnd(page, start);
  if (!/PRIVATE|SECRET|[Ss]tatic(?: |%20|\+)key|(?:client|server)(?: |%20|\+)key/.test(match[1]!))
    return end < 0 ? start : end;
  if (end >= 0) return coverBody(page, start, end, out, true);
  return coverBody(page, start, bodyEnd(page, start), out);
}

/** The position is cached, so that many openings cost one search. */
function findEnd(page: Page, from: number): number {
  if (page.nextEnd < from) {
    const at = page.text.indexOf('-----END', from);
    page.nextEnd = at < 0 ? page.length : at;
  }
  return page.nextEnd < page.length && page.nextEnd - from <= longestBlock ? page.nextEnd : -1;
}

const keyRun = /[A-Za-z\d+/=]{12,}/g;

const masked = /^(?:[xX.*\s]|\\+[nr]?)+$/;

/** `${key.toString('base64')}` */
const encoding = /^(?:base64(?:url)?|hex|utf-?8|latin1|ascii|binary|der|pem)$/;

/** Only base64, or a run of it that is not a word. `...keyLines,` and `<the key's lines here>` don't count. */
const holdsKey = (text: string): boolean =>
  !/[;{}]|\w\(\w|=>|^[a-z]+$/.test(text) &&
  !masked.test(text) &&
  !encoding.test(text) &&
  (/^(?:[A-Za-z\d+/=\s]|\\+[nrt]?)+$/.test(text) ||
    (text.match(keyRun) ?? []).some((run) => !isReadable(run)));

/**
 * Pushes the pieces between unescaped quotes one by one; the text that joins them is kept. If `isWhole`, the body was not
 * checked for base64, and a piece may be the program's own code.
 */
function coverBody(page: Page, start: number, end: number, out: Finding[], isWhole = false): number {
  let from = start;
  for (let i = start; i <= end; i++) {
    const unit = page.units[i]!;
    const isBreak = i === end || ((unit === 34 || unit === 39 || unit === 96) && page.units[i - 1] !== 92);
    if (!isBreak) continue;
    const trimmed = trimBody(page, from, i);
    const isOwn = page.text.startsWith('redacted:', trimmed.start);
    const isBody = !isWhole || holdsKey(page.text.slice(trimmed.start, trimmed.end));
    if (trimmed.end - trimmed.start >= 4 && isBody && !isOwn) out.push({ ...trimmed, rule: 'private-key' });
    from = i + 1;
  }
  return Math.max(end, start);
}

/** Without the blanks and escaped line breaks at both ends. */
function trimBody(page: Page, start: number, end: number): { start: number; end: number } {
  const text = page.text.slice(start, end);
  const lead = /^(?:\s|\\+[nrt]|[,+[\]]|\\+$)*/.exec(text)![0].length;
  const body = text.slice(lead).replace(/(?:\s|\\+[nrt]|\\+|[,+[\]]){1,64}$/, '');
  return { start: start + lead, end: start + lead + body.length };
}

/** The end of a truncated body: it continues as long as the lines are base64 or headers (`DEK-Info: …`). */
function bodyEnd(page: Page, start: number): number {
  const { classes } = characterTables();
  const { units, length } = page;
  let i = start;
  let lineStart = start;
  const stop = Math.min(length, start + longestBlock);
  while (i < stop) {
    const unit = units[i]!;
    if (classes[unit]! & base64Unit || unit === 61) {
      i += 1;
      continue;
    }
    const broken = lineBreakAt(units, i);
    if (broken === 0) {
      // `%2B`, `%2F`, `%3D`
      const packed = unit === 37 ? readEscape(units, i) : 0;
      if (packed !== 0 && (classes[packed & escapeMask]! & base64Unit || (packed & escapeMask) === 61)) {
        i += packed >>> escapeShift;
        continue;
      }
      if ((unit === 58 || unit === 44 || unit === 32) && isHeaderLine(page, lineStart)) {
        i += 1;
        continue;
      }
      return (unit === 32 || unit === 58) && i > lineStart && lineStart > start ? lineStart : i;
    }
    i += broken;
    lineStart = i;
  }
  return i;
}

function lineBreakAt(units: Uint16Array, i: number): number {
  if (units[i] === 10 || units[i] === 13) return 1;
  if (units[i] !== 92 && units[i] !== 37) return 0;
  const packed = readEscape(units, i);
  return (packed & escapeMask) === 10 ? packed >>> escapeShift : 0;
}

function isHeaderLine(page: Page, lineStart: number): boolean {
  return /^(?:Proc-Type|DEK-Info|Comment|Version|Charset|Hash|Encryption): /.test(
    page.text.slice(lineStart, lineStart + 14),
  );
}

const closing = /END [A-Z0-9 ]{0,40}(?:PRIVATE|SECRET) KEY(?: BLOCK)?-----/y;

/** There is an `END ` at `i` without an opening: the start of the key was cut off. */
export function readBlockBack(page: Page, i: number, floor: number): Finding | undefined {
  closing.lastIndex = i;
  if (!closing.test(page.text)) return undefined;
  const { classes } = characterTables();
  const { units } = page;
  const end = i - 5;
  let start = end;
  const stop = Math.max(floor, end - longestBlock);
  while (start > stop) {
    const unit = units[start - 1]!;
    const isBody = classes[unit]! & base64Unit || unit === 61 || unit === 10 || unit === 13 || unit === 92;
    if (!isBody) break;
    start -= 1;
  }
  const opened = page.text.lastIndexOf('-----', end - 6);
  if (opened >= start) start = opened + 5;
  if (end - start < 8) return undefined;
  const trimmed = trimBody(page, start, end);
  if (masked.test(page.text.slice(trimmed.start, trimmed.end))) return undefined;
  return { ...trimmed, rule: 'private-key' };
}

const putty = /Private-Lines: \d{1,3}(?:\r?\n|(?:\\+r)?\\+n)/y;

/** A PuTTY key file: the lines after `Private-Lines: n`. That name is at `i`. */
export function readPuttyLines(page: Page, i: number, out: Finding[]): number {
  putty.lastIndex = i;
  if (!putty.test(page.text)) return 0;
  const start = putty.lastIndex;
  const end = bodyEnd(page, start);
  return coverBody(page, start, end, out);
}
