/** The secrets that a word of a sentence, a statement or a table announces, or that a word is said to be by its surroundings. */
import type { NameBook } from '../names/name-book.ts';
import { type TelltaleWord, telltale } from '../names/telltale-words.ts';
import { findBelowHeading } from '../speech/headed-values.ts';
import { findSpoken } from '../speech/keyword-secrets.ts';
import { findSaidCode } from '../speech/said-codes.ts';
import { findSaid } from '../speech/said-values.ts';
import { findTold } from '../statements/statement-secrets.ts';
import { findInJsonColumns } from '../tables/json-columns.ts';
import { findBound, findInserted } from '../tables/sql-values.ts';
import type { Finding, Page } from './page.ts';

/** Other flags of a command, whose values may be secrets too: `put-parameter --token x --type SecureString --value y`. */
const flags = /[ \t]--?[A-Za-z][\w-]*[ =]["']?[^\s-][\s\S]*[ \t]--?[A-Za-z]/;
const shortestFlags = 16;

const holdsFlags = ({ text }: Page, from: number, to: number): boolean =>
  to - from >= shortestFlags && flags.test(text.slice(from, to));

/**
 * Pushes what the telltale word at [start, end) announces. Returns the end of the last finding, or of the word if what is between
 * must be read too, or 0.
 */
export function readAnnounced(
  page: Page,
  names: NameBook,
  { word, kinds }: TelltaleWord,
  start: number,
  end: number,
  out: Finding[],
): number {
  const one =
    (kinds & telltale.spoken ? findSpoken(page, word, start, end) : undefined) ??
    (kinds & telltale.told ? findTold(page, names, word, start, end) : undefined) ??
    (kinds & telltale.said ? findSaid(page, word, start, end) : undefined) ??
    (kinds & telltale.code ? findSaidCode(page, word, start, end) : undefined);
  if (one) {
    out.push(one);
    return holdsFlags(page, end, one.start) ? end : one.end;
  }
  if (kinds & telltale.columns) findInJsonColumns(page, names, end, out);
  const below = kinds & telltale.heading ? findBelowHeading(page, start, end, out) : 0;
  if (below) return below;
  const found =
    kinds & telltale.values
      ? findInserted(page, names, start, end)
      : kinds & telltale.bound
        ? findBound(page, names, start, end)
        : [];
  out.push(...found);
  return found.at(-1)?.end ?? 0;
}
