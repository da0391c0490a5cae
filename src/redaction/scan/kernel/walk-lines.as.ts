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

/** Bytes to be skipped; negative if the name before it has ended. */
export function idleEscape(at: usize): i32 {
  const behind = unitAt(at, 1);
  if (behind === 34) return unitAt(at, 2) === 100 ? 0 : 4;
  if (behind === 110 || behind === 114) return mayOpenTable(at + 4) ? 0 : -4;
  if (behind === 39 || behind === 96 || behind === 116) return 4;
  if (behind === 47) return -4;
  if (behind === 117) return lengthOfForeign(at + 4);
  const isRead = behind === 92 || behind === 118 || behind === 120 || behind === 102;
  return isRead ? 0 : -2;
}

function lengthOfForeign(at: usize): i32 {
  const kinds = classOf(unitAt(at)) & classOf(unitAt(at, 1)) & classOf(unitAt(at, 2));
  if (!(kinds & classOf(unitAt(at, 3)) & hexUnit)) return -2;
  return unitAt(at) === 48 && unitAt(at, 1) === 48 ? 0 : -12;
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
