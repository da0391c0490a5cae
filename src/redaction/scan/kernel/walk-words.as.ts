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
  return end - start <= longestToken && hasBuild(start, end);
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

/** `buildOf` is not 0. */
function hasBuild(start: usize, end: usize): bool {
  let common: u32 = alnum | hexUnit;
  let build: u32 = 0;
  let part = start;
  let longest: usize = 0;
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
  if (isTimeBehind(end)) return build !== 0;
  const hasFewDigits = build >>> digitShift < 2;
  if (build & joined) {
    const isWords = isReadable && (build & (small | capital)) !== 0;
    return !isWords && !(hasFewDigits && longest < leastWithoutDigits);
  }
  return !hasFewDigits && !(common & hexUnit && isDigestLength((end - start) >> 1));
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
