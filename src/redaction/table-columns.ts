/**
 * Tables whose first line names the columns, as CSV, Markdown and database shells print them: what stands below a telling
 * name is judged as its value. Rows are read while they have as many cells as the header.
 */
import type { NameBook } from './name-book.ts';
import type { Finding, Page } from './page.ts';
import { looksChosen } from './values.ts';

const longestLine = 600;
const mostRows = 60;
const mayTell = /pass|pwd|secret|token|key|cred/i;
const isRule = /^[\s|+:=-]+$/;
const columnName = /^[\s"'`*]*[A-Za-z][\w .-]{0,38}[\s"'`*]*$/;

/** The first delimiter of a line stands at `at`. Pushes what starts before `stop`; the rows themselves are read again, as any text. */
export function findInColumns(page: Page, names: NameBook, at: number, stop: number, out: Finding[]): void {
  const { text } = page;
  const mark = text[at]!;
  let start = at;
  while (start > 0 && page.units[start - 1] !== 10) {
    start -= 1;
    if (at - start > 80 || page.units[start] === page.units[at]) return;
  }
  const header = lineAt(text, start);
  if (header === undefined || !mayTell.test(header)) return;
  const columns = header.split(mark);
  if (!columns.every((cell) => cell.trim() === '' || columnName.test(cell))) return;
  const telling = columns.flatMap((cell, index) =>
    names.judge(cell.replace(/[\s"'`*]/g, '')).strength >= 2 ? [index] : [],
  );
  if (telling.length > 0) readRows(page, start + header.length + 1, mark, columns.length, telling, stop, out);
}

function readRows(
  page: Page,
  from: number,
  mark: string,
  width: number,
  telling: number[],
  stop: number,
  out: Finding[],
): void {
  let start = from;
  for (let rows = 0; rows < mostRows && start < stop; rows++) {
    const line = lineAt(page.text, start);
    if (line === undefined) return;
    const cells = line.split(mark);
    if (!isRule.test(line)) {
      if (cells.length !== width) return;
      for (const index of telling) pushCell(start, cells, index, stop, out);
    }
    start += line.length + 1;
  }
}

function pushCell(lineStart: number, cells: string[], index: number, stop: number, out: Finding[]): void {
  const cell = cells[index]!;
  const value = cell.trim().replace(/^["'`]|["'`]$/g, '');
  if (!looksChosen(value)) return;
  const before = cells.slice(0, index).reduce((sum, one) => sum + one.length + 1, lineStart);
  const start = before + cell.indexOf(value);
  if (start < stop) out.push({ start, end: start + value.length, rule: 'table-column' });
}

/** Without its end; undefined where it is too long to be a row of a table. */
function lineAt(text: string, start: number): string | undefined {
  const line = text.slice(start, start + longestLine);
  const end = line.indexOf('\n');
  return end < 0 && line.length === longestLine ? undefined : end < 0 ? line : line.slice(0, end);
}
