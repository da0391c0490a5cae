/**
 * The walk of word-walk.ts again, in AssemblyScript (https://www.assemblyscript.org), for long texts: three times as fast, as
 * the end of a word is found sixteen units at a time. `npm run build:kernel` compiles it into walk-code.ts. Change both
 * together: a test compares their results. Places are addresses, not positions: a unit has two bytes.
 */
import {
  alnum,
  classOf,
  connector,
  digit,
  event,
  field,
  gap,
  hexUnit,
  stateAt,
  textAt,
  unitAt,
  wordUnit,
} from './walk-layout';
import {
  endsEntity,
  idleEscape,
  isIdleBracket,
  isPortField,
  mayBeCall,
  mayHoldPassword,
  mayHoldUser,
  startsEntity,
} from './walk-lines';
import { isHarmless, isKnown, kindOf, known, remember } from './walk-names';
import { mayTell } from './walk-needs';
import { isBesideNative, isNearForeign, mayBeGlued, mayEndGlued } from './walk-said';
import { isComparison, isPlainElement, mayHead, standsAlone } from './walk-surroundings';
import { mayOpenTable } from './walk-tables';
import {
  behindEquals,
  holdsNoObject,
  holdsPlainName,
  holdsShortWord,
  holdsWeak,
  isUnpaired,
} from './walk-values';
import { integrityEnd, mayBeLongSecret, mayStartShape } from './walk-words';

export {
  cellsAt,
  classesAt,
  deepHeadsAt,
  followsAt,
  headsAt,
  kindsAt,
  lastHeadsAt,
  longHeadsAt,
  needRowsAt,
  needsAt,
  outlinesAt,
  sextetsAt,
  stateAt,
  stemsAt,
  tellsAt,
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
  fieldEnd = addressOf(load<i32>(stateAt + field.fieldEnd));
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
let fieldEnd: usize = 0;

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
      if (unitAt(nameStart) === 115 && i - nameStart >= longWord) {
        const end = integrityEnd(nameStart);
        if (end !== 0) {
          nameStart = 0;
          i = end;
          continue;
        }
      }
      if (
        (i - nameStart > 2 && mayTell(nameStart, i)) ||
        (i - nameStart >= longWord && mayBeLongSecret(nameStart, i)) ||
        (unit === 32 && announces(unitAt(i, 1), isJoined !== 0) && !isHarmless(nameStart, i)) ||
        (isJoined && isMentioned(unit, unitAt(i, 1), unitAt(i, 2)) && !isHarmless(nameStart, i)) ||
        (unitAt(nameStart) === 45 && mayBeFlag(nameStart, i)) ||
        (mayEndGlued(nameStart, i) && mayBeGlued(i)) ||
        (isNearForeign(nameStart, i) && isBesideNative(nameStart, i))
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
      if ((unit === 124 || unit === 38) && unitAt(i, 1) === unit && unitAt(i, 2) === 61) {
        i += 4;
        continue;
      }
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

/** Not of `Uint8Array(`, which may hold bytes. */
function isIdleCall(i: usize, nameStart: usize): bool {
  if (nameStart === 0 || (unitAt(i, -1) === 121 && unitAt(i, -2) === 97)) return false;
  return isKnown(nameStart, i, known.callee);
}

/** A quote behind the blank of a word, or anything but a blank behind the one of a joined word. */
function announces(behind: u32, isJoined: bool): bool {
  return behind === 34 || behind === 39 || (isJoined && behind > 32);
}

/** `[DB_PASS] is x`, `%DB_PASS% resolved to x` */
function isMentioned(unit: u32, behind: u32, next: u32): bool {
  return (
    behind === 32 &&
    (unit === 93 || unit === 125 || unit === 37 || unit === 96 || unit === 34 || unit === 39) &&
    (next === 105 || next === 119 || next === 114 || next === 115 || next === 104)
  );
}

/** What findFlagValue looks at: `-p`, short flags, keys and users, and names that are not harmless. */
function mayBeFlag(start: usize, end: usize): bool {
  if (end - start < 4) return false;
  if (unitAt(start, 1) === 112) return true;
  const unit = unitAt(end);
  if (unit !== 32 && unit !== 34 && unit !== 39 && unit !== 92 && unit !== 0) return false;
  if (end - start < 8) return (classOf(unitAt(start, 1)) & classOf(unitAt(end, -1)) & connector) === 0;
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
    if (i !== nameEnd && kindOf(nameStart, nameEnd) > known.harmless) return true;
  } else if (unit === 61) {
    if (nameStart === 0) return unitAt(i, -1) < 128 && unitAt(i, -2) < 128;
    if (unitAt(nameStart) === 45) return false;
  } else if (unit === 124) {
    if (nameStart === 0) return true;
  } else if (unit === 38) return !startsEntity(unitAt(i, 1)) || !endsEntity(i + 4);
  else if (unit === 37) return !(classOf(unitAt(i, 1)) & classOf(unitAt(i, 2)) & hexUnit);
  else if (unit === 64) return !mayHoldPassword(i);
  else if (unit === 36) return !mayStartShape(i);
  else if (unit === 126) return unitAt(i, -1) !== 81;
  else if (unit === 62) {
    if (i < labelEnd) return false;
    if (isIdleBracket(i, nameStart, nameEnd)) return true;
    // `<name attribute="x">`
    if (nameEnd !== i && (unitAt(i, -1) === 34 || unitAt(i, -1) === 39)) return isPlainElement(i, textAt);
    // `<name>`
    if (nameEnd !== i || nameStart === 0 || unitAt(nameStart, -1) !== 60) return false;
    return isTagOnly(i) && isHarmless(nameStart, nameEnd);
  } else if (unit !== 58) return false;
  else if (nameStart === 0) return unitAt(i, -1) < 128 && unitAt(i, -2) < 128 && !mayStandAlone(i);
  else if (mayStandInColon(i, nameStart, nameEnd)) return false;
  if (nameStart < groupEnd) return false;
  // `password is: x`
  if (nameEnd - nameStart === 4 && unitAt(nameStart) === 105 && unitAt(nameStart, 1) === 115) return false;
  if (unitAt(i, -1) > 127 || unitAt(nameStart, -1) > 127) return false;
  if (unit === 58 && mayBeNative(i, nameStart)) return false;
  const kind = kindOf(nameStart, nameEnd);
  if (kind === known.harmless) return true;
  if (unit === 61 && nameStart >= fieldEnd && isComparison(i)) return true;
  return kind > 0 && (unit === 58 || unit === 61) && isEmptyHanded(i, nameStart, nameEnd, kind);
}

/** A name that is sensitive only with certain values, or where its surroundings say so, and they don't. */
function isEmptyHanded(i: usize, nameStart: usize, nameEnd: usize, kind: u32): bool {
  if (kind === known.part) return holdsShortWord(i + 2);
  if (kind === known.manifest) return holdsNoObject(i + 2);
  if (kind === known.weak) return isUnpaired(nameStart, nameEnd, textAt) && holdsWeak(i, nameStart, false);
  if (nameStart < fieldEnd) return false;
  if (kind === known.label) return holdsPlainName(behindEquals(i + 2));
  if (kind === known.key) return isUnpaired(nameStart, nameEnd, textAt) && holdsWeak(i, nameStart, true);
  return kind === known.content && standsAlone(nameStart, nameEnd, textAt);
}

/** speech/native-names.ts */
function mayBeNative(sign: usize, nameStart: usize): bool {
  if (unitAt(nameStart, -1) !== 32) return false;
  for (let i = nameStart - 4; sign - i < 64; i -= 2) {
    const unit = unitAt(i);
    if (unit > 127) return true;
    if (unit !== 32 && unit !== 34 && unit !== 95 && unit !== 45 && (unit < 65 || unit > 122)) return false;
  }
  return false;
}

/** The bracket ends no attribute and no arrow. */
function isTagOnly(i: usize): bool {
  const before = unitAt(i, -1);
  return before !== 34 && before !== 39 && before !== 45;
}

/** What needs no name before the colon. */
function mayStandAlone(i: usize): bool {
  const behind = unitAt(i, 1);
  if (isPortField(i + 2)) return true;
  // `[mail.host]:587 user:password`
  if (unitAt(i, -1) === 93 && classOf(behind) & digit) return true;
  if (behind === 10 || behind === 13) return mayHead(i + 2);
  return behind === 47 && unitAt(i, 2) === 47 && mayHoldUser(i + 6);
}

function mayStandInColon(i: usize, nameStart: usize, nameEnd: usize): bool {
  if (mayStandAlone(i)) return true;
  if (nameEnd !== i) return false;
  const length = (nameEnd - nameStart) >> 1;
  const first = unitAt(nameStart);
  if (length === 4 && isWord(nameStart, 100, 97, 116, 97) && unitAt(i, 1) > 32) return true;
  return (
    first === 45 ||
    (length === 4 && isWord(nameStart, 116, 104, 105, 110)) ||
    ((first < 58 || first === 98) && length > 7 && (classOf(unitAt(nameEnd, -1)) & digit) !== 0) ||
    (first === 115 && length === 1 && unitAt(nameStart, -1) === 59) ||
    (first === 80 && length === 13) ||
    length === 32
  );
}

function isWord(at: usize, first: u32, second: u32, third: u32, fourth: u32): bool {
  return (
    unitAt(at) === first && unitAt(at, 1) === second && unitAt(at, 2) === third && unitAt(at, 3) === fourth
  );
}

function stand(stop: u32, at: usize, nameStart: usize, nameEnd: usize, isJoined: u32): i32 {
  store<u32>(stateAt + field.stop, stop);
  store<i32>(stateAt + field.nameStart, nameStart === 0 ? -1 : positionOf(nameStart));
  store<i32>(stateAt + field.nameEnd, positionOf(nameEnd));
  store<u32>(stateAt + field.isJoined, isJoined);
  return positionOf(at);
}
