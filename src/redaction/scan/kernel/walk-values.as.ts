/**
 * What follows the sign of a name that is sensitive only with certain values: plain-values.ts and values.ts again, as far as they
 * reject nearly everything.
 */
import { alnum, base64Unit, classOf, digit, unitAt, wordUnit } from './walk-layout';
import { isHarmless, isKnown, known } from './walk-names';

/** The private part of a key is longer. */
const shortestPart: usize = 16 << 1;

/** holdsPlainName of grammars/plain-values.ts, or only digits, or a bare value; the sign ends before `behind`. */
export function holdsPlainName(behind: usize): bool {
  let start = unitAt(behind) === 32 ? behind + 2 : behind;
  if (classOf(unitAt(start)) & digit) return isNumber(start);
  const isEscaped = unitAt(start) === 92;
  if (isEscaped) start += 2;
  const quote = unitAt(start);
  if (quote !== 34 && quote !== 39) return !isEscaped && isPlainBare(start);
  start += 2;
  let end = start;
  while (isOfPath(unitAt(end))) end += 2;
  const unit = unitAt(end);
  if (end === start || unit < 32 || (unit === 92) !== isEscaped) return false;
  if (unit !== quote && unit !== 34 && !isEscaped) return true;
  if (isEscaped && unitAt(end, 1) !== quote) return false;
  return isHarmless(start, end);
}

/** `name: tool.id,`: a bare value that is no sensitive name, up to what surely ends it. */
function isPlainBare(start: usize): bool {
  let end = start;
  while (classOf(unitAt(end)) & wordUnit || unitAt(end) === 46 || unitAt(end) === 36) end += 2;
  const unit = unitAt(end);
  const behind = unitAt(end, 1);
  const isEnd =
    endsLine(end) ||
    ((unit === 44 || unit === 59) && (behind === 32 || endsLine(end + 2))) ||
    ((unit === 41 || unit === 125) && !(classOf(behind) & wordUnit));
  return isEnd && end > start && isHarmless(start, end);
}

/** A line's end, or one as it is written in a string. */
function endsLine(at: usize): bool {
  return unitAt(at) === 10 || (unitAt(at) === 92 && unitAt(at, 1) === 110);
}

/** A number, and then a comma, a closing bracket, a semicolon, or the line's end. */
function isNumber(at: usize): bool {
  let i = at;
  while (classOf(unitAt(i)) & digit) i += 2;
  const unit = unitAt(i);
  return unit === 44 || unit === 125 || unit === 93 || unit === 59 || unit === 10 || unit === 41;
}

function isOfPath(unit: u32): bool {
  return (classOf(unit) & wordUnit) !== 0 || (unit > 45 && unit < 59) || unit === 36;
}

/** holdsShortWord of grammars/plain-values.ts, or no value at all: an object, an empty list, a negation. */
export function holdsShortWord(behind: usize): bool {
  let start = behindSigns(behind);
  while ((unitAt(start) === 32 || unitAt(start) === 34 || unitAt(start) === 39) && start - behind < 14)
    start += 2;
  const unit = unitAt(start);
  const next = unitAt(start, 1);
  if (unit === 123 || (unit === 91 && next === 93) || (unit === 40 && next === 41)) return true;
  if (unit === 33 && classOf(next) & digit) return true;
  let end = start;
  while (classOf(unitAt(end)) & base64Unit && end - start < shortestPart) end += 2;
  return end > start && end - start < shortestPart;
}

/** `data: [`: what opens no manifest. */
export function holdsNoObject(behind: usize): bool {
  const unit = unitAt(behind) === 32 ? unitAt(behind, 1) : unitAt(behind);
  return unit > 32 && unit !== 123 && unit !== 92 && unit !== 37;
}

/** `=== "x"` */
export function behindEquals(behind: usize): usize {
  let i = behind;
  while (unitAt(i) === 61 && i - behind < 4) i += 2;
  return i;
}

/** `=> x`, `:= x`: as valueStart skips them. */
function behindSigns(behind: usize): usize {
  let i = behind;
  while (isSign(unitAt(i)) && i - behind < 6) i += 2;
  return i;
}

function isSign(unit: u32): bool {
  return unit === 61 || unit === 62 || unit === 58 || unit === 126;
}

/** widenName makes nothing more of the name: no word is before it, or they were judged together. */
export function isUnpaired(start: usize, end: usize, textStart: usize): bool {
  const before = unitAt(start, -1);
  if (before === 92 || (unitAt(start, -2) === 92 && before > 96)) return false;
  if (before !== 46 && before !== 32) return true;
  let i = start - 2;
  while (i > textStart && start - i < longestPair && classOf(unitAt(i, -1)) & wordUnit) i -= 2;
  return i === start - 2 || isKnown(i, end, known.pair);
}
const longestPair: usize = 24 << 1;

/**
 * The value of a name that is a secret only if it is random is not: a short one, or one of letters. Of a label it is no
 * sensitive name either.
 */
export function holdsWeak(sign: usize, nameStart: usize, isLabel: bool): bool {
  let start = behindSigns(sign + 2);
  if (unitAt(start) === 32) start += 2;
  const isEscaped = unitAt(start) === 92;
  if (isEscaped) start += 2;
  const quote = unitAt(start);
  const isQuoted = quote === 34 || quote === 39 || quote === 96;
  if (isEscaped && !isQuoted) return false;
  if (isQuoted) start += 2;
  let end = start;
  let digits: u32 = 0;
  while (isQuoted ? isOfPath(unitAt(end)) : isOfName(unitAt(end))) {
    digits |= classOf(unitAt(end)) & digit;
    end += 2;
  }
  if (end === start || (isLabel && !isHarmless(start, end))) return false;
  const shortest: usize = digits ? shortestRandom : shortestId;
  const isPlain = end - start < shortest;
  if (!isQuoted) return endsWeak(end, nameStart) ? isPlain : isCalled(start, end);
  return isPlain && (isEscaped ? unitAt(end) === 92 && unitAt(end, 1) === quote : unitAt(end) === quote);
}
/** Without a digit a random text or a known id is longer. */
const shortestId: usize = 16 << 1;
const shortestRandom: usize = 8 << 1;

function isOfName(unit: u32): bool {
  return (classOf(unit) & wordUnit) !== 0 || unit === 46 || unit === 36;
}

/** What surely ends a bare value. In a line that the name starts, more may follow a comma. */
function endsWeak(end: usize, nameStart: usize): bool {
  const unit = unitAt(end);
  if (unit === 32 || endsLine(end)) return true;
  const behind = unitAt(end, 1);
  if (unit === 44 || unit === 59 || unit === 38)
    return behind === 32 || endsLine(end + 2) || isWithinLine(unitAt(nameStart, -1));
  return (unit === 41 || unit === 125) && !(classOf(behind) & alnum);
}

/** `{` `,` `(` `;` */
function isWithinLine(unit: u32): bool {
  return unit === 123 || unit === 44 || unit === 40 || unit === 59;
}

/** `key = read(`, `code: codes[`: an expression. */
function isCalled(start: usize, end: usize): bool {
  const first = unitAt(start);
  if (unitAt(end) !== 40 && unitAt(end) !== 91) return false;
  if (first < 65 && first !== 36) return false;
  for (let i = start; i < end; i += 2) if (unitAt(i) === 45) return false;
  return true;
}
