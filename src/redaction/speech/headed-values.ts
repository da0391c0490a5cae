/**
 * Values on the lines after a heading: recovery codes, the words of a seed phrase, a password alone below `Password for x:`.
 * Reads only a few lines after the heading.
 */
import type { Finding, Page } from '../scan/page.ts';
import { looksRandom } from '../values/randomness.ts';
import { isStandIn } from '../values/stand-ins.ts';
import { looksChosen } from '../values/values.ts';

/** Last words of such headings: `recovery codes`, `seed phrase`, `wallet words`. */
export const headingWords = 'codes code phrase words mnemonic key secret';

const kindBefore =
  /(?:recovery|back-?up|scratch|emergency|one-time|2fa|mfa|rescue|bypass|seed|mnemonic|wallet|secret)[ _-](?:\w{1,12}[ _-])?$/i;
const lineBreak = String.raw`(?:\r?\n|(?:\\{1,8}r)?\\{1,8}n)`;
const toList = new RegExp(String.raw`[^\n\\:]{0,60}(?::?[ \t]{0,4}${lineBreak}{1,2}|:[ \t]{1,4})`, 'y');
const code = String.raw`[A-Za-z\d]{4,12}(?:-[A-Za-z\d]{4,12}){0,3}`;
const listItem = new RegExp(
  String.raw`[ \t>│|]{0,12}(?:\d{1,2}[.):][ \t]{0,4}|[-*•+][ \t]{1,4}|\[[ x]\] )?(${code}(?:[ \t]{1,8}${code}){0,9})[ \t]{0,8}(?=${lineBreak}|["'\x60│|]|$)`,
  'y',
);
const mostLines = 24;
/** Twelve or more words, numbered or not. */
const seedWords = new RegExp(
  String.raw`[^\n\\:=]{0,40}[:=]?\s{0,4}(?:${lineBreak}){0,2}[ \t"'\x60]{0,8}((?:\d{1,2}[.):]?[ \t]{0,3})?[a-z]{3,8}(?:(?:[ ,\t]|${lineBreak}){1,4}(?:\d{1,2}[.):]?[ \t]{0,3})?[a-z]{3,8}){11,23})(?![a-z])`,
  'y',
);
const prose = /\b(?:the|and|for|with|that|you|are|was|has|have|from|must|will|should|not|your|please)\b/;

/** The word at [start, end) ends the subject of a heading. Pushes the values and returns the end of the last one, or 0. */
export function findBelowHeading({ text }: Page, start: number, end: number, out: Finding[]): number {
  const word = text.slice(start, end).toLowerCase();
  if (word === 'key' || word === 'secret') return findGroups(text, end, out);
  if (word !== 'mnemonic' && !kindBefore.test(text.slice(Math.max(0, start - 40), start))) return 0;
  if (word.startsWith('code')) return findCodes(text, end, out);
  seedWords.lastIndex = end;
  const words = seedWords.exec(text)?.[1];
  if (words === undefined || prose.test(words)) return 0;
  const to = seedWords.lastIndex;
  out.push({ start: to - words.length, end: to, rule: 'seed-phrase' });
  return to;
}

const groups =
  /\)?:?[ \t\n"'`]{1,4}((?:[A-Z2-7]{4} ){3,15}[A-Z2-7]{4}|(?:[a-z2-7]{4} ){7,15}[a-z2-7]{4})(?![\w ])/y;

/** A key in groups of four, as displayed for typing into an authenticator. */
function findGroups(text: string, from: number, out: Finding[]): number {
  groups.lastIndex = from;
  const key = groups.exec(text)?.[1];
  if (key === undefined || !/\d/.test(key)) return 0;
  const end = groups.lastIndex;
  out.push({ start: end - key.length, end, rule: 'one-time-secret' });
  return end;
}

const codesInLine = new RegExp(
  String.raw`(?: are|:|=)[ \t]{1,4}(${code}(?:(?:,|;| and| or| &)?[ ]${code}){1,15})(?![\w-])`,
  'iy',
);

/** `backup codes are 4f8ak-9dk2m and 8skw2-kd93m` */
function findCodesInLine(text: string, from: number, out: Finding[]): number {
  codesInLine.lastIndex = from;
  const list = codesInLine.exec(text)?.[1];
  if (list === undefined) return 0;
  const start = codesInLine.lastIndex - list.length;
  const codes = [...list.matchAll(/[^\s,;&]+/g)].filter(([one]) => !/^(?:and|or)$/i.test(one));
  const length = codes[0]![0].length;
  if (length < 6 || !codes.every(([one]) => one.length === length && /\d/.test(one))) return 0;
  for (const { index, 0: one } of codes)
    out.push({ start: start + index, end: start + index + one.length, rule: 'recovery-code' });
  return codesInLine.lastIndex;
}

/** Lines of codes: the first contains a digit, and the others have its length. */
function findCodes(text: string, from: number, out: Finding[]): number {
  toList.lastIndex = from;
  if (!toList.test(text)) return findCodesInLine(text, from, out);
  let at = toList.lastIndex;
  let length = 0;
  let found = 0;
  for (let lines = 0; lines < mostLines; lines++) {
    listItem.lastIndex = at;
    const match = listItem.exec(text);
    if (!match) break;
    const line = match[1]!;
    const codes = line.split(/[ \t]+/);
    length ||= /\d/.test(line) ? codes[0]!.length : -1;
    if (codes.some((one) => one.length !== length) || codes.every((one) => /^(?:19|20)\d\d$/.test(one)))
      break;
    const start = at + match[0].indexOf(line);
    for (const { index, 0: one } of line.matchAll(/[^ \t]+/g))
      out.push({ start: start + index, end: start + index + one.length, rule: 'recovery-code' });
    found = start + line.length;
    const next = new RegExp(lineBreak, 'y');
    next.lastIndex = listItem.lastIndex;
    if (!next.test(text)) break;
    at = next.lastIndex;
  }
  return found;
}

const telling =
  /(?:password|passwd|passphrase|passcode|secret|token|api[ -]?key|credential|recovery key|private key)s?\b[^\n:]{0,70}$/i;
const aloneBelow = /(?:[ \t]{0,4}\r?\n){1,2}[ \t>│]{0,12}["'`]?([^\s"'`]{8,200})["'`]?[ \t]*(?=\r?\n|$)/y;

/** The colon at `sign` ends a line that mentions a secret, and the next line is a single word. */
export function findAloneBelow({ text }: Page, sign: number): Finding | undefined {
  aloneBelow.lastIndex = sign + 1;
  const value = aloneBelow.exec(text)?.[1];
  if (value === undefined || /[:=(){}<>[\],;]/.test(value) || isStandIn(value)) return undefined;
  const before = text.slice(Math.max(0, sign - 120), sign);
  const heading = before.slice(before.lastIndexOf('\n') + 1);
  const match = telling.exec(heading);
  if (!match) return undefined;
  const isPassword = /^pass/i.test(match[0]);
  if (!(isPassword ? looksChosen(value, 3) : looksRandom(value, 16) && looksChosen(value))) return undefined;
  const start = text.indexOf(value, sign + 1);
  return { start, end: start + value.length, rule: isPassword ? 'password' : 'secret' };
}
