/**
 * Text around a name that belongs to it: `api.key`, `API Key`, `password for bob is`, the element around an attribute, the quote
 * that closes it, the sign of a query before it.
 */

import { elementAround, parentElement } from '../grammars/markup.ts';
import { characterTables, wordUnit } from '../scan/characters.ts';
import type { Page } from '../scan/page.ts';
import { startsLine } from '../values/value-span.ts';
import type { NameVerdict } from './key-names.ts';
import type { NameBook } from './name-book.ts';
import type { NamePlace } from './name-place.ts';

/** `api.key`, `API Key`: includes the word before the name. The name's first letter may belong to an escape. */
export function widenName(page: Page, names: NameBook, place: NamePlace, verdict: NameVerdict): NameVerdict {
  const { units, text } = page;
  const before = units[place.start - 1]!;
  if (before === 92 || (units[place.start - 2] === 92 && before > 96)) {
    const whole = names.judge(text.slice(before === 92 ? place.start : place.start - 1, place.end));
    return whole.strength > verdict.strength ? whole : verdict;
  }
  if (!/^(?:key|authorization-code|session|phrase)$/.test(verdict.rule) || (before !== 46 && before !== 32))
    return verdict;
  const wide = names.judge(text.slice(startOfPair(units, place.start), place.end));
  return isStronger(wide, before === 32) ? wide : verdict;
}

/** Where the word before the sign before a name begins. */
function startOfPair(units: Uint16Array, nameStart: number): number {
  const { classes } = characterTables();
  let start = nameStart - 1;
  while (start > 0 && nameStart - start < 24 && classes[units[start - 1]!]! & wordUnit) start -= 1;
  return start;
}

const isStronger = ({ strength, rule }: NameVerdict, isSpoken: boolean): boolean =>
  isSpoken ? strength === 3 || rule === 'one-time-code' : strength > 0;

/** The start of the word that widenName adds to a weak name; -1 if there is none. */
export const pairStart = (units: Uint16Array, nameStart: number): number =>
  units[nameStart - 1] === 46 || units[nameStart - 1] === 32 ? startOfPair(units, nameStart) : -1;

/** What widenName asks of both words, with the sign between them. */
export const isStrongPair = (names: NameBook, pair: string, sign: string): boolean =>
  isStronger(names.judge(pair), sign === ' ');

/** For the `is` of `password is: x`. */
export function verdictBeforeIs(page: Page, names: NameBook, place: NamePlace): NameVerdict | undefined {
  if (place.end - place.start !== 2 || !page.text.startsWith('is', place.start)) return undefined;
  const before = page.text.slice(Math.max(0, place.start - 90), place.start);
  const word = /(\w{3,40})(?: for [\w.@-]{1,40})? $/.exec(before)?.[1];
  const verdict = word === undefined ? undefined : names.judge(word);
  return verdict && verdict.strength === 3 ? verdict : undefined;
}

const block = /"([\w.-]{2,60})" ?\{\s{1,20}$/;

/** `output "db_password" {` and similar blocks, right before a name that starts a line. */
function blockAround({ text, units }: Page, place: NamePlace): string | undefined {
  if (units[place.start - 1]! > 32) return undefined;
  return block.exec(text.slice(Math.max(0, place.start - 90), place.start))?.[1];
}

const fieldOfSecret = /^(?:secret)?(?:name|keys?|type|path|ref|id|namespace|value|data):$/i;

/** `secret: DEPLOY_KEY = x`: the apparent value is a name with its own sign. */
export function isNextName({ text, units }: Page, { start, end }: { start: number; end: number }): boolean {
  // `secret: name: db, key: password`. Any other word may be the secret of an error: `password=hunter2: access denied`.
  if (units[end] === 32 && units[end - 1] === 58) return fieldOfSecret.test(text.slice(start, end));
  if (units[end] !== 32 || units[end + 1] !== 61 || end - start > 60) return false;
  return /^[A-Z][A-Z_\d]+$/.test(text.slice(start, end));
}

/** For `value` and similar names: the verdict on the name of the element or block around. */
export function verdictOfElement(page: Page, names: NameBook, place: NamePlace): NameVerdict | undefined {
  const name = elementAround(page, place) ?? parentElement(page, place) ?? blockAround(page, place);
  const verdict = name === undefined ? undefined : names.judge(name);
  return verdict && verdict.strength >= 2 && !verdict.form ? verdict : undefined;
}

/** `arn:aws:secretsmanager:…:secret:name`. */
export function isResourceName(page: Page, place: NamePlace): boolean {
  return /\b[au]rn:[\w:/.-]{0,100}$/.test(page.text.slice(Math.max(0, place.start - 110), place.start));
}

/** `checksum/secret`: of a secret's file, written by charts so that a change of it restarts what uses it. */
export const isChecksumOf = ({ text }: Page, { start, behind }: NamePlace): boolean =>
  /\b(?:checksum|digest|hash|sha\d{1,3})\/$/i.test(text.slice(Math.max(0, start - 12), start)) &&
  /^\s{0,4}["']?(?:sha\d{1,3}[:-])?[\da-f]{32,128}(?![\w-])/i.test(text.slice(behind, behind + 160));

/** The quote (with its backslashes) that closes the name, or ''. */
export function keyQuote({ text }: Page, place: NamePlace): string {
  const between = text.slice(place.end, place.sign);
  return /^(?:\\*["'`]|%(?:25)*22|&quot;|\\+u0022)/.exec(between)?.[0] ?? '';
}

/** `?code=`, `&sig=`: only in a query. */
export function isQuery(page: Page, place: NamePlace): boolean {
  const { units } = page;
  const before = units[place.start - 1];
  return (
    before === 63 ||
    before === 38 ||
    before === 35 ||
    before === 59 ||
    place.encoded ||
    startsLine(page, place.start)
  );
}
