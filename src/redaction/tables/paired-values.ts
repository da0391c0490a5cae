/**
 * A name and its value with a separator that is no sign elsewhere: the bars of a table, the comma of a CSV line, an arrow,
 * the lengths in PHP serialization, the colon of `-uuser:password`, the quotes of a list of users. Because bars and commas
 * separate anything, the value must look like a password.
 */

import type { NameBook } from '../names/name-book.ts';
import type { NamePlace } from '../names/name-place.ts';
import { characterTables, wordUnit } from '../scan/characters.ts';
import { textBefore } from '../scan/escapes.ts';
import { type Finding, type Page, userListRule } from '../scan/page.ts';
import { nameByShape } from '../scan/shape-table.ts';
import { findSpoken } from '../speech/keyword-secrets.ts';
import { isExampleWords } from '../values/example-values.ts';
import { isPassphrase, isPhraseOfWords, isTypedWord } from '../values/plain-words.ts';
import { looksRandom } from '../values/randomness.ts';
import { isStandIn } from '../values/stand-ins.ts';
import { readBare, readQuoted, skipBlanks } from '../values/value-span.ts';
import { isSecretValue, looksChosen } from '../values/values.ts';

const bar = (unit: number): boolean => unit === 124 || unit === 0x2502;
const asTyped = { quoted: true, tight: false, startsLine: true, endsLine: true, next: 0 };

/** `| name | value |`. There is a bar at `place.sign`. */
/** `auth0|65f1c0a7e4b0a1b2c3d4e5f6`: whose account it is. */
const account = /auth0\|[\da-f]{24}(?![\w-])/y;

export function findInCell(page: Page, names: NameBook, place: NamePlace): Finding | undefined {
  if (place.sign - place.end > 60) return undefined;
  account.lastIndex = place.start;
  if (account.test(page.text)) return undefined;
  const found = findPaired(page, names, place, skipBlanks(page, place.behind, false));
  if (!found || isUnion(page, place.start, found.start)) return undefined;
  const after = skipBlanks(page, found.end + (/["'`]/.test(page.text[found.end] ?? '') ? 1 : 0), false);
  const unit = page.units[after]!;
  return bar(unit) || unit === 10 || unit === 13 || unit === 0 ? found : undefined;
}

const typeName = /^[A-Z]+[a-z]+(?:[A-Z][a-z]+)+(?=\s)/;

/** `'tokens_p50' | 'tokens_p99'`, `IPasswordOptions | ITokenOptions`: literals and types, not cells. */
function isUnion({ text }: Page, name: number, value: number): boolean {
  if (typeName.test(text.slice(name, name + 80)) && typeName.test(text.slice(value, value + 80))) return true;
  const quote = text[name - 1];
  return (quote === '"' || quote === "'") && text[value - 1] === quote;
}

/** `name,value` as a whole line. */
export function findInRow(page: Page, names: NameBook, place: NamePlace): Finding | undefined {
  const before = page.units[place.start - 1] ?? 10;
  if (before !== 10) return undefined;
  const found = findPaired(page, names, place, place.behind);
  const after = found ? page.units[found.end]! : 32;
  return after === 10 || after === 13 || after === 0 || after === 44 ? found : undefined;
}

const pairLine = /"([\w-]{1,39})" "([^"\n\\]{4,200})"(?: "[^"\n]{0,200}"){0,4}[ \t]*(?=\r?\n|\0|$)/y;

const hashed = /^(?:md5[\da-f]{32}$|SCRAM-SHA-256\$)/;
const hashedLine = /(?:^|\n)"[\w-]{1,39}" "(?:md5[\da-f]{32}"|SCRAM-SHA-256\$)/;
/** What is said of a list before its lines: `; users`, `userlist:`. */
const listHead = /(?:(?:^|\n)[ \t]{0,4};[^\n]{0,200}|userlist[^\n]{0,80})\n(?:"[^\n]{0,300}\n)*$/i;
/** How much text is examined on each side of a line. */
const reach = 500;

/**
 * `"user" "password"` as a whole line of a pooler's list of users. The line starts at `start`. Two quoted words are much else, so a
 * password that is not hashed is found only in what must be such a list: beside a hash, below its head, or before `""`.
 */
export function findInPair({ text }: Page, start: number): Finding | undefined {
  pairLine.lastIndex = start;
  const [line = '', user, value = ''] = pairLine.exec(text) ?? [];
  if (user === undefined) return undefined;
  if (!hashed.test(value) && (!looksChosen(value) || !isInUserList(text, start, line))) return undefined;
  const at = start + user.length + 4;
  return { start: at, end: at + value.length, rule: userListRule };
}

function isInUserList(text: string, start: number, line: string): boolean {
  if (line.trimEnd().endsWith(' ""')) return true;
  const before = text.slice(Math.max(0, start - reach), start);
  const behind = text.slice(start + line.length, start + line.length + reach);
  return listHead.test(before) || hashedLine.test(before) || hashedLine.test(behind);
}

/**
 * `NAME value`, as in many tools' files and in Lisp: the name has several words, and the value is random, or quoted and looks
 * chosen.
 */
export function findBehindBlank(
  page: Page,
  names: NameBook,
  start: number,
  end: number,
): Finding | undefined {
  const verdict = names.lookUp(page, start, end);
  if (!verdict || verdict.strength < 2 || verdict.form) return undefined;
  if (verdict.rule === 'password' && verb.test(page.text.slice(end, end + 12)))
    return findSpoken(page, 'password', start, end);
  fallback.lastIndex = end;
  const isFallback = fallback.test(page.text);
  const quoted = readQuoted(page, isFallback ? fallback.lastIndex : end + 1);
  const span = quoted ?? readBare(page, end + 1, { encoded: false, wholeLine: false });
  if (span.end - span.start > 400) return undefined;
  const value = page.text.slice(span.start, span.end);
  const isRandom = looksRandom(value, 12) && /\d/.test(value) && /[A-Za-z]/.test(value);
  // A line of a file: `mavenPassword sunflower`.
  if (
    verdict.strength === 3 &&
    verdict.rule === 'password' &&
    isWholeLine(page, start, span.end) &&
    !isStandIn(value)
  )
    if (looksChosen(value) || isTypedWord(value)) return nameByShape(page, span, verdict.rule);
  if (!(quoted && verdict.strength === 3) && !isRandom) return undefined;
  const isWord =
    quoted &&
    verdict.rule === 'password' &&
    verdict.strength === 3 &&
    isTypedWord(value) &&
    !isStandIn(value);
  // In a program that is published an example stands there.
  const isPhrase =
    isFallback &&
    !isExampleWords(value) &&
    ((onlyWords.test(value) && isPassphrase(value)) ||
      (verdict.strength === 3 && verdict.rule !== 'token' && isPhraseOfWords(value, 0.3)));
  return (isWord || isPhrase || looksChosen(value)) && !/[([{/]/.test(value)
    ? nameByShape(page, span, verdict.rule)
    : undefined;
}

const mentioned =
  /[\]}%"'`] (?:is|was|resolved to|resolves to|(?:is |was )?set to|has (?:the )?value) (?=\S)/y;

/** `value of variable [DB_PASS] is x`, `%env.STORE_PIN% resolved to x` */
export function findMentioned(page: Page, names: NameBook, start: number, end: number): Finding | undefined {
  const verdict = names.lookUp(page, start, end);
  if (!verdict || verdict.strength < 2 || verdict.form) return undefined;
  mentioned.lastIndex = end;
  if (!mentioned.test(page.text)) return undefined;
  const at = mentioned.lastIndex;
  const span = readQuoted(page, at) ?? readBare(page, at, { encoded: false, wholeLine: false });
  const value = page.text.slice(span.start, Math.min(span.end, span.start + 400)).replace(/[.!]$/, '');
  const isTold =
    looksChosen(value) ||
    (verdict.rule === 'password' && isTypedWord(value)) ||
    (/^(?:pin|one-time-code)$/.test(verdict.rule) && /^\d{4,8}$/.test(value));
  if (!isTold || isStandIn(value)) return undefined;
  return nameByShape(page, { start: span.start, end: span.start + value.length }, verdict.rule);
}

/** `Das WLAN-Passwort lautet x` */
const verb = /^ (?:is|was|ist|lautet|est|es|to) /;

/** `process.env.DB_PASSWORD || 'x'`: the fallback value. */
const fallback = / (?:\|\||\?\?) (?=\\{0,8}["'`])/y;

const onlyWords = /^[A-Za-z]+(?:[-_.][A-Za-z]+)+$/;

const isWholeLine = ({ units }: Page, start: number, end: number): boolean =>
  (start === 0 || units[start - 1] === 10) && (units[end] === 10 || units[end] === 0 || units[end] === 13);

const mayEndName = (unit: number): boolean =>
  (characterTables().classes[unit]! & wordUnit) !== 0 || unit === 46;
const arrowName = /([\w.-]{2,80})["'`]?(?:\s{0,8}[=:]\s{0,8}["'`][^"'`\n]{0,200}["'`])? -$/;

/**
 * `name -> value`, `name = "old" -> "new"`. There is a `>` at `place.sign`, and the word before it is the `-` of the arrow.
 */
export function findBehindArrow(page: Page, names: NameBook, place: NamePlace): Finding | undefined {
  const { units } = page;
  // The arrow of a function, and of a type: no name and no literal before it.
  if (units[place.sign - 1] !== 45 || units[place.sign - 2] !== 32) return undefined;
  const last = units[place.sign - 3]!;
  if (!mayEndName(last) && last !== 34 && last !== 39 && last !== 96) return undefined;
  const before = page.text.slice(Math.max(0, place.sign - 320), place.sign);
  const match = arrowName.exec(before);
  const name = match?.[1];
  if (!match || name === undefined) return undefined;
  const start = place.sign - before.length + match.index;
  const at = skipBlanks(page, place.behind, false);
  return findPaired(page, names, { ...place, start, end: start + name.length }, at);
}

/** `s:8:"password";s:9:"value";`. The colon of the second `s:` is at `place.sign`. */
export function findSerialized(page: Page, names: NameBook, place: NamePlace): Finding | undefined {
  const before = /"([\w.-]{2,80})\\*";$/.exec(page.text.slice(Math.max(0, place.start - 96), place.start));
  if (!before) return undefined;
  const length = /^\d{1,6}:/.exec(page.text.slice(place.behind, place.behind + 8))?.[0].length;
  const verdict = names.judge(before[1]!);
  const span = length === undefined ? undefined : readQuoted(page, place.behind + length);
  if (!span || verdict.strength < 2 || span.end - span.start > 4096) return undefined;
  const value = page.text.slice(span.start, span.end);
  return isSecretValue(value, verdict, asTyped) ? nameByShape(page, span, verdict.rule) : undefined;
}

const gluedUser = /:([^\s"'\\]{2,200})/y;

/** `curl -uuser:password`. The word before the colon starts with `-u`. */
export function findGluedUser(page: Page, place: NamePlace): Finding | undefined {
  if (!/\b(?:curl|http|https|wget)\b[^\n|;]{0,160}$/.test(textBefore(page, place.start, 180)))
    return undefined;
  gluedUser.lastIndex = place.sign;
  const password = gluedUser.exec(page.text)?.[1];
  if (password === undefined || isStandIn(password)) return undefined;
  return { start: place.sign + 1, end: place.sign + 1 + password.length, rule: 'password' };
}

function findPaired(page: Page, names: NameBook, place: NamePlace, at: number): Finding | undefined {
  const verdict = names.lookUp(page, place.start, place.end);
  if (!verdict || verdict.strength < 2) return undefined;
  const span = readQuoted(page, at) ?? readBare(page, at, { encoded: false, wholeLine: false });
  if (span.end - span.start > 1024) return undefined;
  const value = page.text.slice(span.start, span.end);
  const isWord =
    verdict.rule === 'password' && verdict.strength === 3 && !isStandIn(value) && isTypedWord(value);
  if ((!looksChosen(value, verdict.strength) && !isWord) || names.judge(value).strength > 1) return undefined;
  return nameByShape(page, span, verdict.rule);
}
