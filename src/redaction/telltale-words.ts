/**
 * The words that may begin a sentence which tells a secret, known at a glance: most words of a text have another first
 * letter, last letter or length than any of them, and are passed by.
 */

import { spokenWords } from './spoken-secrets.ts';
import { boundWords } from './sql-values.ts';
import { toldWords } from './told-secrets.ts';

/** A word's first and last letter and its length, in fifteen bits. */
export function outlineOf(first: number, last: number, length: number): number {
  return ((first & 31) << 10) | ((last & 31) << 5) | (length & 31);
}

/** By outline: a bit for those of such words. */
export function telltaleOutlines(): Int32Array {
  const bits = new Int32Array(1024);
  for (const word of [...spokenWords.split(' '), 'values', ...boundWords.split(' '), ...toldWords()]) {
    const outline = outlineOf(word.charCodeAt(0), word.charCodeAt(word.length - 1), word.length);
    bits[outline >>> 5]! |= 1 << (outline & 31);
  }
  return bits;
}
