/**
 * Reads one escape sequence of the encodings for text inside text: backslashes of any depth (`\n`, `\\\"`, `\u0022`, `\x22`),
 * percent signs of any depth (`%3D`, `%253D`) and XML entities. Returns the unit it encodes and its length, packed into one
 * number to avoid allocation.
 */
import { characterTables, hexUnit } from './characters.ts';

/** In the packed result the low bits contain the unit, and the bits above them the length. */
export const escapeMask = 0xffff;
export const escapeShift = 16;

/** Source of a regular expression: blanks and line breaks between the numbers of a list, also within a string. */
export const listGap = String.raw`(?:\s|\\{1,15}[nrt]){0,80}`;

const pack = (length: number, unit: number): number => (length << escapeShift) | unit;
const hexValue = (unit: number): number => (unit <= 57 ? unit - 48 : (unit | 32) - 87);

/** Returns 0 if no escape starts at `i`. */
export function readEscape(units: Uint16Array, i: number): number {
  const first = units[i];
  if (first === 92) return readBackslash(units, i);
  if (first === 37) return readPercent(units, i);
  if (first === 38) return readEntity(units, i);
  return 0;
}

function readBackslash(units: Uint16Array, i: number): number {
  let j = i + 1;
  while (units[j] === 92 && j - i < 16) j += 1;
  const unit = units[j]!;
  const length = j - i + 1;
  if (unit === 110 || unit === 114 || unit === 118 || unit === 102) return pack(length, 10);
  if (unit === 116) return pack(length, 9);
  if (unit === 34 || unit === 39 || unit === 96 || unit === 47) return pack(length, unit);
  if (unit === 117) return readHex(units, j + 1, 4, length);
  if (unit === 120) return readHex(units, j + 1, 2, length);
  return pack(length - 1, 92);
}

function readHex(units: Uint16Array, from: number, count: number, length: number): number {
  const { classes } = characterTables();
  let value = 0;
  for (let i = 0; i < count; i++) {
    const unit = units[from + i]!;
    if (!(classes[unit]! & hexUnit)) return 0;
    value = value * 16 + hexValue(unit);
  }
  return pack(length + count, value);
}

function readPercent(units: Uint16Array, i: number): number {
  let j = i + 1;
  while (units[j] === 50 && units[j + 1] === 53 && j - i < 8) j += 2;
  const packed = readHex(units, j, 2, j - i);
  return packed;
}

const entities: Record<string, number> = {
  quot: 34,
  apos: 39,
  amp: 38,
  lt: 60,
  gt: 62,
  equals: 61,
  colon: 58,
};

/** The first letters of the names above, and `#`: most ampersands in programs are followed by another character. */
export const startsEntity = (unit: number): boolean =>
  unit === 35 || (unit > 96 && unit < 114 && ((entityStarts >>> (unit - 97)) & 1) !== 0);
const entityStarts = Object.keys(entities).reduce((bits, name) => bits | (1 << (name.charCodeAt(0) - 97)), 0);

function readEntity(units: Uint16Array, i: number): number {
  if (!startsEntity(units[i + 1]!)) return 0;
  const numeric = units[i + 1] === 35;
  let name = '';
  for (let j = i + 1; j < i + 8; j++) {
    const unit = units[j]!;
    if (unit === 59) {
      const value = numeric ? numericEntity(name) : entities[name];
      return value === undefined ? 0 : pack(j + 1 - i, value);
    }
    name += String.fromCharCode(unit);
  }
  return 0;
}

function numericEntity(name: string): number | undefined {
  const match = /^#(?:x([0-9a-f]{1,4})|(\d{1,5}))$/i.exec(name);
  if (!match) return undefined;
  const value = match[1] ? Number.parseInt(match[1], 16) : Number(match[2]);
  return value <= escapeMask ? value : undefined;
}

/**
 * The text before `at`, at most `reach` units, with escaped line breaks and tabs as what they stand for: a word in a literal
 * starts behind them (`"…\nopenssl …"`), for an expression too.
 */
export function textBefore({ text }: { text: string }, at: number, reach: number): string {
  const before = text.slice(Math.max(0, at - reach), at);
  return before.includes('\\')
    ? before.replace(escapedBreaks, (it) => (it.endsWith('t') ? '\t' : '\n'))
    : before;
}
const escapedBreaks = /\\{1,15}[nrt]/g;

/**
 * Extends a finding so that it splits no escape sequence, and the remaining text stays valid JSON. `widenStart` returns the
 * new start, `widenEnd` the new end.
 */
export function widenStart(units: Uint16Array, start: number): number {
  for (let back = 1; back <= 5 && back <= start; back++) {
    if (units[start - back] !== 92) continue;
    if (!isOpenBackslash(units, start - back)) return start;
    if (back === 1) return start - 1;
    const kind = units[start - back + 1];
    const complete = kind === 117 ? 6 : kind === 120 ? 4 : 2;
    return back < complete ? start - back : start;
  }
  return start;
}

export function widenEnd(units: Uint16Array, end: number, length: number): number {
  for (let back = 1; back <= 5 && back <= end; back++) {
    if (units[end - back] !== 92) continue;
    if (!isOpenBackslash(units, end - back)) return end;
    const kind = units[end - back + 1];
    const complete = kind === 117 ? 6 : kind === 120 ? 4 : 2;
    return back < complete ? Math.min(end - back + complete, length) : end;
  }
  return end;
}

/** The backslash at `i` starts an escape; it is not escaped itself. */
function isOpenBackslash(units: Uint16Array, i: number): boolean {
  let run = 1;
  while (units[i - run] === 92) run += 1;
  return run % 2 === 1;
}
