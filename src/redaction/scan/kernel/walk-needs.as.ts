/**
 * What must be near a telltale word for its detectors to find anything, by the table `needed` of names/telltale-words.ts. A
 * test compares the findings with those of the walk that asks the detectors at each word.
 */
import {
  classOf,
  digit,
  followsAt,
  hasBit,
  kindsAt,
  needRowsAt,
  needsAt,
  outlinesAt,
  textAt,
  unitAt,
  wordUnit,
} from './walk-layout';
import { isKnown, known } from './walk-names';

/** In the order of `need` in names/telltale-words.ts. */
namespace need {
  export const odd: u32 = 1;
  export const slash: u32 = 2;
  export const quoted: u32 = 4;
  export const list: u32 = 8;
  export const jar: u32 = 16;
  export const row: u32 = 32;
  export const opening: u32 = 64;
  export const kind: u32 = 128;
  export const identified: u32 = 256;
  export const setter: u32 = 512;
  export const into: u32 = 1024;
  export const user: u32 = 2048;
  export const flag: u32 = 4096;
  export const number: u32 = 8192;
  export const coded: u32 = 16384;
  export const lone: u32 = 32768;
  export const drawn: u32 = 65536;
}

/** Classes of what follows a word, in the order of `follow` in names/telltale-words.ts. */
namespace follow {
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

function followOf(unit: u32): u32 {
  if (unit === 32 || unit === 10 || unit === 13 || unit === 0) return follow.blank;
  if (unit < 32 || unit === 92) return follow.control;
  if (isQuote(unit)) return follow.quote;
  if (unit === 40 || unit === 91 || unit === 123 || unit === 93) return follow.bracket;
  if (unit === 58 || unit === 61) return follow.sign;
  if (unit === 46 || unit === 44 || unit === 59 || unit === 47) return follow.stop;
  return follow.other;
}

/** The word may be a telltale one, and what it needs is there. */
export function mayTell(start: usize, end: usize): bool {
  const outline = outlineOf(start, end);
  if (!hasBit(outlinesAt, outline)) return false;
  const follows: u32 = load<u8>(outline, followsAt);
  if (!(follows & followOf(unitAt(end)))) return false;
  if (follows & follow.behindBlank && unitAt(start, -1) > 32) return false;
  const row: u32 = load<u8>(outline, needsAt);
  if (row !== 0 && !hasNeeded(row, start, end)) return false;
  return !isKnown(start, end, known.plain);
}

function outlineOf(start: usize, end: usize): u32 {
  const middle = textAt + ((((start - textAt) >> 1) + ((end - textAt) >> 1)) & ~1);
  const front = (unitAt(start) & 31) | ((unitAt(start, 1) & 31) << 5);
  const back = (unitAt(middle) & 31) | ((unitAt(end, -1) & 31) << 5);
  return ((front ^ (back << 10) ^ ((<u32>((end - start) >> 1)) << 20)) * 0x9e3779b1) >>> 17;
}

function hasNeeded(row: u32, start: usize, end: usize): bool {
  const at = needRowsAt + ((<usize>row) << 3);
  const letters = load<u32>(at);
  if (letters !== 0 && (unitAt(start, -1) !== 32 || !((letters >>> (unitAt(start, -2) & 31)) & 1)))
    return false;
  const needs = load<u32>(at, 4);
  if (needs === 0) return true;
  const unit = unitAt(end);
  if (needs & need.odd && isOddBehind(end, 0)) return true;
  if (needs & need.drawn && isOddBehind(end, leastDrawn)) return true;
  if (needs & need.slash && (unit === 47 || (unit === 32 && unitAt(end, 1) === 47))) return true;
  if (needs & need.quoted && unit === 32 && unitAt(end, 1) === 39) return true;
  if (needs & need.list && opensList(end)) return true;
  if (needs & need.jar && leadsToPath(end)) return true;
  if (needs & need.row && unitAt(skipBlanks(end)) === 40) return true;
  if (needs & need.opening && opensBracket(end)) return true;
  if (needs & need.kind && isKindBefore(start)) return true;
  if (needs & need.identified && isIdentifiedBefore(start)) return true;
  if (needs & need.setter && (unitAt(skipBlanks(end)) === 45 || isSetterBefore(start))) return true;
  if (needs & need.user && isUserBefore(start)) return true;
  if (needs & need.flag && isFlagBehind(end)) return true;
  if (needs & need.lone && !isInSentence(start, end)) return true;
  if (needs & need.number && isNumberNear(start, end)) return true;
  if (needs & need.coded && isKindBefore(start) && isDigitBehind(end)) return true;
  return (needs & need.into) !== 0 && unitAt(end, 1) === 105 && unitAt(end, 2) === 110;
}

/** `user kim using x`: one word back. */
function isUserBefore(start: usize): bool {
  let i = start - 2;
  for (const stop = start - (longestUser << 1); i > stop && unitAt(i, -1) > 32; ) i -= 2;
  return isAfterLetters(i - 2, 19, 5, 18);
}
const longestUser: usize = 48;

/** `-a` or `--a` in the next units. */
function isFlagBehind(end: usize): bool {
  for (let i = end; i < end + (flagsReach << 1); i += 2) {
    const unit = unitAt(i);
    if (unit === 10) return false;
    if (unit === 45 && (unitAt(i, 1) | 32) === 97) return true;
  }
  return false;
}
const flagsReach: usize = 88;

/** A small letter begins it, a small letter or a comma and a blank go before, and no quote follows. */
function isInSentence(start: usize, end: usize): bool {
  if (unitAt(end) !== 32 || isQuote(unitAt(end, 1)) || unitAt(start) < 97 || unitAt(start, -1) !== 32)
    return false;
  const before = unitAt(start, -2);
  return ((before > 96 && before < 123) || before === 44) && !isUserBefore(start);
}

/** Three digits in a row, at most so far before or behind as a code is looked for. */
function isNumberNear(start: usize, end: usize): bool {
  let digits = 0;
  for (let i = max(textAt, start - reach); i < end + reach; i += 2) {
    digits = classOf(unitAt(i)) & digit ? digits + 1 : 0;
    if (digits === 3) return true;
  }
  return false;
}

function isDigitBehind(end: usize): bool {
  for (let i = end; i < end + reach; i += 2) if (classOf(unitAt(i)) & digit) return true;
  return false;
}

function isQuote(unit: u32): bool {
  return unit === 34 || unit === 39 || unit === 96;
}

/** The most units of a line that are looked at. */
const longestRest: usize = 256 << 1;
/** A random value has as many. */
const leastDrawn: usize = 8 << 1;
/** A line's end that is nearer is read over. */
const nearEnd: usize = 10 << 1;

/**
 * In the rest of the line there is a digit, or a capital within a word: without either, no value is taken for a random one. A
 * written line's end (`\n`) ends the line too, outside of quotes.
 */
function isOddBehind(end: usize, least: usize): bool {
  let before: u32 = 32;
  let isQuoted = false;
  let isOdd = false;
  let start = end;
  for (let i = end; i < end + longestRest; i += 2) {
    const unit = unitAt(i);
    if (isOdd && i - start >= least) return true;
    if (unit <= 32) {
      isOdd = false;
      start = i + 2;
    }
    if (unit === 10) {
      if (i - end > nearEnd) return false;
    } else if (unit === 92) {
      const next = unitAt(i, 1);
      if (!isQuoted && next === 110 && i - end > nearEnd) return false;
    } else if (isQuote(unit)) isQuoted = true;
    else if (classOf(unit) & digit) isOdd = true;
    else if (unit > 64 && unit < 91 && !mayStandBefore(before)) isOdd = true;
    before = unit;
  }
  return true;
}

/** The word behind this unit is a word of its own. */
function mayStandBefore(unit: u32): bool {
  return unit <= 32 || isQuote(unit) || unit === 40 || unit === 91 || unit === 123 || unit === 60;
}

/** Behind at most nine blanks. */
function skipBlanks(at: usize): usize {
  let i = at;
  while (mayBeBlank(unitAt(i)) && i - at < 18) i += 2;
  return i;
}

/** A regular expression takes some units for a blank that are not ASCII. */
function mayBeBlank(unit: u32): bool {
  return unit <= 32 || unit > 127;
}

/** `": [`, also in a string. */
function opensList(at: usize): bool {
  let i = at;
  while (unitAt(i) === 92) i += 2;
  i = skipBlanks(i + 2);
  return unitAt(i) === 58 && unitAt(skipBlanks(i + 2)) === 91;
}

/** A tab, which may be written as `\t`, and a slash. */
function leadsToPath(at: usize): bool {
  let i = at;
  while (unitAt(i) === 92) i += 2;
  return unitAt(i, 1) === 47;
}

/** `"] = [`, and less. */
function opensBracket(at: usize): bool {
  for (let i = at; i < at + 14; i += 2) {
    const unit = unitAt(i);
    if (unit === 36 || unit === 40 || unit === 91 || unit === 123) return true;
    if (unit > 32 && unit !== 34 && unit !== 39 && unit !== 93 && unit !== 58 && unit !== 61 && unit < 128)
      return false;
  }
  return false;
}

/** The furthest that is read before a keyword. */
const reach: usize = 110 << 1;

/** In the line before `start` there is a digit, or a word that tells of a kind of code or key. */
function isKindBefore(start: usize): bool {
  let bits: u32 = 0;
  for (let i = start - 2; i >= start - reach && i >= textAt; i -= 2) {
    const unit = unitAt(i);
    if (unit === 10) return false;
    if (classOf(unit) & digit || unit > 127) return true;
    // Backwards, the first letter comes last.
    bits = (bits >>> 5) | ((unit & 31) << 10);
    if (hasBit(kindsAt, bits)) return true;
  }
  return false;
}

/** `identified by`, `identified with x by`: the words end like these. */
function isIdentifiedBefore(start: usize): bool {
  let i = backOverBlanks(start);
  if (isAfterLetters(i, 9, 5, 4)) return true;
  while (i > textAt && (classOf(unitAt(i, -1)) & wordUnit || isQuote(unitAt(i, -1)))) i -= 2;
  return isAfterLetters(backOverBlanks(i), 9, 20, 8);
}

/** `config set`, `configure set`, `secret set`, `variables set`. */
function isSetterBefore(start: usize): bool {
  const sign = unitAt(start, -1);
  if (sign !== 32 && sign !== 58) return false;
  let i = start - 2;
  if ((unitAt(i, -1) | 32) === 115) i -= 2;
  return (
    isAfterLetters(i, 6, 9, 7) ||
    isAfterLetters(i, 21, 18, 5) ||
    isAfterLetters(i, 18, 5, 20) ||
    isAfterLetters(i, 2, 12, 5)
  );
}

function backOverBlanks(at: usize): usize {
  let i = at;
  while (i > textAt && (unitAt(i, -1) <= 32 || unitAt(i, -1) > 127)) i -= 2;
  return i;
}

/** The three letters before `at`, by their places in the alphabet. */
function isAfterLetters(at: usize, first: u32, second: u32, third: u32): bool {
  return (
    (unitAt(at, -3) & 31) === first && (unitAt(at, -2) & 31) === second && (unitAt(at, -1) & 31) === third
  );
}
