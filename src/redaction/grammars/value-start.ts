/** Where the value after a name and its sign begins: behind blanks, markup, keywords and type names. */
import type { NamePlace } from '../names/name-place.ts';
import { keyQuote } from '../names/name-surroundings.ts';
import type { Page } from '../scan/page.ts';
import { longestJudged, readBare, readQuoted, skipBlanks } from '../values/value-span.ts';
import { skipMarker, skipVisibility } from '../values/value-wrapping.ts';
import { looksChosen } from '../values/values.ts';
import { valueBelow } from './yaml-values.ts';

/** `**Password:** x`, `<b>Password:</b> x`. */
const closedMarkup = /(?:\*{1,3}|<\/[a-z]{1,10}>)[ \t]{1,4}(?=\S)/y;

/** What bundlers write before a value: `@__PURE__` in a comment. */
const remark = /\/\*[^*\n]{0,80}\*\/[ \t]{0,4}/y;

export function bareText(page: Page, at: number): string {
  const { start, end } = readBare(page, at, { encoded: false, wholeLine: false });
  return page.text.slice(start, Math.min(end, start + longestJudged));
}

/** The start of the value, or -1 if there is no sign (`::`, `==` before anything but a literal). */
export function valueStart(page: Page, place: NamePlace): number {
  const { units } = page;
  let i = place.behind;
  // `password != confirmed`
  let compares = units[place.sign] === 61 && units[place.sign - 1] === 33;
  while (
    (units[i] === 61 || units[i] === 62 || units[i] === 58 || units[i] === 126) &&
    i - place.behind < 3
  ) {
    compares = true;
    i += 1;
  }
  i = skipBlanks(page, i, keyQuote(page, place) !== '');
  if (units[i] === 10 && !page.text.startsWith('- ', i)) {
    const below = skipBlanks(page, i, true);
    if (readQuoted(page, below) && units[below - 1]! <= 32 && page.units[below]! !== 92) i = below;
  }
  const isWalrus = units[place.sign] === 58 && units[place.behind] === 61 && i > place.behind + 1;
  const isDoubled = units[place.sign] === 58 && units[place.behind] === 58 && units[i - 1] === 32;
  if ((isWalrus || isDoubled) && looksChosen(bareText(page, i))) compares = false;
  if (compares && units[place.behind] !== 62 && !readQuoted(page, i)) return -1;
  if (units[place.sign] === 61 && units[i] === 51 && units[i + 1] === 68 && readQuoted(page, i + 2)) i += 2;
  if (units[i] !== 34 || units[place.start - 2] === 91) i = skipVisibility(page, i);
  closedMarkup.lastIndex = i;
  if (closedMarkup.test(page.text)) i = closedMarkup.lastIndex;
  if (units[i] === 10) i = valueBelow(page, place.start, i);
  remark.lastIndex = i;
  if (units[i] === 47 && remark.test(page.text)) i = remark.lastIndex;
  i = skipMarker(page, i);
  if (/[A-Za-z@$]/.test(page.text[i] ?? '') && (units[i + 1] === 34 || units[i + 1] === 39)) i += 1;
  return i;
}
