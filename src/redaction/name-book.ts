/**
 * Remembers what judgeName said of each name seen, and holds the host's own lists of names. A name is looked up by the
 * hash that the scanner computed while it walked over it, so a known name costs no string.
 */
import { characterTables } from './characters.ts';
import { judgeName, longestName, type NameVerdict } from './key-names.ts';
import type { Page } from './page.ts';

export const hashSeed = 0x811c9dc5 | 0;
export const hashPrime = 0x01000193;

/** FNV-1a over lower-cased units below 256; what the scanner computes on its way. */
export function hashWord(word: string): number {
  const { lower } = characterTables();
  let hash = hashSeed;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ lower[word.charCodeAt(i) & 255]!, hashPrime);
  return hash;
}

const slots = 2048;

let stems: Uint8Array | undefined;

/** By the low five bits of three letters: 1 where they start a word that judgeName knows. */
function stemTable(): Uint8Array {
  if (stems) return stems;
  stems = new Uint8Array(1 << 15);
  for (const stem of telling.split(' ')) {
    const [a = 0, b = 0, c = 0] = [...stem].map((letter) => letter.charCodeAt(0) & 31);
    stems[(a << 10) | (b << 5) | c] = 1;
  }
  return stems;
}

/** The first letters of every telling word; a test holds this against the vocabulary. */
const telling =
  'pas pwd pwo mot con sen sec tok jwt pat bea key aut oau cre csr xsr sas coo ses sig cod pin otp tot mfa cvv cvc ' +
  'mne see rec phr nam hea var fie par pro val str sid dsn req mas use ide';

export class NameBook {
  private readonly hashes = new Int32Array(slots);
  private readonly lengths = new Uint8Array(slots);
  private readonly verdicts: NameVerdict[] = new Array(slots);
  private readonly stems = stemTable();
  private readonly allowed: Set<string>;
  private readonly denied: Set<string>;

  /** Names that never smell and names that always do, in any casing and with any separators. */
  constructor(allow: readonly string[] = [], deny: readonly string[] = []) {
    this.allowed = new Set(allow.map(plainName));
    this.denied = new Set(deny.map(plainName));
  }

  /** False for nearly every name: no three letters in a row of it start a telling word. */
  private maySmell(units: Uint16Array, start: number, end: number): boolean {
    if (this.denied.size > 0) return true;
    const { lower } = characterTables();
    const { stems } = this;
    let bits = 0;
    for (let i = start; i < end; i++) {
      bits = ((bits << 5) | (lower[units[i]! & 255]! & 31)) & 0x7fff;
      if (stems[bits] !== 0) return true;
    }
    return end - start < 3;
  }

  judge(name: string): NameVerdict {
    if (this.allowed.size || this.denied.size) {
      const plain = plainName(name);
      if (this.allowed.has(plain)) return { strength: 0, rule: '' };
      if (this.denied.has(plain)) return { strength: 3, rule: 'denied-name' };
    }
    return judgeName(name);
  }

  isAllowed(name: string): boolean {
    return this.allowed.has(plainName(name));
  }

  /** The verdict on the name at [start, end) of the page, whose hash is known. */
  lookUp(page: Page, start: number, end: number, hash: number): NameVerdict | undefined {
    const length = end - start;
    if (length > longestName || !this.maySmell(page.units, start, end)) return undefined;
    const slot = (hash ^ (hash >>> 16)) & (slots - 1);
    if (this.hashes[slot] === hash && this.lengths[slot] === length) return this.verdicts[slot];
    const verdict = this.judge(page.text.slice(start, end));
    this.hashes[slot] = hash;
    this.lengths[slot] = length;
    this.verdicts[slot] = verdict;
    return verdict;
  }
}

const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');
