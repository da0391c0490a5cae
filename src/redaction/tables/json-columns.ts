/**
 * Rows with separate column names, as databases and spreadsheets return them in JSON:
 * `{"columns":["id","password"],"rows":[[1,"x"]]}`.
 */
import type { NameBook } from '../names/name-book.ts';
import type { Finding, Page } from '../scan/page.ts';
import { readQuoted } from '../values/value-span.ts';
import { isSecretValue } from '../values/values.ts';

export const columnWords = 'columns headers fields';

const nameList = /\\*"\s?:\s?\[((?:\s{0,20}\\*"[\w .-]{1,40}\\*",?){1,40})\s{0,20}\]/y;
const toRows = /\s{0,20},\s{0,20}\\*"\w{2,10}\\*"\s?:\s?\[\s{0,20}\[/y;
const cell = /\s{0,20}(?:\\*"|[^",[\]{}]{0,80})/y;
const between = /\s{0,20}(?:(,)|\](?:\s{0,20},\s{0,20}\[)?)/y;
const mostCells = 400;
const asTyped = { quoted: true, tight: false, startsLine: false, endsLine: false, next: 0 };

/** The word ends at `end`. Pushes the cells below sensitive names; the rows are also read as ordinary text. */
export function findInJsonColumns(page: Page, names: NameBook, end: number, out: Finding[]): void {
  const { text } = page;
  nameList.lastIndex = end;
  const list = nameList.exec(text)?.[1];
  if (list === undefined) return;
  const verdicts = (list.match(/[\w .-]+/g) ?? [])
    .filter((name) => name.trim() !== '')
    .map((name) => names.judge(name));
  toRows.lastIndex = nameList.lastIndex;
  if (!verdicts.some(({ strength }) => strength >= 2) || !toRows.test(text)) return;
  let column = 0;
  for (let at = toRows.lastIndex, cells = 0; cells < mostCells; cells++) {
    while (page.units[at] === 32 || page.units[at] === 10) at += 1;
    const span = readQuoted(page, at);
    const verdict = verdicts[column];
    if (span && !span.resume && verdict && verdict.strength >= 2 && span.end - span.start < 4096) {
      if (isSecretValue(text.slice(span.start, span.end), verdict, asTyped))
        out.push({ start: span.start, end: span.end, rule: 'table-column' });
    }
    cell.lastIndex = at;
    if (!span && !cell.test(text)) break;
    between.lastIndex = span ? span.close : cell.lastIndex;
    const sign = between.exec(text);
    if (!sign) break;
    column = sign[1] === ',' ? column + 1 : 0;
    at = between.lastIndex;
    if (sign[1] !== ',' && !sign[0].endsWith('[')) break;
  }
}
