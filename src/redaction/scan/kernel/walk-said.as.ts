/**
 * Words that are said to be a password by their end or by their neighbours: said-words.ts and said-values.ts again. Every word of a
 * text is asked, so each question starts with a test without branches that nearly all words fail.
 */
import { classOf, digit, unitAt } from './walk-layout';

// The last three letters of the words that others are glued to, the last one first; a bit for each letter.
const lastLetters: u32 = (1 << 1) | (1 << 4) | (1 << 5) | (1 << 15) | (1 << 20);
const middleLetters: u32 = (1 << 4) | (1 << 11) | (1 << 12) | (1 << 14) | (1 << 18);
const firstLetters: u32 = (1 << 1) | (1 << 14) | (1 << 15) | (1 << 19);
const leastGlued: usize = 18;

/** The last three letters may be of such a word. */
export function mayEndGlued(start: usize, end: usize): bool {
  const fit =
    (lastLetters >>> (unitAt(end, -1) & 31)) &
    (middleLetters >>> (unitAt(end, -2) & 31)) &
    (firstLetters >>> (unitAt(end, -3) & 31));
  return (fit & <u32>(end - start >= leastGlued)) !== 0;
}

/** Of four units. */
const highBytes: u64 = ((<u64>0xff00ff00) << 32) | <u64>0xff00ff00;

/** One of four units on each side is not in Latin-1. */
export function isNearForeign(start: usize, end: usize): bool {
  return ((load<u64>(start - 8) | load<u64>(end)) & highBytes) !== 0;
}

/** See said-words.ts. */
export function mayBeGlued(end: usize): bool {
  const last = lettersBefore(end);
  // `passwort`, `kennwort`
  if (last === ort) return isEither(lettersBefore(end - 6), ssw, nnw);
  // `wachtwoord`, `senord`, `passord`, `kodeord`
  if (last === ord) {
    const before = lettersBefore(end - 6);
    return isEither(before, two, sen) || isEither(before, ass, ode);
  }
  // `adgangskode`: nearly all others are like `statusCode`.
  if (last === ode) return lettersBefore(end - 6) === gsk;
  // `salasana`, `lozinka`, `parola`, `heslo`
  if (last === ana) return lettersBefore(end - 6) === las;
  if (last === nka) return lettersBefore(end - 6) === ozi;
  if (last === ola) return lettersBefore(end - 6) === par;
  return last === slo && (unitAt(end, -4) & 31) === 5;
}

function lettersBefore(end: usize): u32 {
  return ((unitAt(end, -3) & 31) << 10) | ((unitAt(end, -2) & 31) << 5) | (unitAt(end, -1) & 31);
}

function isEither(letters: u32, one: u32, other: u32): bool {
  return letters === one || letters === other;
}

// Three letters, by their places in the alphabet: the last of the words, and those before.
const ort: u32 = (15 << 10) | (18 << 5) | 20;
const ord: u32 = (15 << 10) | (18 << 5) | 4;
const ana: u32 = (1 << 10) | (14 << 5) | 1;
const ode: u32 = (15 << 10) | (4 << 5) | 5;
const nka: u32 = (14 << 10) | (11 << 5) | 1;
const ola: u32 = (15 << 10) | (12 << 5) | 1;
const slo: u32 = (19 << 10) | (12 << 5) | 15;
const ssw: u32 = (19 << 10) | (19 << 5) | 23;
const nnw: u32 = (14 << 10) | (14 << 5) | 23;
const two: u32 = (20 << 10) | (23 << 5) | 15;
const sen: u32 = (19 << 10) | (5 << 5) | 14;
const ass: u32 = (1 << 10) | (19 << 5) | 19;
const gsk: u32 = (7 << 10) | (19 << 5) | 11;
const las: u32 = (12 << 10) | (1 << 5) | 19;
const ozi: u32 = (15 << 10) | (26 << 5) | 9;
const par: u32 = (16 << 10) | (1 << 5) | 18;

/** See said-values.ts. */
export function isBesideNative(start: usize, end: usize): bool {
  if (end - start < 8) return false;
  const before = neighbour(start - 2, -2);
  const behind = neighbour(end, 2);
  if (before < 256 && behind < 256) return false;
  for (let i = start; i < end; i += 2)
    if (classOf(unitAt(i)) & digit || (unitAt(i) < 91 && unitAt(i, -1) > 96 && i > start)) return true;
  return false;
}

/** The unit at `at`, behind at most two blanks, colons, quotes and brackets. */
function neighbour(at: usize, step: i32): u32 {
  let i = at;
  for (const to = at + 2 * step; i !== to && isThin(unitAt(i)); ) i += step;
  return unitAt(i);
}

function isThin(unit: u32): bool {
  return (
    unit === 32 ||
    unit === 34 ||
    unit === 39 ||
    unit === 40 ||
    unit === 58 ||
    unit === 91 ||
    unit === 93 ||
    unit === 96
  );
}
