/**
 * The walk of word-walk.ts again, in AssemblyScript (https://www.assemblyscript.org), for long texts: three times as fast, as
 * the end of a word is found sixteen units at a time. `npm run build:kernel` compiles it into walk-code.ts. Change both
 * together: a test compares their results. Places are addresses, not positions: a unit has two bytes.
 */
import {
  alnum,
  classOf,
  connector,
  event,
  field,
  followsAt,
  gap,
  hasBit,
  hexUnit,
  outlinesAt,
  stateAt,
  textAt,
  unitAt,
  wordUnit,
} from './walk-layout';
import {
  endsEntity,
  follow,
  followOf,
  idleEscape,
  isIdleBracket,
  isPortField,
  mayBeCall,
  mayBeHost,
  mayHoldUser,
  mayOpenTable,
  startsEntity,
} from './walk-lines';
import { isHarmless, isKnown, known, remember } from './walk-names';
import { mayBeLongSecret, mayStartShape } from './walk-words';

export {
  cellsAt,
  classesAt,
  deepHeadsAt,
  followsAt,
  headsAt,
  lastHeadsAt,
  longHeadsAt,
  outlinesAt,
  sextetsAt,
  stateAt,
  stemsAt,
  textAt,
} from './walk-layout';
export { forgetNames } from './walk-names';

namespace walkStop {
  export const end: u32 = 0;
  export const shape: u32 = 1;
  export const word: u32 = 2;
  export const event: u32 = 3;
  export const other: u32 = 4;
}
/** Sixteen units. */
const longWord: usize = 32;

/** Takes and returns positions, also in the state, where -1 is no name; here 0 is the address of none. */
export function next(from: i32, to: i32, isWithin: bool): i32 {
  groupEnd = addressOf(load<i32>(stateAt + field.groupEnd));
  labelEnd = addressOf(load<i32>(stateAt + field.labelEnd));
  const name = load<i32>(stateAt + field.nameStart);
  const nameEnd = addressOf(load<i32>(stateAt + field.nameEnd));
  return walk(addressOf(from), addressOf(to), isWithin, name < 0 ? 0 : addressOf(name), nameEnd);
}

/** `as`: see walkMemory in walk-kernel.ts. */
export function rememberWord(start: i32, end: i32, as: u32): void {
  remember(addressOf(start), addressOf(end), as);
}

function addressOf(position: i32): usize {
  return textAt + ((<usize>position) << 1);
}

function positionOf(address: usize): i32 {
  return <i32>((address - textAt) >> 1);
}

let groupEnd: usize = 0;
let labelEnd: usize = 0;

function walk(from: usize, to: usize, isWithin: bool, nameStart: usize, nameEnd: usize): i32 {
  let i = from;
  let isKnown = isWithin;
  while (i < to || isKnown) {
    let unit = unitAt(i);
    let kind = classOf(unit);
    if (kind & wordUnit) {
      if (!isKnown) nameStart = i;
      let isJoined: u32 = isKnown ? load<u32>(stateAt + field.isJoined) : 0;
      for (;;) {
        if (!isKnown) {
          if (mayStartShape(i)) return stand(walkStop.shape, i, nameStart, i, isJoined);
        }
        isKnown = false;
        if (kind & alnum) {
          i = endOfLetters(i);
          unit = unitAt(i);
          kind = classOf(unit);
        }
        if (!(kind & connector)) break;
        isJoined = i > nameStart ? 1 : 0;
        while (kind & connector) {
          i += 2;
          unit = unitAt(i);
          kind = classOf(unit);
        }
        if (!(kind & alnum)) break;
      }
      nameEnd = i;
      if (
        mayTell(nameStart, i) ||
        (i - nameStart >= longWord && mayBeLongSecret(nameStart, i)) ||
        (unit === 32 && announces(unitAt(i, 1), isJoined !== 0) && !isHarmless(nameStart, i)) ||
        (unitAt(nameStart) === 45 && mayBeFlag(nameStart, i))
      )
        return stand(walkStop.word, i, nameStart, i, isJoined);
      continue;
    }
    if (kind & gap) {
      if (unit !== 34 || unitAt(i, 1) !== 100 || unitAt(i, 2) !== 97) {
        i += 2;
        if (unit === 32 && unitAt(i) === 32 && i < to) i = min(endOfBlanks(i), to);
        continue;
      }
    } else if (kind & event) {
      if (unit === 92) {
        const idle = idleEscape(i);
        if (idle !== 0) {
          if (idle < 0) nameStart = 0;
          i += abs(idle);
          continue;
        }
      }
      if (!isIdle(unit, i, nameStart, nameEnd)) return stand(walkStop.event, i, nameStart, nameEnd, 0);
      nameStart = 0;
      i += 2;
      continue;
    } else if (
      (unit !== 10 || !mayOpenTable(i + 2)) &&
      unit !== 27 &&
      (unit !== 40 || i !== nameEnd || !mayBeCall(i) || isIdleCall(i, nameStart)) &&
      (unit !== 60 || (unitAt(i, 1) !== 66 && (unitAt(i, -1) !== 32 || unitAt(i, -2) !== 58)))
    ) {
      nameStart = 0;
      i += 2;
      continue;
    }
    return stand(walkStop.other, i, nameStart, nameEnd, 0);
  }
  return stand(walkStop.end, i, nameStart, nameEnd, 0);
}

/** The word may be a telltale one, and something that may follow it does. */
function mayTell(start: usize, end: usize): bool {
  const outline = outlineOf(start, end);
  if (!hasBit(outlinesAt, outline)) return false;
  const follows: u32 = load<u8>(outline, followsAt);
  if (!(follows & followOf(unitAt(end)))) return false;
  if (follows & follow.behindBlank && unitAt(start, -1) > 32) return false;
  return !isKnown(start, end, known.plain);
}

/** Not of `Uint8Array(`, which may hold bytes. */
function isIdleCall(i: usize, nameStart: usize): bool {
  if (nameStart === 0 || (unitAt(i, -1) === 121 && unitAt(i, -2) === 97)) return false;
  return isKnown(nameStart, i, known.callee);
}

function outlineOf(start: usize, end: usize): u32 {
  const middle = textAt + ((((start - textAt) >> 1) + ((end - textAt) >> 1)) & ~1);
  const front = (unitAt(start) & 31) | ((unitAt(start, 1) & 31) << 5);
  const back = (unitAt(middle) & 31) | ((unitAt(end, -1) & 31) << 5);
  return ((front ^ (back << 10) ^ ((<u32>((end - start) >> 1)) << 20)) * 0x9e3779b1) >>> 17;
}

/** A quote behind the blank of a word, or anything but a blank behind the one of a joined word. */
function announces(behind: u32, isJoined: bool): bool {
  return behind === 34 || behind === 39 || (isJoined && behind > 32);
}

/** What findFlagValue looks at: `-p`, short flags, keys and users, and names that are not harmless. */
function mayBeFlag(start: usize, end: usize): bool {
  if (end - start < 4) return false;
  if (unitAt(start, 1) === 112) return true;
  const unit = unitAt(end);
  if (unit !== 32 && unit !== 34 && unit !== 39 && unit !== 92 && unit !== 0) return false;
  if (end - start < 8) return true;
  const last = unitAt(end, -1) | 32;
  const middle = unitAt(end, -2) | 32;
  const first = unitAt(end, -3) | 32;
  if (middle === 101 && ((first === 107 && last === 121) || (first === 115 && last === 114))) return true;
  return !isHarmless(start, end);
}

/** Of the letters and digits from `at` on. Units above 255 saturate to what is neither. */
function endOfLetters(at: usize): usize {
  let i = at;
  while (true) {
    const units = i8x16.narrow_i16x8_u(v128.load(i), v128.load(i, 16));
    const letters = i8x16.lt_u(i8x16.sub(v128.or(units, i8x16.splat(32)), i8x16.splat(97)), i8x16.splat(26));
    const digits = i8x16.lt_u(i8x16.sub(units, i8x16.splat(48)), i8x16.splat(10));
    const others = ~i8x16.bitmask(v128.or(letters, digits)) & 0xffff;
    if (others) return i + (ctz(others) << 1);
    i += 32;
  }
}

function endOfBlanks(at: usize): usize {
  const blanks = i16x8.splat(32);
  let i = at;
  while (true) {
    const others = ~i16x8.bitmask(i16x8.eq(v128.load(i), blanks)) & 0xff;
    if (others) return i + (ctz(others) << 1);
    i += 16;
  }
}

function isIdle(unit: u32, i: usize, nameStart: usize, nameEnd: usize): bool {
  if (unit === 44) {
    if (nameStart === 0 || (i === nameEnd && unitAt(nameStart, -1) !== 10)) return true;
  } else if (unit === 61) {
    if (nameStart === 0) return unitAt(i, -1) < 128 && unitAt(i, -2) < 128;
    if (unitAt(nameStart) === 45) return false;
  } else if (unit === 124) {
    if (nameStart === 0) return true;
  } else if (unit === 38) return !startsEntity(unitAt(i, 1)) || !endsEntity(i + 4);
  else if (unit === 37) return !(classOf(unitAt(i, 1)) & classOf(unitAt(i, 2)) & hexUnit);
  else if (unit === 64) return !mayBeHost(i + 2);
  else if (unit === 36) return !mayStartShape(i);
  else if (unit === 126) return unitAt(i, -1) !== 81;
  else if (unit === 62) {
    if (i < labelEnd) return false;
    if (isIdleBracket(i, nameStart, nameEnd)) return true;
    // `<name>`
    if (nameEnd !== i || nameStart === 0 || unitAt(nameStart, -1) !== 60) return false;
    return isTagOnly(i) && isHarmless(nameStart, nameEnd);
  } else if (unit !== 58) return false;
  else if (nameStart === 0) return unitAt(i, -1) < 128 && unitAt(i, -2) < 128 && !mayStandAlone(i);
  else if (mayStandInColon(i, nameStart, nameEnd)) return false;
  if (nameStart < groupEnd) return false;
  if (nameEnd - nameStart === 4 && unitAt(nameStart) === 105) return false;
  if (unitAt(i, -1) > 127 || unitAt(nameStart, -1) > 127) return false;
  return isHarmless(nameStart, nameEnd);
}

/** The bracket ends no attribute and no arrow. */
function isTagOnly(i: usize): bool {
  const before = unitAt(i, -1);
  return before !== 34 && before !== 39 && before !== 45;
}

/** What needs no name before the colon. */
function mayStandAlone(i: usize): bool {
  const behind = unitAt(i, 1);
  if (behind === 10 || behind === 13 || isPortField(i + 2)) return true;
  return behind === 47 && unitAt(i, 2) === 47 && mayHoldUser(i + 6);
}

function mayStandInColon(i: usize, nameStart: usize, nameEnd: usize): bool {
  if (mayStandAlone(i)) return true;
  if (nameEnd !== i) return false;
  const first = unitAt(nameStart);
  const length = (nameEnd - nameStart) >> 1;
  return (
    first === 45 ||
    (first < 58 && length > 7) ||
    (first === 98 && length > 7) ||
    (first === 115 && length === 1) ||
    (length === 4 && (first === 100 || first === 116)) ||
    (first === 80 && length === 13) ||
    length === 32
  );
}

function stand(stop: u32, at: usize, nameStart: usize, nameEnd: usize, isJoined: u32): i32 {
  store<u32>(stateAt + field.stop, stop);
  store<i32>(stateAt + field.nameStart, nameStart === 0 ? -1 : positionOf(nameStart));
  store<i32>(stateAt + field.nameEnd, positionOf(nameEnd));
  store<u32>(stateAt + field.isJoined, isJoined);
  return positionOf(at);
}
