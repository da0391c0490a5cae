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

export class NameBook {
  private readonly hashes = new Int32Array(slots);
  private readonly lengths = new Uint8Array(slots);
  private readonly verdicts: NameVerdict[] = new Array(slots);
  private readonly judged = new Map<string, NameVerdict>();
  private readonly allowed: Set<string>;
  private readonly denied: Set<string>;

  /** Names that never smell and names that always do, in any casing and with any separators. */
  constructor(allow: readonly string[] = [], deny: readonly string[] = []) {
    this.allowed = new Set(allow.map(plainName));
    this.denied = new Set(deny.map(plainName));
  }

  /** A structure says the same few names again and again. */
  judge(name: string): NameVerdict {
    const known = this.judged.get(name);
    if (known) return known;
    const verdict = this.judgeAnew(name);
    if (this.judged.size < slots && name.length <= longestName) this.judged.set(name, verdict);
    return verdict;
  }

  private judgeAnew(name: string): NameVerdict {
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
    if (length > longestName) return undefined;
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
