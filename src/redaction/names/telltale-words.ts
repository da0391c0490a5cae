/**
 * The words that may start a statement that contains a secret. Most other words are rejected quickly, because they differ
 * from all of these in their first or last letters or in length.
 */

import { characterTables } from '../scan/characters.ts';
import { headingWords } from '../speech/headed-values.ts';
import { secretKeywords } from '../speech/keyword-secrets.ts';
import { codeWords } from '../speech/said-codes.ts';
import { pieceWords, saidWords } from '../speech/said-words.ts';
import { toldWords } from '../statements/statement-secrets.ts';
import { columnWords } from '../tables/json-columns.ts';
import { boundWords } from '../tables/sql-values.ts';
import { needRows, rowsByWord } from './telltale-needs.ts';

/** Fifteen bits from the first two letters, the middle one and the last one, the same in both cases, and the length. */
export function outlineOf(units: Uint16Array, start: number, end: number): number {
  const front = (units[start]! & 31) | ((units[start + 1]! & 31) << 5);
  const back = (units[(start + end) >> 1]! & 31) | ((units[end - 1]! & 31) << 5);
  return Math.imul(front ^ (back << 10) ^ ((end - start) << 20), 0x9e3779b1) >>> 17;
}

/** What a word may announce; bits, because a word may have several. */
export const telltale = {
  spoken: 1,
  told: 2,
  values: 4,
  bound: 8,
  heading: 16,
  columns: 32,
  said: 64,
  code: 128,
} as const;

/** Classes of what may follow a telltale word; the kernel's followOf tells the class of a unit. */
export const follow = {
  /** A space, a line's end, or the end of the text. */
  blank: 1,
  /** A tab, or the backslash of an escape. */
  control: 2,
  quote: 4,
  /** `(` `[` `{` `]` */
  bracket: 8,
  /** `:` `=` */
  sign: 16,
  /** `/` `.` `,` `;` */
  stop: 32,
  other: 64,
  /** No class: the word must stand behind a blank or at the start of a line. */
  behindBlank: 128,
} as const;

const anything = 127;

/**
 * For the words that are common in programs: the first units of all that their detectors read behind them. The walk skips
 * them before anything else. All other words may be followed by anything.
 */
const followedBy: Record<string, number> = followTable([
  ['true false', follow.control],
  ['root admin administrator', follow.blank | follow.stop],
  ['use config', follow.blank | follow.control | follow.behindBlank],
  ['show read get access log sign', follow.blank | follow.behindBlank],
  ['user set env arg header define variable echo printf', follow.blank | follow.control],
  ['static', follow.sign],
  ['http https', follow.blank],
  ['su sudo docker podman gh gpg openssl put using send unlock', follow.blank],
  ['values', follow.blank | follow.control | follow.bracket],
  [boundWords, follow.blank | follow.control | follow.quote | follow.bracket | follow.sign],
  [columnWords, follow.control | follow.quote],
  ['codes phrase words verify confirm', anything | follow.behindBlank],
  ['by', (anything & ~(follow.sign | follow.stop)) | follow.behindBlank],
  ['key', anything & ~follow.stop],
  [pieceWords, follow.other],
]);

function followTable(rows: [string, number][]): Record<string, number> {
  return Object.fromEntries(
    rows.flatMap(([words, classes]) => words.split(' ').map((word) => [word, classes])),
  );
}

export interface TelltaleWord {
  /** In lower case. */
  word: string;
  kinds: number;
}

let shared: TelltaleWords | undefined;

/** For all scanners, because every text has several, and the tables are larger than most texts. */
export function telltaleWords(): TelltaleWords {
  shared ??= new TelltaleWords();
  return shared;
}

class TelltaleWords {
  /** A bit for each outline of these words. */
  readonly outlines = new Int32Array(1024);
  /** For each outline, what may follow these words. */
  readonly follows = new Uint8Array(1 << 15);
  /** For each outline, which of `needRows` these words need. */
  readonly needs = new Uint8Array(1 << 15);
  readonly needRows = needRows();
  private readonly byOutline = new Map<number, TelltaleWord[]>();

  constructor() {
    const rows = rowsByWord();
    for (const [word, kinds] of telltaleKinds()) {
      const units = new Uint16Array(word.length);
      for (let at = 0; at < word.length; at++) units[at] = word.charCodeAt(at);
      const outline = outlineOf(units, 0, units.length);
      this.outlines[outline >>> 5]! |= 1 << (outline & 31);
      const classes = followedBy[word] ?? anything;
      const others = this.byOutline.get(outline);
      const before = others ? this.follows[outline]! : follow.behindBlank;
      this.follows[outline] = ((before | classes) & anything) | (before & classes & follow.behindBlank);
      const row = rows.get(word) ?? 0;
      this.needs[outline] = others && row !== this.needs[outline] ? 0 : row;
      if (others) others.push({ word, kinds });
      else this.byOutline.set(outline, [{ word, kinds }]);
    }
  }

  /** The word has the outline of a telltale one. */
  mayBe(units: Uint16Array, start: number, end: number): boolean {
    const outline = outlineOf(units, start, end);
    return ((this.outlines[outline >>> 5]! >>> (outline & 31)) & 1) !== 0;
  }

  /** The word at [start, end), in any case. */
  find(units: Uint16Array, start: number, end: number): TelltaleWord | undefined {
    const outline = outlineOf(units, start, end);
    if (!((this.outlines[outline >>> 5]! >>> (outline & 31)) & 1)) return undefined;
    const { lower } = characterTables();
    for (const candidate of this.byOutline.get(outline)!) {
      const { word } = candidate;
      let at = 0;
      while (start + at < end && lower[units[start + at]!] === word.charCodeAt(at)) at += 1;
      if (start + at === end && at === word.length) return candidate;
    }
    return undefined;
  }
}

function telltaleKinds(): Map<string, number> {
  const kinds = new Map<string, number>();
  const add = (words: readonly string[], kind: number): void => {
    for (const word of words) kinds.set(word, (kinds.get(word) ?? 0) | kind);
  };
  add(secretKeywords.split(' '), telltale.spoken);
  add(toldWords(), telltale.told);
  add(['values'], telltale.values);
  add(boundWords.split(' '), telltale.bound);
  add(headingWords.split(' '), telltale.heading);
  add(columnWords.split(' '), telltale.columns);
  add(saidWords(), telltale.said);
  add(codeWords.split(' '), telltale.code);
  return kinds;
}
