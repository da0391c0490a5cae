/**
 * Recognizes most values from a few units, without creating a string: names that are not sensitive, and short words. False
 * only means that the value must be read.
 */

import type { NameBook } from '../names/name-book.ts';
import { base64Unit, characterTables, wordUnit } from '../scan/characters.ts';
import type { Page } from '../scan/page.ts';

/** The private part of a key is longer. */
const shortestPart = 16;

/** A literal follows the sign that ends before `behind`, and it is not the name of a credential. */
export function holdsPlainName(page: Page, names: NameBook, behind: number): boolean {
  const { units } = page;
  const { classes } = characterTables();
  let start = units[behind] === 32 ? behind + 1 : behind;
  const isEscaped = units[start] === 92;
  if (isEscaped) start += 1;
  const quote = units[start]!;
  if (quote !== 34 && quote !== 39) return false;
  start += 1;
  let end = start;
  // Characters of paths: `/prod/db/password`.
  while (classes[units[end]!]! & wordUnit || (units[end]! > 45 && units[end]! < 59) || units[end] === 36)
    end += 1;
  const unit = units[end]!;
  if (end === start || end >= page.length || unit < 32 || (unit === 92) !== isEscaped) return false;
  if (unit !== quote && unit !== 34 && !isEscaped) return true;
  if (isEscaped && units[end + 1] !== quote) return false;
  const named = names.lookUp(page, start, end);
  return named === undefined || (named.strength < 2 && named.rule !== 'session');
}

/** The sign is followed by a word, quoted or not, that is too short for a part of a key. */
export function holdsShortWord({ units }: Page, behind: number): boolean {
  const { classes } = characterTables();
  let start = behind;
  while ((units[start] === 32 || units[start] === 34 || units[start] === 39) && start - behind < 4)
    start += 1;
  let end = start;
  while (classes[units[end]!]! & base64Unit && end - start < shortestPart) end += 1;
  return end > start && end - start < shortestPart;
}
