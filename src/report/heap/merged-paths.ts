/** Merged paths as an indented tree, the columns of numbers before it. */
import type { HeapPathLine } from '../../model/heap.ts';
import { clip, formatBytes, formatCount, formatNumber } from '../../model/quantities.ts';
import { type Page, wrap } from '../text/layout.ts';
import { renderTable } from '../text/table.ts';
import { foldPath } from './fold-path.ts';

export interface PathsView {
  of: string;
  objects: number;
  selfSizeBytes: number;
  retainedSizeBytes: number;
  unheld: number;
  lines: HeapPathLine[];
  hidden: number;
}

const widestPath = 90;
const widestIndent = 40;

export function renderPaths(view: PathsView, page: Page): string[] {
  const { objects, unheld, hidden } = view;
  if (objects === 0) return [page.palette.strong(`Nothing in this heap is ${view.of}`)];
  const cells = rowsOf(view.lines, 0);
  return [
    page.palette.strong(
      `${formatCount(objects, 'object')} retaining ${formatBytes(view.retainedSizeBytes)}, by what holds them`,
    ),
    ...(cells.length
      ? renderTable(page, ['objects', 'retaining', 'cut frees', 'one of them', 'class', 'where'], cells)
      : []),
    ...(hidden > 0 ? [page.palette.faint(`… ${formatCount(hidden, 'more line')} (--limit)`)] : []),
    ...(unheld > 0 ? ['', `Nothing strong leads to ${formatCount(unheld, 'object')} of them.`] : []),
    '',
    ...wrap(
      'Each object is counted on one shortest path; it stays alive as long as there is another. "cut frees" is what the objects at the end of that line retain: if it is far below the left column, something else holds them too.',
      page.columns,
    ).map((line) => page.palette.faint(line)),
  ];
}

function rowsOf(lines: readonly HeapPathLine[], depth: number): string[][] {
  return lines.flatMap((line) => [
    [
      formatNumber(line.objects),
      formatBytes(line.retainedSizeBytes),
      formatBytes(line.nodesRetainedSizeBytes),
      `@${line.id}`,
      clip(line.nodes > 1 ? `${formatNumber(line.nodes)} × ${line.class}` : line.class, 40),
      `${' '.repeat(Math.min(2 * depth, widestIndent))}${foldPath(line.path, widestPath)}${repeated(line)}`,
    ],
    ...rowsOf(line.below, depth + 1),
  ]);
}

const repeated = ({ times }: HeapPathLine): string =>
  times === undefined ? '' : ` (repeated up to ${formatNumber(times)} times)`;
