/**
 * Remembers what judgeName said of each name seen, and holds the host's own lists of names. Nearly all names are turned
 * away by a table of three letters before a string is made of them.
 */

import type { Page } from '../scan/page.ts';
import { judgeName, longestName, type NameVerdict } from './key-names.ts';

/** Names remembered; more are forgotten all at once. */
const mostNames = 4096;

let table: Int32Array | undefined;

/** By the low five bits of three letters, which are the same in both cases: a bit where they stand in a word that judgeName knows. */
function stemTable(): Int32Array {
  if (table) return table;
  table = new Int32Array(1 << 10);
  for (const stem of telling.split(' ')) {
    const [a = 0, b = 0, c = 0] = [...stem].map((letter) => letter.charCodeAt(0) & 31);
    const bits = (a << 10) | (b << 5) | c;
    table[bits >>> 5]! |= 1 << (bits & 31);
  }
  return table;
}

/** Three letters of every telling word, the rarest of them; a test holds this against the vocabulary. */
const telling =
  'pas pwd pwo ras enh cre tok jwt pat bea key aut oau csr xsr sas coo ses sig cod pin otp mfa cvv cvc ' +
  'mne see phr nam hea var fie ara aro rty val str sid dsn hma psk dat ken adg wac hes asl sal loz jel los ' +
  'sif geh seg sek jet pep kek dek lav sse idt new old typ hav p12 pfx api wif lab eme puk sel';

/** Of names in pages: the newest one of each hash, so that a name seen again costs no string. */
const slots = 4096;

interface JudgedName {
  name: string;
  verdict: NameVerdict;
}

export class NameBook {
  private readonly judged: (JudgedName | undefined)[] = new Array(slots);
  /** Of those of one and two ASCII units, by both. */
  private readonly short: (NameVerdict | undefined)[] = new Array(1 << 14);
  private readonly seen = new Map<string, NameVerdict>();
  private readonly allowed: Set<string>;
  private readonly denied: Set<string>;

  /** Names that never smell and names that always do, in any casing and with any separators. */
  constructor(allow: readonly string[] = [], deny: readonly string[] = []) {
    this.allowed = new Set(allow.map(plainName));
    this.denied = new Set(deny.map(plainName));
  }

  /** False for nearly every name: no three letters in a row of it stand in a telling word so. */
  private maySmell(units: Uint16Array, start: number, end: number): boolean {
    if (end - start < 3 || this.denied.size > 0) return true;
    const stems = stemTable();
    let bits = 0;
    for (let i = start; i < end; i++) {
      bits = ((bits << 5) | (units[i]! & 31)) & 0x7fff;
      if ((stems[bits >>> 5]! >>> (bits & 31)) & 1) return true;
    }
    return (units[end - 1]! | 32) === 119 && (units[end - 2]! | 32) === 112;
  }

  judge(name: string): NameVerdict {
    const known = this.seen.get(name);
    if (known) return known;
    const verdict = this.judgeNew(name);
    if (name.length > longestName) return verdict;
    if (this.seen.size >= mostNames) this.seen.clear();
    this.seen.set(name, verdict);
    return verdict;
  }

  private judgeNew(name: string): NameVerdict {
    if (this.allowed.size || this.denied.size) {
      const plain = plainName(name);
      if (this.allowed.has(plain)) return harmlessName;
      if (this.denied.has(plain)) return { strength: 3, rule: 'denied-name' };
    }
    return mayTell(name) ? judgeName(name) : harmlessName;
  }

  isAllowed(name: string): boolean {
    return this.allowed.has(plainName(name));
  }

  /** The verdict on the name at [start, end) of the page; undefined when it cannot tell of a secret. */
  lookUp(page: Page, start: number, end: number): NameVerdict | undefined {
    const { units, text } = page;
    if (end - start > longestName || !this.maySmell(units, start, end)) return undefined;
    const second = end - start === 2 ? units[start + 1]! : 0;
    if (end - start < 3 && end > start && (units[start]! | second) < 128) {
      const both = (units[start]! << 7) | second;
      this.short[both] ??= this.judge(text.slice(start, end));
      return this.short[both];
    }
    let hash = 0;
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ units[i]!, 0x9e3779b1);
    const slot = (hash >>> 16) & (slots - 1);
    const last = this.judged[slot];
    if (last && last.name.length === end - start && text.startsWith(last.name, start)) return last.verdict;
    const name = text.slice(start, end);
    const verdict = this.judge(name);
    this.judged[slot] = { name, verdict };
    return verdict;
  }
}

const harmlessName: NameVerdict = { strength: 0, rule: '' };

/**
 * As maySmell for a name that is no part of a page: false where judgeName finds nothing. It reads words that stand together as one (`o-t-p`), so what is no letter and no
 * digit is passed over here. Names of three letters and fewer are not asked about.
 */
function mayTell(name: string): boolean {
  const stems = stemTable();
  let bits = 0;
  let letters = 0;
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i);
    // Some become an ASCII letter in lower case.
    if (unit > 127) return true;
    const letter = unit | 32;
    if ((letter < 97 || letter > 122) && (unit < 48 || unit > 57)) continue;
    letters += 1;
    bits = ((bits << 5) | (unit & 31)) & 0x7fff;
    if ((stems[bits >>> 5]! >>> (bits & 31)) & 1 || (bits & 0x3ff) === pw) return true;
  }
  return letters <= 3;
}

/** The two letters of the one telling word that is too short for the table. */
const pw = (16 << 5) | 23;

const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');
