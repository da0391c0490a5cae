/** Tables of the text report: cli-table3 without its borders, since most of what is read here is piped or pasted. */
import Table from 'cli-table3';
import { oneLine, type Page } from './layout.ts';

const borderless = Object.fromEntries(
  [
    'top',
    'top-mid',
    'top-left',
    'top-right',
    'bottom',
    'bottom-mid',
    'bottom-left',
    'bottom-right',
    'left',
    'left-mid',
    'mid',
    'mid-mid',
    'right',
    'right-mid',
  ].map((part) => [part, '']),
);

/** Lines of a table with a faint head row. */
export function renderTable(
  page: Page,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  if (!rows.length) return [];
  const table = new Table({
    head: head.map((cell) => (cell ? page.palette.faint(cell) : '')),
    chars: { ...borderless, middle: '  ' },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
  });
  table.push(...rows.map((row) => row.map(oneLine)));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
}
