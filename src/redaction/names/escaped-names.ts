/**
 * Names in which letters are written as escapes (`p\\u0061ssword`, `pass\\x77ord`), by serializers that escape everything or
 * in order to hide a name. Finds only the name and its sign; callers judge the name and read the value.
 */
import { alnum, characterTables, wordUnit } from '../scan/characters.ts';
import { escapeMask, escapeShift, readEscape } from '../scan/escapes.ts';
import type { Page } from '../scan/page.ts';
import { skipBlanks } from '../values/value-span.ts';
import type { NamePlace } from './name-place.ts';

const longest = 80;

/** The name around the escape at `at` and the position of its sign; undefined if no sign follows. */
export function findEscapedName(page: Page, at: number): { name: string; place: NamePlace } | undefined {
  const { classes } = characterTables();
  const { units } = page;
  let start = at;
  while (start > 0 && at - start < longest && classes[units[start - 1]!]! & wordUnit) start -= 1;
  // The word continues from an earlier escape, at which all of it was already read.
  if (units[start - 1] === 92) return undefined;
  let name = page.text.slice(start, at);
  let end = at;
  while (end - start < longest * 4) {
    const packed = units[end] === 92 ? readEscape(units, end) : 0;
    const stands = packed & escapeMask;
    if (packed !== 0 && classes[stands]! & alnum) {
      name += String.fromCharCode(stands);
      end += packed >>> escapeShift;
    } else if (classes[units[end]!]! & wordUnit) {
      name += page.text[end];
      end += 1;
    } else break;
  }
  const sign = skipBlanks(page, behindQuote(page, end), false);
  if (units[sign] !== 58 && units[sign] !== 61) return undefined;
  return { name, place: { start, end, sign, behind: sign + 1, encoded: false } };
}

function behindQuote({ units }: Page, at: number): number {
  let i = at;
  while (units[i] === 92) i += 1;
  return units[i] === 34 || units[i] === 39 ? i + 1 : at;
}
