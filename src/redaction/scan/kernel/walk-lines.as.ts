/** The cheap tests of what surrounds a sign again, of the grammars. Change both together; a test compares them. */
import { classOf, digit, hexUnit, unitAt, wordUnit } from './walk-layout';
import { mayOpenTable } from './walk-tables';

export function isPortField(at: usize): bool {
  let i = at;
  while (i - at < 12 && classOf(unitAt(i)) & digit) i += 2;
  if (i === at && unitAt(i) === 42) i += 2;
  return i > at && unitAt(i) === 58 && unitAt(i, 1) > 32 && !(classOf(unitAt(i, 1)) & digit);
}

/**
 * The `@` at `at` stands before what may be a host, and behind or before what may be a password. grammars/url-credentials.ts
 * reads it.
 */
export function mayHoldPassword(at: usize): bool {
  let i = at + 2;
  while (classOf(unitAt(i)) & wordUnit) i += 2;
  if (unitAt(i) === 40) return true;
  while ((unitAt(i) === 46 || classOf(unitAt(i)) & wordUnit) && i - at < 512) i += 2;
  if (i === at + 2) return false;
  if (unitAt(i) === 58 || i - at >= 512) return true;
  for (let k = at - 2; k > at - 164; k -= 2) {
    const unit = unitAt(k);
    if (unit === 58) return true;
    if (unit <= 32 || unit === 34 || unit === 39 || unit === 92 || unit === 47) return false;
  }
  return false;
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
