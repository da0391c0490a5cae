/**
 * The words that may begin a sentence which tells a secret, known at a glance: most words of a text have other
 * letters at their ends or another length than any of them, and are passed by.
 */

import { headingWords } from '../grammars/headed-values.ts';
import { secretKeywords } from '../grammars/keyword-secrets.ts';
import { toldWords } from '../grammars/statement-secrets.ts';
import { characterTables } from '../scan/characters.ts';
import { columnWords } from '../tables/json-columns.ts';
import { boundWords } from '../tables/sql-values.ts';

/** A word's first two letters, its last one and its length, in fifteen bits. */
export function outlineOf(first: number, second: number, last: number, length: number): number {
  return (((first & 31) << 10) | ((second & 31) << 5) | (last & 31)) ^ (Math.imul(length, 0x2f1) & 0x7fff);
}

/** What a word may announce; bits, as one may announce more. */
export const telltale = { spoken: 1, told: 2, values: 4, bound: 8, heading: 16, columns: 32 } as const;

interface TelltaleWord {
  /** In small letters. */
  word: string;
  kinds: number;
}

export class TelltaleWords {
  /** By outline: a bit for those of such words. */
  readonly outlines = new Int32Array(1024);
  private readonly byOutline = new Map<number, TelltaleWord[]>();

  constructor() {
    for (const [word, kinds] of telltaleKinds()) {
      const unit = (at: number): number => word.charCodeAt(at);
      const outline = outlineOf(unit(0), unit(1), unit(word.length - 1), word.length);
      this.outlines[outline >>> 5]! |= 1 << (outline & 31);
      const others = this.byOutline.get(outline);
      if (others) others.push({ word, kinds });
      else this.byOutline.set(outline, [{ word, kinds }]);
    }
  }

  /** The word at [start, end), in any case, whose outline is this. */
  find(units: Uint16Array, start: number, end: number, outline: number): TelltaleWord | undefined {
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
  return kinds;
}
