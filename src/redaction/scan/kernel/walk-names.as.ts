/**
 * The names that NameBook has found harmless, the functions that take no credential, and the words that only look like telltale
 * ones, as far as they were seen here: the detectors are asked about all others. As in NameBook, a name is stored as two hashes
 * with secret multipliers.
 */
import { field, hasBit, shortNamesAt, slotsAt, stateAt, stemsAt, unitAt } from './walk-layout';

const longestName: usize = 80 << 1;
const slotBits: u32 = 14;
/** `pw`: see telling-stems.ts. */
const pw: u32 = (16 << 5) | 23;

/** What is remembered of a word: see walkMemory in walk-kernel.ts. */
export namespace known {
  // The kinds of names, of which each has one: written into the low bits of its second hash.
  export const harmless: u32 = 1;
  export const label: u32 = 2;
  export const content: u32 = 3;
  export const part: u32 = 4;
  export const weak: u32 = 5;
  export const key: u32 = 6;
  export const manifest: u32 = 7;
  // Of any word, in slots of their own: the first value of its second hash.
  export const callee: u32 = 9;
  export const plain: u32 = 11;
  export const pair: u32 = 13;
  export const start: u32 = 15;
}

const lastKind: u32 = 7;
const kindBits: u32 = 7;

let first: u32 = 0;
let other: u32 = 0;

/** [start, end): addresses. */
export function isHarmless(start: usize, end: usize): bool {
  return kindOf(start, end) === known.harmless;
}

/** What is known of the name, 0 if nothing; most names of one or two letters are in a table of their own. */
export function kindOf(start: usize, end: usize): u32 {
  if (end - start < 6) {
    const short = shortOf(start, end);
    return short < 0 ? 0 : load<u8>(shortNamesAt + <usize>short);
  }
  if (end - start > longestName) return known.harmless;
  if (load<u32>(stateAt + field.allMaySmell) === 0 && !holdsStem(start, end)) return known.harmless;
  const slot = slotOf(start, end, 0);
  const written = load<u32>(slot, 4);
  return load<u32>(slot) === first && ((written ^ other) & ~kindBits) === 0 ? written & kindBits : 0;
}

/** The word is known as one of these, which is no name's kind. */
export function isKnown(start: usize, end: usize, as: u32): bool {
  const slot = slotOf(start, end, as);
  return load<u32>(slot) === first && load<u32>(slot, 4) === other;
}

/** Of a name of at most two ASCII units; -1 for any other. */
function shortOf(start: usize, end: usize): i32 {
  const head = unitAt(start);
  const second: u32 = end - start === 4 ? unitAt(start, 1) : 0;
  return (head | second) > 127 ? -1 : <i32>((head << 7) | second);
}

function holdsStem(start: usize, end: usize): bool {
  let bits: u32 = 0;
  for (let i = start; i < end; i += 2) {
    bits = ((bits << 5) | (unitAt(i) & 31)) & 0x7fff;
    if (hasBit(stemsAt, bits)) return true;
  }
  return (bits & 0x3ff) === pw;
}

function slotOf(start: usize, end: usize, as: u32): usize {
  const firstFactor = load<u32>(stateAt + field.firstFactor);
  const otherFactor = load<u32>(stateAt + field.otherFactor);
  // With the kind, because a word may be a name as well: in one slot, each would push the other out.
  first = <u32>((end - start) >> 1) | (as << 16);
  other = as;
  for (let i = start; i < end; i += 2) {
    const unit = unitAt(i);
    first = (first ^ unit) * firstFactor;
    other = other * otherFactor + unit;
  }
  return slotsAt + ((<usize>(first >>> (32 - slotBits))) << 3);
}

export function remember(start: usize, end: usize, as: u32): void {
  const isName = as <= lastKind;
  if (isName && end - start < 6) {
    const short = shortOf(start, end);
    if (short >= 0) store<u8>(shortNamesAt + <usize>short, as);
    return;
  }
  const slot = slotOf(start, end, isName ? 0 : as);
  store<u32>(slot, first);
  store<u32>(slot, isName ? (other & ~kindBits) | as : other, 4);
}

export function forgetNames(): void {
  memory.fill(shortNamesAt, 0, 16384);
  memory.fill(slotsAt, 0, 8 << slotBits);
}
