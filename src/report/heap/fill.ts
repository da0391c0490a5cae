/** The fill of collections: a table by class, and the single collections that waste most. */
import type { HeapFillRow, HeapFillTable, HeapPoorlyFilled } from '../../model/heap.ts';
import { clip, formatBytes, formatCount, formatNumber } from '../../model/quantities.ts';
import { type Page, section, wrap } from '../text/layout.ts';
import { renderTable } from '../text/table.ts';
import { foldPath } from './fold-path.ts';

const widestPath = 90;

export function renderFill(view: HeapFillTable, page: Page): string[] {
  const { collections, capacityBytes, wastedBytes, unknown, unknownBytes } = view;
  const hidden = view.classCount - view.classes.length;
  return [
    page.palette.strong(
      `${formatCount(collections, 'collection')}, ${formatBytes(capacityBytes)} reserved; free entries waste ${formatBytes(wastedBytes)}`,
    ),
    ...renderTable(
      page,
      ['wasted', 'fill', 'count', 'empty', 'not known', 'kind', 'class', 'held by'],
      view.classes.map(classCells),
    ),
    ...(hidden > 0 ? [page.palette.faint(`… ${formatCount(hidden, 'more row')} (--limit)`)] : []),
    ...section(
      page,
      'Largest waste',
      renderTable(page, ['wasted', 'used', 'of', 'id', 'kind', 'class', 'where'], view.largest.map(oneCells)),
    ),
    ...(unknown > 0 ? ['', ...wrap(unknownText(unknown, unknownBytes), page.columns)] : []),
  ];
}

const unknownText = (count: number, bytes: number): string =>
  `The use of ${formatCount(count, 'collection')} (${formatBytes(bytes)}) is not known: the snapshot shows nothing in them, so they are empty or hold only numbers, which V8 does not write.`;

function classCells(row: HeapFillRow): string[] {
  return [
    formatBytes(row.wastedBytes),
    percent(row.fill),
    formatNumber(row.count),
    row.empty ? formatNumber(row.empty) : '',
    row.unknown ? formatNumber(row.unknown) : '',
    row.kind,
    clip(row.class, 40),
    row.holders.map(({ holder, count }) => `${clip(holder, 40)} ${formatNumber(count)}`).join(', '),
  ];
}

function oneCells(row: HeapPoorlyFilled): string[] {
  return [
    formatBytes(row.wastedBytes),
    formatNumber(row.used),
    formatNumber(row.capacity),
    `@${row.id}`,
    row.kind,
    clip(row.class, 40),
    foldPath(row.path, widestPath),
  ];
}

const percent = (fill: number | null): string => (fill === null ? '-' : `${Math.round(100 * fill)} %`);
