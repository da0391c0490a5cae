/**
 * The words that may begin a sentence which tells a secret, known at a glance: most words of a text have other
 * letters at their ends or another length than any of them, and are passed by.
 */

import { headingWords } from '../grammars/headed-values.ts';
import { secretKeywords } from '../grammars/keyword-secrets.ts';
import { toldWords } from '../grammars/statement-secrets.ts';
import { columnWords } from '../tables/json-columns.ts';
import { boundWords } from '../tables/sql-values.ts';

/** A word's first two letters, its last one and its length, in fifteen bits. */
export function outlineOf(first: number, second: number, last: number, length: number): number {
  return (((first & 31) << 10) | ((second & 31) << 5) | (last & 31)) ^ (Math.imul(length, 0x2f1) & 0x7fff);
}

/** What a word may announce; bits, as one may announce more. */
export const telltale = { spoken: 1, told: 2, values: 4, bound: 8, heading: 16, columns: 32 } as const;

export function telltaleKinds(): Map<string, number> {
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

/** By outline: a bit for those of such words. */
export function telltaleOutlines(): Int32Array {
  const bits = new Int32Array(1024);
  for (const word of telltaleKinds().keys()) {
    const outline = outlineOf(
      word.charCodeAt(0),
      word.charCodeAt(1),
      word.charCodeAt(word.length - 1),
      word.length,
    );
    bits[outline >>> 5]! |= 1 << (outline & 31);
  }
  return bits;
}
