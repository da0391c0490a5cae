/** Tables of the text report: cli-table3 without its borders, because most output is piped or pasted. */
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

/**
 * cli-table3 passes all rows as arguments of one call, which overflows the stack at 100,000; a longer table uses character
 * counts for its columns.
 */
const mostMeasured = 10_000;

/** Lines of a table with a faint head row. */
export function renderTable(
  page: Page,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  if (!rows.length) return [];
  const painted = head.map((cell) => (cell ? page.palette.faint(cell) : ''));
  const cells = rows.map((row) => row.map(oneLine));
  const isMeasured = cells.length <= mostMeasured && [painted, ...cells].some((row) => !row.every(isPlain));
  if (!isMeasured) return plainTable([painted, ...cells]);
  const table = new Table({
    head: painted,
    chars: { ...borderless, middle: '  ' },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
  });
  table.push(...cells);
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
}

const colours = /\x1b\[[\d;]*m/g;
const isPlain = (cell: string): boolean => /^[\x20-\x7e]*$/.test(cell.replace(colours, ''));
const widthOf = (cell: string): number => cell.replace(colours, '').length;

/**
 * Equivalent for tables whose characters all take one column, which is most of them; loading the width tables for others
 * takes 10 ms.
 */
function plainTable(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) =>
    rows.reduce((most, row) => Math.max(most, widthOf(row[column] ?? '')), 0),
  );
  const line = (row: readonly string[]): string =>
    widths
      .map((width, column) => {
        const cell = row[column] ?? '';
        return cell + ' '.repeat(width - widthOf(cell));
      })
      .join('  ');
  return rows.map((row) => line(row).trimEnd());
}
