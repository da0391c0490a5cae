/**
 * Tables whose columns are aligned by blanks, as printed by `kubectl`, `ps`, PowerShell and many other tools: values below a
 * sensitive name, and two columns of names and values. Because blanks separate anything, a cell must be one word.
 */

import type { NameBook } from '../names/name-book.ts';
import type { Finding, Page } from '../scan/page.ts';
import { isTypedWord } from '../values/plain-words.ts';
import { isStandIn } from '../values/stand-ins.ts';
import { looksChosen } from '../values/values.ts';

const longestLine = 300;
const mostRows = 60;
const mayTell = /pass|pwd|secret|token|key|cred/i;
const header =
  /^[A-Za-z][\w.-]*(?: [A-Za-z][\w.-]*)?(?: {2,}[A-Za-z][\w.-]*(?: [A-Za-z][\w.-]*)?){1,11} *\r?$/;
const pair =
  /^[ \t]{0,12}([A-Za-z][\w.-]{2,40})(?:[ \t]{2,40}REG_(?:SZ|EXPAND_SZ|BINARY))?[ \t]{2,60}(\S{4,200})[ \t]*\r?$/;

/**
 * A line at `start` whose columns may be aligned by blanks. Pushes findings that start before `stop`. Returns the table's
 * end, or 0.
 */
export function findAligned(
  page: Page,
  names: NameBook,
  start: number,
  stop: number,
  out: Finding[],
): number {
  const line = lineAt(page, start);
  if (line === undefined || !mayTell.test(line)) return 0;
  const alone = isEscaped(page, start) ? line.replace(endOfEscaped, '') : line;
  const one = pair.exec(alone);
  if (one && pushPair(names, start, alone, one, stop, out)) return start + alone.length;
  if (!header.test(line)) return 0;
  const columns = [...line.matchAll(/[^ ]+(?: [^ ]+)*/g)].flatMap(({ index, 0: cell }) => {
    const { strength, form } = names.judge(cell.replace(/ /g, '_'));
    return strength >= 2 && !form ? [{ at: index, strength }] : [];
  });
  if (columns.length === 0) return 0;
  let at = start + line.length + 1;
  for (let rows = 0; rows < mostRows && at < stop; rows++) {
    const row = lineAt(page, at);
    if (row === undefined || row.trim() === '') break;
    for (const { at: column, strength } of columns) pushCell(at, row, column, strength, out, stop);
    at += row.length + 1;
  }
  return at - 1;
}

/** Whether the line begins behind an escaped line break, and so ends at the next one or with the string. */
const isEscaped = ({ units }: Page, start: number): boolean =>
  (units[start - 1] === 110 || units[start - 1] === 114) && units[start - 2] === 92;
const endOfEscaped = /\\+(?:[nr]|(?=")).*|".*/s;

/** The line; undefined if it is too long. */
function lineAt({ text, units }: Page, start: number): string | undefined {
  if (units[start] === 10) return undefined;
  const piece = text.slice(start, start + longestLine);
  const end = piece.indexOf('\n');
  if (end < 0 && piece.length === longestLine) return undefined;
  return end < 0 ? piece : piece.slice(0, end);
}

function pushPair(
  names: NameBook,
  start: number,
  line: string,
  [, name = '', value = '']: RegExpExecArray,
  stop: number,
  out: Finding[],
): boolean {
  const { strength, form, rule } = names.judge(name);
  if (strength < 2 || form || !isCellSecret(value, strength, rule === 'password')) return false;
  const at = start + line.lastIndexOf(value);
  if (at < stop) out.push({ start: at, end: at + value.length, rule });
  return true;
}

/** The word of `row` that starts at the column, or up to two characters beside it. */
function pushCell(
  start: number,
  row: string,
  column: number,
  strength: number,
  out: Finding[],
  stop: number,
): void {
  const first = Math.max(0, column - 2);
  const cell = /^(?:.{0,2} {1,4}|)(\S{4,200})(?= {2,}| *\r?$| )/.exec(row.slice(first));
  const value = cell?.[1];
  if (!cell || value === undefined || (first > 0 && cell[0] === value && row[first - 1] !== ' ')) return;
  if (!isCellSecret(value, strength, strength === 3)) return;
  const at = start + first + cell[0].length - value.length;
  if (at < stop) out.push({ start: at, end: at + value.length, rule: 'table-column' });
}

const isCellSecret = (value: string, strength: number, words: boolean): boolean =>
  !isStandIn(value) && (looksChosen(value, strength) || (words && strength === 3 && isTypedWord(value)));
