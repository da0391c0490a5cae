/** What the start, or the characters, of a long word rule out: shape-table.ts, encoded-text.ts and unknown-tokens.ts again. */
import {
  alnum,
  classOf,
  connector,
  deepHeadsAt,
  digit,
  hasBit,
  headsAt,
  hexUnit,
  lastHeadsAt,
  longHeadsAt,
  sextetsAt,
  tells,
  textAt,
  unitAt,
  wordUnit,
} from './walk-layout';

const longestToken: usize = 400 << 1;
/** The flags of a word, and its number of digits above them. */
const small: u32 = 1;
const capital: u32 = 2;
const joined: u32 = 4;
const digitShift: u32 = 3;
const leastWithoutDigits: usize = 18 << 1;
/** The least length of a token without digits, of the parts of one in both cases and of such a one with short parts, of a bare one. */
const leastLetters: usize = 26 << 1;
const leastMixed: usize = 12 << 1;
const longMixed: usize = 36 << 1;
const leastBare: usize = 32 << 1;
/** How far before a word it may be spoken of. */
const reach: usize = 110 << 1;

export function mayStartShape(at: usize): bool {
  const head = ((unitAt(at) * 0x6d2b) ^ (unitAt(at, 1) * 0x1f35) ^ (unitAt(at, 2) * 0x9d)) & 0xffff;
  return hasBit(headsAt, head) && isLongStart(head, at);
}

function isLongStart(head: u32, at: usize): bool {
  if (hasBit(longHeadsAt, head) && hasBit(lastHeadsAt, otherHeadOf(at)) && mayHoldBody(at)) return true;
  const long = (head ^ (unitAt(at, 3) * 0x2b35)) & 0xffff;
  if (!hasBit(longHeadsAt, long)) return false;
  const fifth = (long ^ (unitAt(at, 4) * 0x3d4d)) & 0xffff;
  if (hasBit(deepHeadsAt, long) || hasBit(deepHeadsAt, fifth)) return true;
  const sixth = (fifth ^ (unitAt(at, 5) * 0x4f6b)) & 0xffff;
  if (!hasBit(deepHeadsAt, sixth)) return false;
  const seventh = (sixth ^ (unitAt(at, 6) * 0x5b91)) & 0xffff;
  const eighth = (seventh ^ (unitAt(at, 7) * 0x63c7)) & 0xffff;
  return hasBit(lastHeadsAt, sixth) || hasBit(lastHeadsAt, seventh) || hasBit(lastHeadsAt, eighth);
}

function mayHoldBody(at: usize): bool {
  if (unitAt(at) === 36) return true;
  for (let i = at + 6; i < at + 16; i += 2) if (!(classOf(unitAt(i)) & wordUnit)) return false;
  return true;
}

function otherHeadOf(at: usize): u32 {
  return ((unitAt(at) * 0x2f0b) ^ (unitAt(at, 1) * 0x83d) ^ (unitAt(at, 2) * 0x7b51)) & 0xffff;
}

export function mayBeLongSecret(start: usize, end: usize): bool {
  const before = unitAt(start, -1);
  if (before !== 43 && before !== 47 && (startsReadable(start) || startsReadableHex(start))) return true;
  if (unitAt(end) === 46 && unitAt(start) >= 77 && unitAt(start) <= 79) return true;
  return end - start <= longestToken && (mayBeToken(start, end) || isKeyInHex(start, end));
}

/** See unknown-tokens.ts. */
function isKeyInHex(start: usize, end: usize): bool {
  // The lengths of digests are multiples of eight units.
  if ((end - start) & 15 || !(classOf(unitAt(start)) & classOf(unitAt(end, -1)) & hexUnit)) return false;
  let i = start - 2;
  if (unitAt(i) === 60 || unitAt(i) === 34 || unitAt(i) === 39) i -= 2;
  if (unitAt(i) !== 32) return false;
  const letters = ((unitAt(i, -3) & 31) << 10) | ((unitAt(i, -2) & 31) << 5) | (unitAt(i, -1) & 31);
  return letters === keyLetters || letters === secretLetters;
}
const keyLetters: u32 = (11 << 10) | (5 << 5) | 25;
const secretLetters: u32 = (18 << 10) | (5 << 5) | 20;

/** The longest part of the word that was looked at last, between connectors. */
let longest: usize = 0;

/** What findUnknownToken and isSpokenOf rule out: most long words are short parts in one case. */
function mayBeToken(start: usize, end: usize): bool {
  const build = buildOf(start, end);
  if (build === 0) return false;
  if (isTimeBehind(end)) return true;
  const length = end - start;
  // A word without digits is random only if it is longer.
  if (build >>> digitShift === 0) return length >= leastLetters;
  const before = unitAt(start, -1);
  if (before === 46 || before === 47 || unitAt(end) === 46) return true;
  const isMixed = (build & (small | capital)) === (small | capital);
  if (build & joined) {
    if (longest >= (isMixed ? leastMixed : leastWithoutDigits)) return true;
    if (isMixed && length >= longMixed) return true;
    if (length === 110 && !(build & (small | capital))) return true;
  } else if (isMixed && length >= leastBare) return true;
  return isCalledBehind(end) || mayBeSpokenOf(start);
}

/** `"x" as the API key`. */
function isCalledBehind(end: usize): bool {
  let i = end;
  if (unitAt(i) === 34 || unitAt(i) === 39 || unitAt(i) === 96) i += 2;
  const blank = unitAt(i);
  if (blank > 32 && blank < 128) return false;
  const first = unitAt(i, 1) | 32;
  return first === 97 || first === 102 || first === 105 || first === 119;
}

/** In the text before it is a word that tells of a secret. */
function mayBeSpokenOf(start: usize): bool {
  let bits: u32 = 0;
  for (let i = start - 2; i >= start - reach && i >= textAt; i -= 2) {
    // Backwards, the first letter comes last.
    bits = (bits >>> 5) | ((unitAt(i) & 31) << 10);
    if (tells(bits)) return true;
  }
  return false;
}

function isReadableByte(byte: u32): bool {
  return (byte >= 32 && byte < 127) || byte === 10 || byte === 13 || byte === 9;
}

function sextetAt(at: usize): u32 {
  return load<u8>(unitAt(at) & 255, sextetsAt);
}

function startsReadable(start: usize): bool {
  for (let group = start; group < start + 16; group += 8) {
    const a = sextetAt(group);
    const b = sextetAt(group + 2);
    const c = sextetAt(group + 4);
    const d = sextetAt(group + 6);
    if ((a | b | c | d) & 64) return false;
    const bits = (a << 18) | (b << 12) | (c << 6) | d;
    if (!isReadableByte(bits >> 16) || !isReadableByte((bits >> 8) & 255) || !isReadableByte(bits & 255))
      return false;
  }
  return true;
}

function hexDigit(unit: u32): u32 {
  return unit <= 57 ? unit - 48 : (unit | 32) - 87;
}

function startsReadableHex(start: usize): bool {
  for (let i = start; i < start + 24; i += 4) {
    const high = unitAt(i);
    const low = unitAt(i, 1);
    if (!(classOf(high) & classOf(low) & hexUnit)) return false;
    if (!isReadableByte((hexDigit(high) << 4) | hexDigit(low))) return false;
  }
  return true;
}

/** As in unknown-tokens.ts, except that it is 0 for more. */
function buildOf(start: usize, end: usize): u32 {
  let common: u32 = alnum | hexUnit;
  let build: u32 = 0;
  let part = start;
  longest = 0;
  let isReadable = true;
  for (let i = start; i <= end; i += 2) {
    const unit = unitAt(i);
    const kind = i < end ? classOf(unit) : connector;
    if (kind & connector) {
      if (i - part > longest) longest = i - part;
      if (isReadable) isReadable = i === part || isPlainPart(part, i);
      part = i + 2;
      if (i < end) build |= joined;
    } else if (kind & digit) build += 1 << digitShift;
    else build |= unit > 96 ? small : capital;
    if (i < end) common &= kind;
  }
  if (isTimeBehind(end)) return build;
  const hasFewDigits = build >>> digitShift < 2;
  if (build & joined) {
    const isWords = isReadable && (build & (small | capital)) !== 0;
    return isWords || (hasFewDigits && longest < leastWithoutDigits) ? 0 : build;
  }
  return hasFewDigits || (common & hexUnit && isDigestLength((end - start) >> 1)) ? 0 : build;
}

function isDigestLength(length: usize): bool {
  return length === 32 || length === 40 || length === 56 || length === 64 || length === 96 || length === 128;
}

function isPlainPart(start: usize, end: usize): bool {
  if (end - start > 46) return false;
  let i = start;
  while (i < end && unitAt(i) > 64 && unitAt(i) < 91) i += 2;
  const capitals = i - start;
  while (i < end && unitAt(i) > 96) i += 2;
  const letters = i - start;
  if (capitals > 2 && capitals < letters) return false;
  while (i < end && unitAt(i) < 58) i += 2;
  const digits = end - start - letters;
  return i === end && (letters === 0 ? digits < 18 : digits === 0 || (letters > 2 && digits < 10));
}

function isTimeBehind(end: usize): bool {
  if (unitAt(end) !== 46) return false;
  let i = end + 2;
  while (classOf(unitAt(i)) & wordUnit && i - end < 20) i += 2;
  return unitAt(i) === 46 && i - end > 12 && i - end < 20;
}
