/**
 * Tables whose first line contains the column names, as printed by CSV, Markdown, database shells and console.table, also as
 * lines of a string: values below a sensitive name are judged as its values. Rows are read as long as they have as many cells
 * as the header.
 */

import type { NameBook } from '../names/name-book.ts';
import type { Finding, Page } from '../scan/page.ts';
import { isNativePassword } from '../speech/native-names.ts';
import { isPassphrase, isTypedWord } from '../values/plain-words.ts';
import { isStandIn } from '../values/stand-ins.ts';
import { looksChosen } from '../values/values.ts';
import { cellUnits, delimiterOf, nameUnit } from './first-lines.ts';

const longestLine = 600;
const mostRows = 60;
/** Words in a column's name. */
const mostWords = 5;
const mayTell =
  /pass|pwd|psw|secret|token|key|cred|kennwort|wachtwoord|contrase|senha|clave|hasl|hesl|adgang|lozinka|jelsz|otp/i;
const isRule = /^[\s|+:=\-\u2500-\u257f]+$/;
const columnName = /^[\s"'`*\\]*(?:\p{L}[\p{L}\p{M}\w .-]{0,38}|\(index\))[\s"'`*\\]*$/u;
const lineBreak = /\n|(?:\\{1,8}r)?\\{1,8}n/g;

interface Column {
  index: number;
  strength: number;
  /** Its name is a password's, so a plain word counts as a value. */
  isPassword: boolean;
  rule?: string;
}

/**
 * A line starts at `start`. Pushes findings that start before `stop`; the rows are also read as ordinary text. Returns the
 * table's end, or 0.
 */
export function findInColumns(
  page: Page,
  names: NameBook,
  start: number,
  stop: number,
  out: Finding[],
): number {
  const mark = delimiterOf(page.units, start);
  if (mark === 0) return 0;
  const header = headerAt(page, start, mark);
  if (header === undefined || !(mayTell.test(header) || isNativePassword(header))) return 0;
  const delimiter = String.fromCharCode(mark);
  const columns = header.split(delimiter);
  if (!columns.every((cell) => cell.trim() === '' || columnName.test(cell))) return 0;
  const telling = columns.flatMap((cell, index): Column[] => {
    // Sentences contain commas too.
    if (cell.trim().split(/\s+/).length > mostWords) return [];
    if (isNativePassword(cell)) return [{ index, strength: 3, isPassword: true }];
    const { strength, rule } = names.judge(
      cell
        .replace(/["'`*\\]/g, '')
        .trim()
        .replace(/\s+/g, '_'),
    );
    return strength >= 2 ? [{ index, strength, isPassword: rule === 'password', rule }] : [];
  });
  return telling.length > 0 ? readRows(page, start, delimiter, columns.length, telling, stop, out) : 0;
}

/** The whole line, if it contains only names and delimiters. */
function headerAt({ text, units }: Page, start: number, mark: number): string | undefined {
  const cells = cellUnits();
  let i = start;
  for (const stop = start + longestLine; i < stop; i++) {
    const unit = units[i]!;
    if (cells[unit] === nameUnit || unit > 127 || unit === mark || unit === 40 || unit === 41 || unit === 13)
      continue;
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

/** `UINT16_BE`, `Float32_LE`: a token of a grammar or a program. */
const constant = /^[A-Z][A-Za-z]{2,11}\d{0,2}(?:_[A-Z]{2,8}\d?){1,4}(?:`?\*)?$/;

function pushCell(
  lineStart: number,
  cells: string[],
  { index, strength, isPassword, rule }: Column,
  stop: number,
  out: Finding[],
): void {
  const cell = cells[index]!;
  const value = /^[\s\\"'`]*(.*?)[\s\\"'`]*$/s.exec(cell)?.[1] ?? '';
  if (value === '' || isStandIn(value)) return;
  if (!looksChosen(value, strength) && !(isPassword && (isTypedWord(value) || isPassphrase(value)))) return;
  if (rule === 'token' && constant.test(value)) return;
  const before = cells.slice(0, index).reduce((sum, one) => sum + one.length + 1, lineStart);
  const start = before + cell.indexOf(value);
  if (start < stop) out.push({ start, end: start + value.length, rule: 'table-column' });
}
