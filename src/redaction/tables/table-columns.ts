/**
 * Tables whose first line names the columns, as CSV, Markdown, database shells and console.table print them, also as lines of
 * a string: what stands below a telling name is judged as its value. Rows are read while they have the header's cells.
 */

import type { NameBook } from '../names/name-book.ts';
import { alnum, characterTables, wordUnit } from '../scan/characters.ts';
import type { Finding, Page } from '../scan/page.ts';
import { isTypedWord } from '../values/plain-words.ts';
import { isStandIn, looksChosen } from '../values/values.ts';

const longestLine = 600;
const longestName = 40;
const mostRows = 60;
/** Of a column's name. */
const mostWords = 5;
const mayTell = /pass|pwd|secret|token|key|cred/i;
const isRule = /^[\s|+:=\-\u2500-\u257f]+$/;
const columnName = /^[\s"'`*\\]*(?:[A-Za-z][\w .-]{0,38}|\(index\))[\s"'`*\\]*$/;
const lineBreak = /\n|(?:\\{1,8}r)?\\{1,8}n/g;

interface Column {
  index: number;
  strength: number;
  /** So named that a word may be one. */
  isPassword: boolean;
}

/** A line starts at `start`. Pushes what starts before `stop`; the rows themselves are read again, as any text. Answers with the table's end, or 0. */
export function findInColumns(
  page: Page,
  names: NameBook,
  start: number,
  stop: number,
  out: Finding[],
): number {
  const mark = delimiterOf(page, start);
  if (mark === 0) return 0;
  const header = headerAt(page, start, mark);
  if (header === undefined || !mayTell.test(header)) return 0;
  const delimiter = String.fromCharCode(mark);
  const columns = header.split(delimiter);
  if (!columns.every((cell) => cell.trim() === '' || columnName.test(cell))) return 0;
  const telling = columns.flatMap((cell, index): Column[] => {
    // A sentence has commas too.
    if (cell.trim().split(/\s+/).length > mostWords) return [];
    const { strength, rule } = names.judge(
      cell
        .replace(/["'`*\\]/g, '')
        .trim()
        .replace(/\s+/g, '_'),
    );
    return strength >= 2 ? [{ index, strength, isPassword: rule === 'password' }] : [];
  });
  return telling.length > 0 ? readRows(page, start, delimiter, columns.length, telling, stop, out) : 0;
}

/** `,` `|` tab `;` and what may stand in a column's name, by ASCII unit. */
const delimiterUnit = 1;
const nameUnit = 2;
let cellTable: Uint8Array | undefined;

function cellUnits(): Uint8Array {
  if (cellTable) return cellTable;
  const { classes } = characterTables();
  cellTable = new Uint8Array(128);
  for (let unit = 0; unit < 128; unit++) if (classes[unit]! & wordUnit) cellTable[unit] = nameUnit;
  for (const unit of [32, 46, 34, 39, 96, 42]) cellTable[unit] = nameUnit;
  for (const unit of [44, 124, 9, 59]) cellTable[unit] = delimiterUnit;
  return cellTable;
}

/** The unit behind the first column's name, or before it where a bar opens the line; 0 where the line begins otherwise. */
function delimiterOf({ units }: Page, start: number): number {
  const first = units[start]!;
  if (first === 124 || first === 0x2502) return first;
  if (first === 32) {
    if (units[start + 1] === 32) return 0;
  } else if (!(characterTables().classes[first]! & alnum) && first !== 34 && first !== 39) return 0;
  const cells = cellUnits();
  for (let i = start; i < start + longestName; i++) {
    const unit = units[i]!;
    const kind = unit < 128 ? cells[unit] : 0;
    if (kind !== nameUnit) return kind === delimiterUnit || unit === 0x2502 ? unit : 0;
  }
  return 0;
}

/** The whole line, if nothing but names and delimiters is in it. */
function headerAt({ text, units }: Page, start: number, mark: number): string | undefined {
  const cells = cellUnits();
  let i = start;
  for (const stop = start + longestLine; i < stop; i++) {
    const unit = units[i]!;
    if (cells[unit] === nameUnit || unit === mark || unit === 40 || unit === 41 || unit === 13) continue;
    return unit === 10 || unit === 92 ? text.slice(start, i) : undefined;
  }
  return undefined;
}

function readRows(
  page: Page,
  headerStart: number,
  delimiter: string,
  width: number,
  telling: Column[],
  stop: number,
  out: Finding[],
): number {
  let start = headerStart;
  for (let rows = -1; rows < mostRows && start < stop; rows++) {
    const lines = page.text.slice(start, start + longestLine);
    lineBreak.lastIndex = 0;
    const broken = lineBreak.exec(lines);
    if (!broken && lines.length === longestLine) return start;
    const line = broken ? lines.slice(0, broken.index) : lines;
    const cells = line.split(delimiter);
    if (rows >= 0 && !isRule.test(line)) {
      if (cells.length !== width) return start;
      for (const column of telling) pushCell(start, cells, column, stop, out);
    }
    if (!broken) return start + line.length;
    start += broken.index + broken[0].length;
  }
  return start;
}

function pushCell(
  lineStart: number,
  cells: string[],
  { index, strength, isPassword }: Column,
  stop: number,
  out: Finding[],
): void {
  const cell = cells[index]!;
  const value = /^[\s\\"'`]*(.*?)[\s\\"'`]*$/s.exec(cell)?.[1] ?? '';
  if (value === '' || isStandIn(value)) return;
  if (!looksChosen(value, strength) && !(isPassword && isTypedWord(value))) return;
  const before = cells.slice(0, index).reduce((sum, one) => sum + one.length + 1, lineStart);
  const start = before + cell.indexOf(value);
  if (start < stop) out.push({ start, end: start + value.length, rule: 'table-column' });
}
