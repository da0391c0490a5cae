/** The lines that may open a table or a row of bytes: tables/first-lines.ts again, and what its readers ask next. */
import { alnum, cellsAt, classOf, field, stateAt, tells, unitAt, wordUnit } from './walk-layout';

const longestName: i32 = 40;
const deepestIndent: i32 = 12;
/** Values in the table of cells. */
const delimiterUnit: u32 = 1;
const nameUnit: u32 = 2;
const bar: u32 = 0x2502;

/** The unit that delimits the first cell, or 0. */
function delimiterAt(at: usize): u32 {
  const first = unitAt(at);
  if (first === 124 || first === bar) return first;
  if (first === 32) {
    if (unitAt(at, 1) === 32) return 0;
  } else if (!(classOf(first) & alnum) && first < 128 && first !== 34 && first !== 39) return 0;
  for (let i = firstOther(at); i < at + ((<usize>longestName) << 1); i += 2) {
    const unit = unitAt(i);
    if (unit > 127) {
      if (unit === bar) return unit;
      continue;
    }
    const kind: u32 = load<u8>(unit, cellsAt);
    if (kind !== nameUnit) return kind === delimiterUnit ? unit : 0;
  }
  return 0;
}

/** The first of sixteen units that is no letter, digit, point or blank; the first behind them if there is none. */
function firstOther(at: usize): usize {
  const units = i8x16.narrow_i16x8_u(v128.load(at), v128.load(at, 16));
  const letters = i8x16.lt_u(i8x16.sub(v128.or(units, i8x16.splat(32)), i8x16.splat(97)), i8x16.splat(26));
  const digits = i8x16.lt_u(i8x16.sub(units, i8x16.splat(48)), i8x16.splat(10));
  const signs = v128.or(i8x16.eq(units, i8x16.splat(32)), i8x16.eq(units, i8x16.splat(46)));
  const others = ~i8x16.bitmask(v128.or(v128.or(letters, digits), signs)) & 0xffff;
  return at + ((<usize>(others ? ctz(others) : 16)) << 1);
}

function mayBeAligned(at: usize): bool {
  let i = at;
  const deepest = at + (deepestIndent << 1);
  while (i < deepest && unitAt(i) === 32) i += 2;
  if (!(classOf(unitAt(i)) & alnum)) return false;
  const stop = i + 88;
  for (i = firstLow(i); i < stop; i += 2) {
    const unit = unitAt(i);
    if (unit === 32) return unitAt(i, 1) === 32;
    if (unit < 45) return false;
  }
  return false;
}

/** The first of sixteen units that may be a blank or a sign; the first behind them if there is none. */
function firstLow(at: usize): usize {
  const units = i8x16.narrow_i16x8_u(v128.load(at), v128.load(at, 16));
  const low = i8x16.bitmask(i8x16.lt_u(units, i8x16.splat(45)));
  return at + ((<usize>(low ? ctz(low) : 16)) << 1);
}

/** The longest lines that findInColumns and findAligned read. */
const longestHeader: usize = 600 << 1;
const longestLine: usize = 300 << 1;

/** The line has no signs but delimiters, and a word in it tells of a secret. */
function isTellingHeader(at: usize, mark: u32): bool {
  let bits: u32 = 0;
  let isTelling = false;
  for (let i = at; i < at + longestHeader; i += 2) {
    const unit = unitAt(i);
    if (unit > 127) {
      // Other scripts have no stems.
      if (unit > 255) isTelling = true;
    } else if (<u32>load<u8>(unit, cellsAt) !== nameUnit && isEndOfHeader(unit, mark))
      return isTelling && (unit === 10 || unit === 92);
    bits = ((bits << 5) | (unit & 31)) & 0x7fff;
    if (tells(bits)) isTelling = true;
  }
  return false;
}

function isEndOfHeader(unit: u32, mark: u32): bool {
  return unit !== mark && unit !== 40 && unit !== 41 && unit !== 13;
}

function isTellingLine(at: usize): bool {
  let bits: u32 = 0;
  for (let i = at; i < at + longestLine; i += 2) {
    const unit = unitAt(i);
    if (unit === 10) return false;
    bits = ((bits << 5) | (unit & 31)) & 0x7fff;
    if (tells(bits)) return true;
  }
  return false;
}

function opensPair(at: usize): bool {
  if (unitAt(at) !== 34) return false;
  let i = at + 2;
  while (classOf(unitAt(i)) & wordUnit && i - at < (<usize>longestName) << 1) i += 2;
  return unitAt(i) === 34 && unitAt(i, 1) === 32 && unitAt(i, 2) === 34;
}

export function mayOpenTable(at: usize): bool {
  if (unitAt(at) === 48 || opensPair(at)) return true;
  const mayTell = load<u32>(stateAt + field.allMaySmell) !== 0;
  const mark = delimiterAt(at);
  if (mark !== 0 && (mayTell || isTellingHeader(at, mark))) return true;
  return mayBeAligned(at) && (mayTell || isTellingLine(at));
}
