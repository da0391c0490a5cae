/** What surrounds a sign or a name: headed-values.ts, surroundings.ts, value-start.ts and markup.ts again. */
import { classOf, unitAt, wordUnit } from './walk-layout';
import { isHarmless } from './walk-names';

/**
 * `key === other`, `key != other`: the equals sign at `sign` compares, and not with a literal. grammars/value-start.ts reads
 * it.
 */
export function isComparison(sign: usize): bool {
  let i = sign + 2;
  if (unitAt(i) === 62) return false;
  while ((unitAt(i) === 61 || unitAt(i) === 126) && i - sign < 8) i += 2;
  if (i === sign + 2 && unitAt(sign, -1) !== 33) return false;
  if (unitAt(i) === 32) i += 2;
  const kind = classOf(unitAt(i));
  return (kind & wordUnit) !== 0 && unitAt(i, 1) !== 34 && unitAt(i, 1) !== 39;
}

/** How far back the name of an element and of a field may be. */
const elementReach: usize = 200 << 1;

/** No element, block or field around a `value` says what it is the value of; its name starts at `start`. */
export function standsAlone(start: usize, end: usize, textStart: usize): bool {
  const before = unitAt(start, -1);
  if (before === 60) return false;
  if (before <= 32 && isBlockBefore(start, textStart)) return false;
  for (let i = start - 2; i >= start - elementReach && i >= textStart; i -= 2) {
    const unit = unitAt(i);
    if (unit === 60 && before === 32) return false;
    if (unit === 58 && (isIdBefore(i) || isTrueBehind(i))) return false;
  }
  // Only a quoted name may have a mark behind it.
  if (unitAt(end) !== 34 && unitAt(end) !== 92) return true;
  for (let i = end; i < end + 800; i += 2) {
    const unit = unitAt(i);
    if (unit === 123 || unit === 125) break;
    if (unit === 58 && isTrueBehind(i)) return false;
  }
  return true;
}

/** `"sensitive": true` */
function isTrueBehind(colon: usize): bool {
  const i = unitAt(colon, 1) === 116 ? colon + 2 : colon + 4;
  return unitAt(i) === 116 && unitAt(i, 1) === 114 && unitAt(i, 2) === 117;
}

/** `output "db_password" {`. */
function isBlockBefore(start: usize, textStart: usize): bool {
  let i = start;
  while (i > textStart && (unitAt(i, -1) <= 32 || unitAt(i, -1) > 127)) i -= 2;
  if (unitAt(i, -1) !== 123) return false;
  return unitAt(i, -2) === 34 || unitAt(i, -3) === 34;
}

/** `"id":`, `ref:`, `target:`. */
function isIdBefore(colon: usize): bool {
  let i = colon;
  if (unitAt(i, -1) <= 32 || unitAt(i, -1) > 127) i -= 2;
  if (unitAt(i, -1) === 34 || unitAt(i, -1) === 39) i -= 2;
  while (unitAt(i, -1) === 92) i -= 2;
  const last = unitAt(i, -1);
  const second = unitAt(i, -2);
  return (last === 100 && second === 105) || ((last === 102 || last === 116) && second === 101);
}

/** A word alone in its line follows the line's end at `at`. speech/headed-values.ts reads it. */
export function mayHead(at: usize): bool {
  let i = at;
  let hasBar = false;
  for (; i - at < 80 && isIndent(unitAt(i)); i += 2) if (unitAt(i) === 0x2502) hasBar = true;
  if (isQuote(unitAt(i))) i += 2;
  const start = i;
  for (; i - start < 404; i += 2) {
    const unit = unitAt(i);
    if (unit <= 32 || isQuote(unit)) break;
    if (isSignOfProgram(unit)) return false;
  }
  // A bar may be taken for a part of the word.
  if (i - start < 16 && !hasBar) return false;
  if (isQuote(unitAt(i))) i += 2;
  while (unitAt(i) === 32 || unitAt(i) === 9) i += 2;
  return unitAt(i) === 10 || unitAt(i) === 13 || unitAt(i) === 0;
}

function isQuote(unit: u32): bool {
  return unit === 34 || unit === 39 || unit === 96;
}

function isIndent(unit: u32): bool {
  return unit === 32 || unit === 9 || unit === 10 || unit === 13 || unit === 62 || unit === 0x2502;
}

/** `[:=(){}<>[\],;]`: such a line is no value. */
function isSignOfProgram(unit: u32): bool {
  if (unit === 40 || unit === 41 || unit === 44) return true;
  if (unit > 57 && unit < 63) return true;
  return unit === 91 || unit === 93 || unit === 123 || unit === 125;
}

/** The element that the `>` at `at` ends behind an attribute has a name that is not sensitive. grammars/markup.ts reads it. */
export function isPlainElement(at: usize, textStart: usize): bool {
  for (let i = at - 2; i >= at - 480 && i >= textStart; i -= 2) {
    const unit = unitAt(i);
    if (unit === 62) return true;
    // `&lt;`, `\u003c`
    if ((unit === 38 && unitAt(i, 1) === 108) || (unit === 92 && unitAt(i, 1) === 117)) return false;
    if (unit !== 60) continue;
    let end = i + 2;
    while (classOf(unitAt(end)) & wordUnit) end += 2;
    const behind = unitAt(end);
    // `<a href="x">`
    if (end - i === 4) return true;
    return behind !== 46 && behind !== 58 && isHarmless(i + 2, end);
  }
  return true;
}
