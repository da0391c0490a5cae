/** The cheap tests of what follows again, of tables/first-lines.ts and others. Change both together; a test compares them. */
import { alnum, cellsAt, classOf, digit, hexUnit, unitAt, wordUnit } from './walk-layout';

const longestName: i32 = 40;
const deepestIndent: i32 = 12;
/** Values in the table of cells. */
const delimiterUnit: u32 = 1;
const nameUnit: u32 = 2;
const bar: u32 = 0x2502;

function isDelimited(at: usize): bool {
  const first = unitAt(at);
  if (first === 124 || first === bar) return true;
  if (first === 32) {
    if (unitAt(at, 1) === 32) return false;
  } else if (!(classOf(first) & alnum) && first !== 34 && first !== 39) return false;
  for (let i = 0; i < longestName; i++) {
    const unit = unitAt(at, i);
    const kind: u32 = unit < 128 ? load<u8>(unit, cellsAt) : 0;
    if (kind !== nameUnit) return (kind === delimiterUnit && unit !== 0) || unit === bar;
  }
  return false;
}

function mayBeAligned(at: usize): bool {
  let i = at;
  const deepest = at + (deepestIndent << 1);
  while (i < deepest && unitAt(i) === 32) i += 2;
  if (!(classOf(unitAt(i)) & alnum)) return false;
  for (const stop = i + 88; i < stop; i += 2) {
    const unit = unitAt(i);
    if (unit === 32) return unitAt(i, 1) === 32;
    if (unit < 45) return false;
  }
  return false;
}

export function mayOpenTable(at: usize): bool {
  return unitAt(at) === 48 || isDelimited(at) || mayBeAligned(at);
}

export function isPortField(at: usize): bool {
  let i = at;
  while (i - at < 12 && classOf(unitAt(i)) & digit) i += 2;
  if (i === at && unitAt(i) === 42) i += 2;
  return i > at && unitAt(i) === 58 && unitAt(i, 1) > 32 && !(classOf(unitAt(i, 1)) & digit);
}

/** grammars/url-credentials.ts */
export function mayBeHost(at: usize): bool {
  let i = at;
  while (classOf(unitAt(i)) & wordUnit) i += 2;
  return unitAt(i) === 46 || unitAt(i) === 40;
}

/** grammars/call-arguments.ts */
function hasLiteral(from: usize): bool {
  for (let i = from; i < from + 120; i += 2) {
    const unit = unitAt(i);
    if (unit === 34 || unit === 39 || unit === 96) return true;
    if (unit === 41 || unit === 10 || unit === 47 || unit === 0) return false;
  }
  return false;
}

export function mayBeCall(at: usize): bool {
  return (unitAt(at, -1) === 121 && unitAt(at, -2) === 97) || hasLiteral(at + 2);
}

/** Bytes to be skipped; negative if the name before it has ended. Strings inside strings have several backslashes. */
export function idleEscape(at: usize): i32 {
  let i = at + 2;
  while (unitAt(i) === 92 && i - at < 32) i += 2;
  const behind = unitAt(i);
  const length = <i32>(i - at) + 2;
  if (behind === 34) return unitAt(i, 1) === 100 ? 0 : length;
  if (behind === 110 || behind === 114) return mayOpenTable(i + 2) ? 0 : -length;
  if (behind === 39 || behind === 96 || behind === 116) return length;
  if (behind === 47) return unitAt(at, -1) === 58 ? 0 : -length;
  if (behind === 117) return lengthOfForeign(i + 2, length);
  const isRead = behind === 92 || behind === 118 || behind === 120 || behind === 102;
  return isRead ? 0 : 2 - length;
}

/** `\\u2028`: of a character that is not in Latin-1. */
function lengthOfForeign(at: usize, length: i32): i32 {
  const kinds = classOf(unitAt(at)) & classOf(unitAt(at, 1)) & classOf(unitAt(at, 2));
  if (!(kinds & classOf(unitAt(at, 3)) & hexUnit)) return -2;
  return unitAt(at) === 48 && unitAt(at, 1) === 48 ? 0 : -8 - length;
}

/**
 * An `@` ends a user in the address that starts at `at`: before the first slash, or after a colon, because a slash may be
 * part of a password. grammars/url-credentials.ts reads it.
 */
export function mayHoldUser(at: usize): bool {
  let hasColon = false;
  for (let i = at; i < at + 4096; i += 2) {
    const unit = unitAt(i);
    if (unit === 64) return true;
    if (unit === 58) hasColon = true;
    else if (unit <= 32 || unit === 34 || unit === 39 || unit === 96 || unit === 60 || unit === 62)
      return false;
    else if (unit === 47 && !hasColon) return false;
  }
  return false;
}

/** A `;` ends the entity whose name starts at `at`. */
export function endsEntity(at: usize): bool {
  for (let i = at; i < at + 14; i += 2) if (unitAt(i) === 59) return true;
  return false;
}

/** Classes of what follows a word, in the order of `follow` in names/telltale-words.ts. */
export namespace follow {
  export const blank: u32 = 1;
  export const control: u32 = 2;
  export const quote: u32 = 4;
  export const bracket: u32 = 8;
  export const sign: u32 = 16;
  export const stop: u32 = 32;
  export const other: u32 = 64;
  /** No class: the word must stand behind a blank or at the start of a line. */
  export const behindBlank: u32 = 128;
}

export function followOf(unit: u32): u32 {
  if (unit === 32 || unit === 10 || unit === 13 || unit === 0) return follow.blank;
  if (unit < 32 || unit === 92) return follow.control;
  if (unit === 34 || unit === 39 || unit === 96) return follow.quote;
  if (unit === 40 || unit === 91 || unit === 123 || unit === 93) return follow.bracket;
  if (unit === 58 || unit === 61) return follow.sign;
  if (unit === 46 || unit === 44 || unit === 59 || unit === 47) return follow.stop;
  return follow.other;
}

export function isIdleBracket(at: usize, nameStart: usize, nameEnd: usize): bool {
  const before = unitAt(at, -1);
  if (before === 34 || before === 39 || (before === 45 && unitAt(at, -2) === 32)) return false;
  if (nameStart === 0 || nameEnd !== at) return true;
  const lead = unitAt(nameStart, -1);
  return lead !== 60 && lead !== 59 && lead !== 99 && lead !== 67 && lead !== 58;
}

/** The first letters of the entities that escapes.ts reads. */
export function startsEntity(unit: u32): bool {
  return (
    unit === 35 || unit === 97 || unit === 99 || unit === 101 || unit === 103 || unit === 108 || unit === 113
  );
}
