/**
 * Values after command-line flags: `--token value`, `"--token", "value"`, `-u user:password`, and the short flags of tools
 * that take a password.
 */
import type { NameBook } from '../names/name-book.ts';
import { alnum, characterTables } from '../scan/characters.ts';
import { textBefore } from '../scan/escapes.ts';
import type { Finding, Page } from '../scan/page.ts';
import { nameByShape } from '../scan/shape-table.ts';
import { isPublicId } from '../values/public-ids.ts';
import { looksRandom } from '../values/randomness.ts';
import { isFillIn, isStandIn } from '../values/stand-ins.ts';
import { readBare, readQuoted, type ValueSpan, wholeLiteral } from '../values/value-span.ts';
import { isSecretValue } from '../values/values.ts';

const between = /(?:\\*["'])?(?:,?\s{1,8}|,|\0)(?:<<<[ ]?|a\d{1,2}=)?(?=\S)/y;
const asTyped = { quoted: true, tight: false, startsLine: false, endsLine: false, next: 0 };
/** Commands whose `-p`, `-a` or `-w` is a password. */
/** Of words, as flags are: not `--S3cr3t!x9Q`. */
const longFlag = /^--[a-z]+\d?(?:-[a-z]+\d?){0,7}=?$/i;

const passwordCommands =
  /\b(?:sshpass|docker login|podman login|helm registry login|redis-cli|az login|mongo(?:sh|dump|restore|export)?|plink|pscp|cqlsh|smbclient|ldapsearch)\b[^\n|;]{0,160}$/;
/** A user before the flag: `-p` is no port and no path then. */
const userBefore = /[\s"',](?:-u|--user(?:name)?)(?:[\s"',=]{1,4})[\w.@\\-]{1,64}["',]{0,3}\s{0,3}["']?$/;
/** Commands whose `-P`, `-k` or `-K` is a password or a key. */
const otherCommands: Record<string, RegExp> = {
  '-P': /\b(?:unzip|zip|sqlcmd|bcp|isql|mosquitto_(?:pub|sub))\b[^\n|;]{0,160}$/,
  '-k': /\bopenssl enc\b[^\n|;]{0,160}$/,
  '-K': /\bopenssl enc\b[^\n|;]{0,160}$/,
};
const mysqlCommands = /\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump|unrar|rar)\b[^\n|;]{0,160}$/;

/** Returns the secret after a flag that ends at `end`. */
export function findFlagValue(page: Page, names: NameBook, start: number, end: number): Finding | undefined {
  const { units, text } = page;
  if (!mayTell(page, names, start, end)) return undefined;
  const name = text.slice(start, Math.min(end, start + 80));
  if (/^-p/.test(name) && mysqlCommands.test(textBefore(page, start, 180)))
    return findGluedPassword(page, start + 2, end);
  if (name === '-p' && isQuotedValue(page, end) && isCommand(page, start, /\bsshpass\b/))
    return findGluedPassword(page, end, end);
  between.lastIndex = end;
  if (!between.test(text)) return undefined;
  const at = between.lastIndex;
  if (units[at] === 45 || opensCommand(page, at)) return undefined;
  const span = readArgument(page, at) ?? readBare(page, at, { encoded: false, wholeLine: true });
  if (span.end <= span.start || isFillIn(text, at, span.end)) return undefined;
  // `"--token", "--verbose"`: the next flag, or of another such name.
  if (span.quoted && longFlag.test(text.slice(span.start, span.end))) return undefined;
  // The string ends after the flag, and the next one is a key: `"run -u", "test:watch": …`.
  if (span.quoted && units[span.close] === 58) return undefined;
  // `"[-token", "]-token"`: names that end alike.
  if (span.quoted && text.slice(span.start, span.end).endsWith(name)) return undefined;
  if (/^-{1,2}(?:u|user|proxy-user)$/.test(name)) return findUserPair(page, span);
  const verdict = /^-[pawPkK]$/.test(name) ? shortFlag(page, start) : names.lookUp(page, start, end);
  if (!verdict || verdict.strength < 2) {
    // `-k x`, `--key x`: any tool may take a token this way, so the value must look like nothing else.
    const value = text.slice(span.start, Math.min(span.end, span.start + 300));
    const isToken =
      (/^-{1,2}(?:[a-z]|[a-z-]{0,20}key)$/i.test(name) && isDrawn(value)) ||
      (/^--?[a-z-]{0,20}key$/.test(name) && isDrawnSmall(value)) ||
      (/^-[tkps]$/.test(name) && signsIn.test(textBefore(page, start, 60)) && isShortToken(value));
    return isToken ? { start: span.start, end: span.end, rule: 'flag' } : undefined;
  }
  if (/^-[pP]$/.test(name) && /^[\d.:/,-]+$/.test(text.slice(span.start, span.end))) return undefined;
  if (!isSecretValue(text.slice(span.start, Math.min(span.end, span.start + 4096)), verdict, asTyped))
    return undefined;
  return { ...nameByShape(page, span, verdict.rule), resume: span.resume };
}

/** `'user:pa"ssword'`. No letter follows the quote that ends a string of JSON. */
function readArgument(page: Page, at: number): ValueSpan | undefined {
  const span = readQuoted(page, at);
  const isWithin = span && characterTables().classes[page.units[span.end + 1]!]! & alnum;
  return isWithin ? wholeLiteral(page, span) : span;
}

/** `-Password (ConvertTo-SecureString 'x' …)`: the value is within the brackets, and the command's own rule finds it. */
const cmdlet = /\((?:[A-Z][a-z]+)+-[A-Z][A-Za-z]+[ ]/y;

function opensCommand({ text, units }: Page, at: number): boolean {
  if (units[at] !== 40) return false;
  cmdlet.lastIndex = at;
  return cmdlet.test(text);
}

/** False for nearly all flags: long ones that don't name a secret, a key or a user. */
function mayTell(page: Page, names: NameBook, start: number, end: number): boolean {
  const { units, text } = page;
  if (units[start + 1] === 112 || end - start < 4) return true;
  if (/^(?:key|ser)$/i.test(text.slice(end - 3, end))) return true;
  const verdict = names.lookUp(page, start, end);
  return verdict !== undefined && verdict.strength >= 2;
}

/** `tool auth -t x`, `tool login -k x`: commands that sign in take a token, even a short one. */
const signsIn = /\b(?:auth|login|signin|configure|connect)\b[^\n|;]{0,40}$/;
const isShortToken = (value: string): boolean =>
  /^[\w-]{10,64}$/.test(value) && /\d.*\d/.test(value) && looksRandom(value, 10) && !isPublicId(value);
const isDrawnSmall = (value: string): boolean =>
  /^[a-z0-9]{24,}$/.test(value) && /(?:.*\d){4}/.test(value) && /[g-z]/.test(value) && looksRandom(value, 24);
const isDrawn = (value: string): boolean =>
  /^\w{20,}$/.test(value) &&
  /[a-z].*[a-z]/.test(value) &&
  /[A-Z].*[A-Z]/.test(value) &&
  looksRandom(value, 20) &&
  !isPublicId(value);

function shortFlag(page: Page, start: number) {
  const before = textBefore(page, start, 180);
  const letter = page.text[start + 1];
  const telling = otherCommands[`-${letter}`] ?? passwordCommands;
  const isPassword =
    telling.test(before) || (letter === 'p' && userBefore.test(before) && !mysqlCommands.test(before));
  return isPassword ? ({ strength: 3, rule: 'password' } as const) : undefined;
}

/** `-p'x'`, and not the closing quote of the flag itself. */
const isQuotedValue = ({ units }: Page, at: number): boolean =>
  (units[at] === 39 || units[at] === 34) && units[at + 1]! > 32 && units[at + 1] !== 44;

const isCommand = (page: Page, start: number, command: RegExp): boolean =>
  command.test(textBefore(page, start, 40));

/** `--user=name:password`. `place` is the sign after the flag. */
export function findFlagPair(
  page: Page,
  place: { start: number; end: number; behind: number },
): Finding | undefined {
  const name = page.text.slice(place.start, Math.min(place.end, place.start + 14));
  if (name !== '--user' && name !== '--proxy-user') return undefined;
  const span =
    readQuoted(page, place.behind) ?? readBare(page, place.behind, { encoded: false, wholeLine: false });
  return findUserPair(page, span);
}

/** `mysql -psecret`, `mysql -p'secret'`. */
function findGluedPassword(page: Page, from: number, end: number): Finding | undefined {
  const quoted = from === end ? readQuoted(page, end) : undefined;
  const span = quoted ?? { start: from, end: readBare(page, from, { encoded: false, wholeLine: true }).end };
  const value = page.text.slice(span.start, span.end);
  if (value.length < 3 || isStandIn(value)) return undefined;
  return { start: span.start, end: span.end, rule: 'password' };
}

/** `-u name:password`. */
function findUserPair(page: Page, span: ValueSpan): Finding | undefined {
  const value = page.text.slice(span.start, Math.min(span.end, span.start + 300));
  const colon = value.indexOf(':');
  const password = value.slice(colon + 1);
  if (
    colon < 1 ||
    value.includes('[redacted:') ||
    isStandIn(password) ||
    /^\d{1,5}$/.test(password) ||
    password.startsWith('//')
  )
    return undefined;
  return { start: span.start + colon + 1, end: span.end, rule: 'password' };
}
