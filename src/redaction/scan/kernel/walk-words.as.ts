/** What the start, or the characters, of a long word rule out: shape-table.ts, encoded-text.ts and unknown-tokens.ts again. */
import {
  alnum,
  base64Unit,
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
import { isKnown, known } from './walk-names';

const longestToken: usize = 400 << 1;
/** The flags of a word, and its number of digits above them. */
const small: u32 = 1;
const capital: u32 = 2;
const joined: u32 = 4;
const digitShift: u32 = 3;
const leastWithoutDigits: usize = 18 << 1;
/** The least length of the longest part of a token in both cases, and of such a one with short parts. */
const leastMixed: usize = 12 << 1;
const longMixed: usize = 36 << 1;
/** The same in one case, and of a digest. */
const leastDigest: usize = 32 << 1;
const leastBehindDot: usize = 22 << 1;
/** Of a token in a path, in a query, and before a dot. */
const leastDotted: usize = 20 << 1;
const leastBare: usize = 32 << 1;
const longestBare: usize = 100 << 1;
const recoveryCode: usize = 55 << 1;
const longestPrefix: usize = 10 << 1;
/** How far before a word it may be spoken of. */
const reach: usize = 110 << 1;

/** What the scanner remembers of a word that has only the hashes of a start. */
const startUnits: usize = 10 << 1;

export function mayStartShape(at: usize): bool {
  const head = ((unitAt(at) * 0x6d2b) ^ (unitAt(at, 1) * 0x1f35) ^ (unitAt(at, 2) * 0x9d)) & 0xffff;
  return hasBit(headsAt, head) && isLongStart(head, at) && !isKnown(at, at + startUnits, known.start);
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

// The same as in shape-table.ts, where they are explained.
const shortestBody: usize = 8 << 1;
const shortestOfA: usize = 5 << 1;
const dottedBody: usize = 24 << 1;

/** shape-table.ts */
function mayHoldBody(at: usize): bool {
  const first = unitAt(at);
  if (first === 36) return true;
  const isDotted = unitAt(at, 1) === 46;
  const kinds = isDotted ? alnum : wordUnit;
  const start = isDotted ? at + 4 : at + 6;
  const end = start + (isDotted ? dottedBody : first === 65 ? shortestOfA : shortestBody);
  for (let i = start; i < end; i += 2) if (!(classOf(unitAt(i)) & kinds)) return false;
  return true;
}

function otherHeadOf(at: usize): u32 {
  return ((unitAt(at) * 0x2f0b) ^ (unitAt(at, 1) * 0x83d) ^ (unitAt(at, 2) * 0x7b51)) & 0xffff;
}

export function mayBeLongSecret(start: usize, end: usize): bool {
  const before = unitAt(start, -1);
  if (before !== 43 && before !== 47 && (mayHideText(start, end) || startsReadableHex(start))) return true;
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

/**
 * Of the word that was looked at last: its longest part between connectors, and whether a long part is behind what may be a word
 * for a key.
 */
let longest: usize = 0;
let isKeyed = false;

/** What findUnknownToken and isSpokenOf ask first: most long words are names. */
function mayBeToken(start: usize, end: usize): bool {
  const build = buildOf(start, end);
  if (build === 0) return false;
  if (isTimeBehind(end)) return true;
  const isJoined = (build & joined) !== 0;
  if (isJoined && (isKeyed || longest >= leastDigest)) return true;
  if (build >>> digitShift < 2) return false;
  const length = end - start;
  const before = unitAt(start, -1);
  const isMixed = (build & (small | capital)) === (small | capital);
  if (before === 46 && isMixed && length >= leastBehindDot) return true;
  if (unitAt(end) === 46 && before !== 47 && length >= leastDotted) return true;
  if (length === recoveryCode && !(build & (small | capital))) return true;
  const isLong = isMixed ? longest >= leastMixed || length >= longMixed : longest >= leastDigest;
  if (isLong && length >= leastDotted && (before === 61 || before === 47)) return true;
  if (isJoined) {
    if (isLong && before !== 47 && startsWithPrefix(start)) return true;
  } else if (isMixed && length >= leastBare && mayBeBare(start, length)) return true;
  return isCalledBehind(end) || mayBeSpokenOf(start);
}

/** A short part that begins with a small letter, as issuers put before a token. */
function startsWithPrefix(start: usize): bool {
  let i = start;
  while (unitAt(i) > 96 || (unitAt(i) < 58 && classOf(unitAt(i)) & digit)) i += 2;
  return unitAt(start) > 96 && i - start <= longestPrefix && (classOf(unitAt(i)) & connector) !== 0;
}

/** Blank, quote or bracket before it; not of the lengths of digests and addresses. */
function mayBeBare(start: usize, length: usize): bool {
  if (length > longestBare || length === 86 || length === 88) return false;
  if (length === 68 && (unitAt(start) === 49 || unitAt(start) === 51)) return false;
  const before = unitAt(start, -1);
  return (
    before <= 32 ||
    before > 127 ||
    before === 34 ||
    before === 39 ||
    before === 96 ||
    before === 40 ||
    before === 91
  );
}

/** The part [start, end) may be a word for a key, or a version: of few letters, or of more that end with a `k`. */
function mayNameKey(start: usize, end: usize): bool {
  if (end - start < 4 || end - start > 22) return false;
  const last = unitAt(end, -1);
  if (last < 58) return (unitAt(end, -2) | 32) === 107 || (unitAt(start) | 32) === 118;
  return end - start <= 14 || (last | 32) === 107;
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

/** The end of a Subresource Integrity value (`sha512-<base64>`) that starts at `start`, or 0. See word-walk.ts. */
export function integrityEnd(start: usize): usize {
  if (unitAt(start, 6) !== 45 || unitAt(start, 1) !== 104 || unitAt(start, 2) !== 97) return 0;
  const first = unitAt(start, 3);
  const last = unitAt(start, 5);
  const middle = unitAt(start, 4);
  if (
    !(first === 50 && middle === 53 && last === 54) &&
    !(first === 51 && middle === 56 && last === 52) &&
    !(first === 53 && middle === 49 && last === 50)
  )
    return 0;
  let end = start + 14;
  while (classOf(unitAt(end)) & base64Unit && end - start < 200) end += 2;
  return end - start >= 80 && unitAt(end) === 61 ? end : 0;
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

/** Base64 of readable text, but for one word of at most fifteen letters or one repeated sign, in which nothing is found. */
function mayHideText(start: usize, end: usize): bool {
  if (!startsReadable(start)) return false;
  if (unitAt(end) === 43 || unitAt(end) === 47 || unitAt(end, -1) === 45 || unitAt(end, -1) === 95)
    return true;
  let bits: u32 = 0;
  let known: u32 = 0;
  let count: u32 = 0;
  let first: u32 = 0;
  let isWord = true;
  let isRepeated = true;
  for (let i = start; i < end; i += 2) {
    bits = (bits << 6) | sextetAt(i);
    known += 6;
    if (known < 8) continue;
    known -= 8;
    const byte = (bits >>> known) & 255;
    if (count === 0) first = byte;
    else if (byte !== first) isRepeated = false;
    const letter = byte | 32;
    if ((letter < 97 || letter > 122) && (byte !== 32 || count > 0)) isWord = false;
    if (!isWord && !isRepeated) return true;
    count += 1;
  }
  return !isRepeated && count > longestHidden;
}
const longestHidden: u32 = 15;

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
  if (!holdsDigit(start, end) && !isTimeBehind(end) && !holdsLongPart(start, end)) return 0;
  let common: u32 = alnum | hexUnit;
  let build: u32 = 0;
  let part = start;
  let before = start;
  longest = 0;
  isKeyed = false;
  let isReadable = true;
  for (let i = start; i <= end; i += 2) {
    const unit = unitAt(i);
    const kind = i < end ? classOf(unit) : connector;
    if (kind & connector) {
      if (i - part > longest) longest = i - part;
      if (i - part >= leastWithoutDigits && part > start && mayNameKey(before, part - 2)) isKeyed = true;
      if (isReadable) isReadable = i === part || isPlainPart(part, i);
      before = part;
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

/** Most long words are names without digits. */
function holdsDigit(start: usize, end: usize): bool {
  for (let i = start; i < end; i += 16) {
    const digits = i16x8.lt_u(i16x8.sub(v128.load(i), i16x8.splat(48)), i16x8.splat(10));
    const bits = i16x8.bitmask(digits);
    const left = (end - i) >> 1;
    if (bits & (left < 8 ? (1 << (<i32>left)) - 1 : 255)) return true;
  }
  return false;
}

function holdsConnector(start: usize, end: usize): bool {
  for (let i = start; i < end; i += 16) {
    const units = v128.load(i);
    const bits = i16x8.bitmask(v128.or(i16x8.eq(units, i16x8.splat(45)), i16x8.eq(units, i16x8.splat(95))));
    const left = (end - i) >> 1;
    if (bits & (left < 8 ? (1 << (<i32>left)) - 1 : 255)) return true;
  }
  return false;
}

/** Of several parts, one has the length that a token without digits has. */
function holdsLongPart(start: usize, end: usize): bool {
  if (end - start <= leastWithoutDigits || !holdsConnector(start, end)) return false;
  let part = start;
  for (let i = start; i <= end; i += 2) {
    const unit = unitAt(i);
    if (i < end && unit !== 45 && unit !== 95) continue;
    if (i - part >= leastWithoutDigits) return part > start || i < end;
    part = i + 2;
  }
  return false;
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
