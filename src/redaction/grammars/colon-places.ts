/**
 * Uses of a colon other than between a name and its value: a bot's token, PHP serialization, `-uuser:password`, media in a
 * data URL, formats of Oracle and PuTTY, the two hashes of an account, a heading above a value, a line of a password file.
 */

import type { NameBook } from '../names/name-book.ts';
import type { NamePlace } from '../names/name-place.ts';
import { characterTables, hexUnit } from '../scan/characters.ts';
import type { Finding, Page } from '../scan/page.ts';
import { findTelegramToken } from '../shapes/inner-sign-tokens.ts';
import { readPuttyLines } from '../shapes/key-blocks.ts';
import { findAloneBelow } from '../speech/headed-values.ts';
import { findGluedUser, findSerialized } from '../tables/paired-values.ts';
import { skipMedia } from './media.ts';
import { findMapLine, findOraclePassword, findPasswordFileLine } from './url-credentials.ts';

/** There is a colon at `place.sign`. Pushes the findings and returns the position where the scan continues, or 0 for none. */
export function readColon(page: Page, names: NameBook, place: NamePlace, out: Finding[]): number {
  const { text, units } = page;
  const length = place.end - place.start;
  if (place.start >= 0 && place.end === place.sign) {
    const bot =
      length >= 8 && length <= 13 && (units[place.start]! < 58 || units[place.start] === 98)
        ? push(out, findTelegramToken(page, place))
        : 0;
    if (bot) return bot;
    if (length === 1 && units[place.start] === 115 && units[place.start - 1] === 59)
      return push(out, findSerialized(page, names, place));
    if (units[place.start] === 45 && text.startsWith('-u', place.start))
      return push(out, findGluedUser(page, place));
    if (length === 4 && units[place.start] === 100 && text.startsWith('data', place.start)) {
      const end = skipMedia(page, place.sign);
      if (end) return end;
    }
    if (length === 4 && units[place.start] === 116 && text.startsWith('thin', place.start))
      return push(out, findOraclePassword(page, place.sign));
    if (length === 13 && text.startsWith('Private-Lines', place.start))
      return readPuttyLines(page, place.start, out);
    if (length === 32 && units[place.behind + 32] !== 58 && isHashPair(page, place))
      return push(out, { start: place.start, end: place.behind + 32, rule: 'password-hash' });
  }
  const before = units[place.start - 1];
  if (place.end === place.sign && (before === 61 || before === 44) && length < 24) {
    const isScope = debugScope.test(text.slice(Math.max(0, place.start - 120), place.start));
    const end = isScope ? scopeEnd(text, place) : 0;
    if (end) return end;
  }
  const next = units[place.behind];
  if (next === 10 || next === 13) {
    const below = push(out, findAloneBelow(page, place.sign));
    if (below) return below;
  }
  return push(out, findPasswordFileLine(page, place.sign) ?? findMapLine(page, place.sign));
}

/** `DEBUG=pw:api,koa:*`: what the package `debug` prints. */
const debugScope = /\bDEBUG=["']?(?:[\w:*.@/-]{1,40},){0,8}$/;

/** The end of the scope, if its parts are plain words; otherwise 0. */
function scopeEnd(text: string, { behind }: NamePlace): number {
  const rest = /^(?:[a-z][a-z-]{0,23}\*?|\*)(?::(?:[a-z][a-z-]{0,23}\*?|\*))*(?=[\s,"']|$)/.exec(
    text.slice(behind, behind + 80),
  );
  return rest ? behind + rest[0].length : 0;
}

/** Pushes a finding, if any. Returns its end, or 0. */
function push(out: Finding[], found: Finding | undefined): number {
  if (!found) return 0;
  out.push(found);
  return found.end;
}

/** `<32 hex digits>:<32 hex digits>` after an account's name and a colon: the password hashes of Windows. */
function isHashPair({ units }: Page, place: NamePlace): boolean {
  if (units[place.start - 1] !== 58) return false;
  const { classes } = characterTables();
  for (let i = 0; i < 32; i++)
    if (!(classes[units[place.start + i]!]! & hexUnit) || !(classes[units[place.behind + i]!]! & hexUnit))
      return false;
  return true;
}
