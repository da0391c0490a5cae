/** Addresses in the kernel's memory. walk-kernel.ts fills the tables; each is described where it is read. */

/** Answers of `next`, and what it is told: see `field`. */
export const stateAt: usize = 16;
export const shortNamesAt: usize = 32768;
export const headsAt: usize = 2048;
export const longHeadsAt: usize = 10240;
export const outlinesAt: usize = 18432;
export const stemsAt: usize = 22528;
export const cellsAt: usize = 26624;
/** A bit for the first three letters of each word that tells of a secret in a heading or a sentence. */
export const tellsAt: usize = 28672;
export const deepHeadsAt: usize = 49152;
/** 255 for what is no base64. */
export const sextetsAt: usize = 57344;
/** A bit for the first three letters of each word before a keyword that says what kind of code or key it is. */
export const kindsAt: usize = 57856;
export const classesAt: usize = 65536;
export const lastHeadsAt: usize = 163840;
/** For each outline of a telltale word: what may follow it, and whether a blank must precede it. See `follows`. */
export const followsAt: usize = 172032;
/** For each outline of a telltale word, its row of needs; 0 for none. */
export const needsAt: usize = 204800;
/** The rows, of two numbers each: the letters that may precede the word, and what else it needs. See walk-needs.as.ts. */
export const needRowsAt: usize = 237568;
/** Two hashes of each word that is known. See walk-names.as.ts. */
export const slotsAt: usize = 238080;
/** The text, between zeros. */
export const textAt: usize = 369664;

/** Offsets from `stateAt`; numbers of 32 bits. */
export namespace field {
  export const stop: usize = 0;
  export const nameStart: usize = 4;
  export const nameEnd: usize = 8;
  export const isJoined: usize = 12;
  export const groupEnd: usize = 16;
  /** 1 if the host has denied names, so that a name without a known stem may be sensitive as well. */
  export const allMaySmell: usize = 20;
  export const firstFactor: usize = 24;
  export const otherFactor: usize = 28;
  export const labelEnd: usize = 32;
  /** Before this position, a name may belong to the label before it. */
  export const fieldEnd: usize = 36;
}

// The classes of characters.ts.
export const alnum: u32 = 1;
export const connector: u32 = 2;
export const wordUnit: u32 = 3;
export const gap: u32 = 4;
export const event: u32 = 8;
export const base64Unit: u32 = 16;
export const hexUnit: u32 = 32;
export const digit: u32 = 64;

export function classOf(unit: u32): u32 {
  return load<u8>(unit, classesAt);
}

/** The unit `units` after the one at `at`. */
export function unitAt(at: usize, units: i32 = 0): u32 {
  return load<u16>(at + (units << 1));
}

export function hasBit(table: usize, bit: u32): bool {
  return ((load<u32>(table + ((bit >>> 5) << 2)) >>> (bit & 31)) & 1) !== 0;
}

/** Whether the word that ends with these fifteen bits, five of each letter, tells of a secret. */
export function tells(bits: u32): bool {
  return hasBit(tellsAt, bits);
}
