/**
 * Caches the verdict of judgeName for each name, and holds the host's lists of names. Nearly all names are rejected by a
 * table of three-letter stems before a string is created for them.
 */

import type { Page } from '../scan/page.ts';
import { judgeName, longestName, type NameVerdict } from './key-names.ts';
import { holdsStem, mayHoldStem } from './telling-stems.ts';

/** Limit of the cache; it is cleared when full. */
const mostNames = 4096;

/** For names in pages: the verdict on the latest name of each slot. The names are not stored, only two hashes of each. */
const slotBits = 12;

/**
 * Part of the hashes' multipliers. Texts come from anyone: with public multipliers a name could be found that has the hashes of
 * `password`, and whose verdict would be used for it. Nanoseconds of the clock, because node:crypto takes milliseconds to load.
 */
const secret = Math.imul((performance.timeOrigin * 1e3) | 0, 0x85ebca6b) ^ ((performance.now() * 1e6) | 0);
export const firstFactor = 0x9e3779b1 ^ (secret << 1);
export const otherFactor = 0x2c1b3c6d ^ ((secret >>> 15) & ~1);

/** Kinds of names that the walk may remember, because it can tell most of their values from secrets: values of its memory too. */
export const nameKind = {
  /** Not remembered. */
  other: 0,
  /** Not sensitive. */
  harmless: 1,
  /** A name of another field, like `name` and `type`. */
  label: 2,
  /** A name of what another field or an element names, like `value`. */
  content: 3,
  /** A part of a JSON Web Key, like `d`. */
  part: 4,
  /** Of something that is a secret only if it is random, like `code`. */
  weak: 5,
  /** Both such a name and a label: `key`. */
  key: 6,
  /** `data`, of a manifest. */
  manifest: 7,
} as const;

export class NameBook {
  private readonly firstHash = new Int32Array(1 << slotBits);
  private readonly otherHash = new Int32Array(1 << slotBits);
  private first = 0;
  private other = 0;
  private readonly verdicts: (NameVerdict | undefined)[] = new Array(1 << slotBits);
  /** For names of one or two ASCII units, indexed by both: the index of the verdict in `ofShort`, or 0 if not judged yet. */
  private readonly short = new Uint8Array(1 << 14);
  private readonly ofShort: (NameVerdict | undefined)[] = [undefined];
  private readonly seen = new Map<string, NameVerdict>();
  private readonly allowed: Set<string>;
  private readonly denied: Set<string>;

  /** Names that are never sensitive and names that always are, in any casing and with any separators. */
  constructor(allow: readonly string[] = [], deny: readonly string[] = []) {
    this.allowed = new Set(allow.map(plainName));
    this.denied = new Set(deny.map(plainName));
  }

  /** A name without a known stem may be sensitive as well. */
  get allMaySmell(): boolean {
    return this.denied.size > 0;
  }

  private maySmell(units: Uint16Array, start: number, end: number): boolean {
    return end - start < 3 || this.allMaySmell || holdsStem(units, start, end);
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
    return mayHoldStem(name) ? judgeName(name) : harmlessName;
  }

  isAllowed(name: string): boolean {
    return this.allowed.has(plainName(name));
  }

  /** The verdict on the name at [start, end) of the page; undefined if it can't be sensitive. */
  lookUp({ units, text }: Pick<Page, 'text' | 'units'>, start: number, end: number): NameVerdict | undefined {
    if (end - start > longestName || !this.maySmell(units, start, end)) return undefined;
    const second = end - start === 2 ? units[start + 1]! : 0;
    if (end - start < 3 && end > start && (units[start]! | second) < 128) {
      const both = (units[start]! << 7) | second;
      const index = this.short[both]!;
      if (index > 0) return this.ofShort[index];
      const verdict = this.judge(text.slice(start, end));
      const known = this.ofShort.indexOf(verdict, 1);
      if (known > 0) this.short[both] = known;
      else if (this.ofShort.length < 256) this.short[both] = this.ofShort.push(verdict) - 1;
      return verdict;
    }
    const slot = this.slotOf(units, start, end);
    if (this.firstHash[slot] === this.first && this.otherHash[slot] === this.other)
      return this.verdicts[slot];
    const { first, other } = this;
    const verdict = this.judge(text.slice(start, end));
    this.firstHash[slot] = first;
    this.otherHash[slot] = other;
    this.verdicts[slot] = verdict;
    return verdict;
  }

  /**
   * Whether lookUp would find nothing, without judging the name; also false for a name that was not judged yet. Costs a few
   * steps.
   */
  isHarmless(units: Uint16Array, start: number, end: number): boolean {
    if (end - start > 2 && (end - start > longestName || !this.maySmell(units, start, end))) return true;
    const verdict = this.latest(units, start, end);
    return verdict !== undefined && isNothing(verdict);
  }

  /** One of `nameKind`; judges the name at [start, end) of the text if it was not judged lately. */
  kindOf(text: string, units: Uint16Array, start: number, end: number): number {
    const verdict = this.latest(units, start, end) ?? this.lookUp({ text, units }, start, end);
    if (verdict === undefined || isNothing(verdict)) return nameKind.harmless;
    const { strength, form, rule } = verdict;
    if (strength > 1) return nameKind.other;
    if (strength === 1) {
      if (form === 'label') return nameKind.key;
      if (form === undefined && rule.startsWith('jwk-')) return nameKind.part;
      return (form === undefined || form === 'code') && rule !== 'session' && rule !== 'cookie'
        ? nameKind.weak
        : nameKind.other;
    }
    if (form === 'manifest') return nameKind.manifest;
    if (rule === 'selector') return nameKind.other;
    return form === 'label' ? nameKind.label : form === 'content' ? nameKind.content : nameKind.other;
  }

  /** The verdict on the name, if it is the latest of its slot. */
  private latest(units: Uint16Array, start: number, end: number): NameVerdict | undefined {
    if (end - start < 3) {
      const second = end - start === 2 ? units[start + 1]! : 0;
      if ((units[start]! | second) > 127) return undefined;
      return this.ofShort[this.short[(units[start]! << 7) | second]!];
    }
    const slot = this.slotOf(units, start, end);
    const isOwn = this.firstHash[slot] === this.first && this.otherHash[slot] === this.other;
    return isOwn ? this.verdicts[slot] : undefined;
  }

  /** Sets `first` and `other` to the two hashes of the name. Returns its slot. */
  private slotOf(units: Uint16Array, start: number, end: number): number {
    let first = end - start;
    let other = 1;
    for (let i = start; i < end; i++) {
      first = Math.imul(first ^ units[i]!, firstFactor);
      other = (Math.imul(other, otherFactor) + units[i]!) | 0;
    }
    this.first = first;
    this.other = other;
    return first >>> (32 - slotBits);
  }
}

const isNothing = ({ strength, form }: NameVerdict): boolean => strength === 0 && form === undefined;

const harmlessName: NameVerdict = { strength: 0, rule: '' };

const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');
