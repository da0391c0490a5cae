/** Which objects are live: the counterpart of marking.ts, for objects whose references need no names. */
import {
  codeRoom,
  codesAt,
  has,
  liveAt,
  mapOf,
  objectAt,
  sizeOf,
  slots,
  spill,
  stackAt,
  stackRoom,
  waysAt,
  wordOf,
} from './heap-memory';

/** The ways of marking.ts. */
const allWords: u32 = 1;
const mapOnly: u32 = 2;
const functions: u32 = 3;
/** The row of a function's code, in the table of V8, is in this word, shifted. */
const handleWord: u32 = 3;
const handleShift: u32 = 8;

let depth: u32 = 0;

export function mark(object: u32): void {
  if (object >= slots) return;
  const at = liveAt + ((<usize>(object >>> 5)) << 2);
  const bits = load<u32>(at);
  const bit: u32 = 1 << (object & 31);
  if ((bits & bit) !== 0) return;
  store<u32>(at, bits | bit);
  if (depth === stackRoom) {
    spill(object);
    return;
  }
  store<u32>(stackAt + ((<usize>depth) << 2), object);
  depth++;
}

/**
 * Follows up to `most` objects. Returns one that must be followed in TypeScript, or -1 if none is left, or -2 if some are.
 * `hasCodes`: whether functions refer to their code by a handle.
 */
export function follow(most: u32, hasCodes: bool): i32 {
  for (let left = most; depth > 0; left--) {
    if (left === 0) return -2;
    depth--;
    const object = load<i32>(stackAt + ((<usize>depth) << 2));
    const map = mapOf(object);
    if (map < 0) return object;
    const way = <u32>load<u8>(waysAt + map);
    if (way < allWords || way > functions) return object;
    const end = way === mapOnly ? <u32>object + 1 : <u32>object + sizeOf(object);
    for (let slot = <u32>object; slot < end; slot++) {
      const word = wordOf(slot);
      if ((<u32>word & 3) !== 1) continue;
      const target = objectAt(word);
      if (target >= 0) mark(target);
    }
    if (way !== functions || !hasCodes) continue;
    const code = codeOf(object);
    if (code === 0) return object;
    if (code > 1) mark(code - 2);
  }
  return -1;
}

/** The slot of a function's code plus two, 1 if it has none, 0 if it is not known. */
export function codeOf(object: u32): u32 {
  if (object + handleWord >= slots) return 0;
  const row = <u32>wordOf(object + handleWord) >>> handleShift;
  return row < codeRoom ? load<u32>(codesAt + ((<usize>row) << 2)) : 0;
}

/** Numbers the live objects. */
export function numberLive(before: usize): u32 {
  let count: u32 = 0;
  const words = (slots >>> 5) + 1;
  for (let word: u32 = 0; word < words; word++) {
    store<u32>(before + ((<usize>word) << 2), count);
    count += popcnt(load<u32>(liveAt + ((<usize>word) << 2)));
  }
  return count;
}

export function isLive(object: u32): bool {
  return object < slots && has(liveAt, object);
}
