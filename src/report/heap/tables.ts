/** Tables and cells that the renderings of a heap share: rows of nodes, classes, shares and references. */
import type { HeapClassRow, HeapEdgeRow, HeapNodeRow, HeapShareRow, HeapSource } from '../../model/heap.ts';
import { clip, formatBytes, formatNumber } from '../../model/quantities.ts';
import type { Page } from '../text/layout.ts';
import { renderTable } from '../text/table.ts';

const systemDistance = 100_000_000;

export function nodeText(node: HeapNodeRow): string {
  return `${node.class} @${node.id}`;
}

export function sizeShare(bytes: number, total: number): string {
  return `${formatBytes(bytes)} (${percent(bytes, total)})`;
}

function percent(bytes: number, total: number): string {
  return total > 0 ? `${((100 * bytes) / total).toFixed(1)} %` : '';
}

export function shareTable(page: Page, rows: HeapShareRow[], total: number): string[] {
  const cells = rows.map((row) => [
    formatBytes(row.selfSizeBytes),
    percent(row.selfSizeBytes, total),
    formatNumber(row.count),
    clip(row.name, 80),
  ]);
  return renderTable(page, ['self', '', 'count', 'name'], cells);
}

export function classTable(page: Page, rows: HeapClassRow[]): string[] {
  const cells = rows.map((row) => [
    formatNumber(row.count),
    formatBytes(row.selfSizeBytes),
    formatBytes(row.retainedSizeBytes),
    distanceText(row.distance),
    clip(row.class, 60),
    placeText(row.source),
  ]);
  return renderTable(page, ['count', 'self', 'retained', 'distance', 'class', 'written at'], cells);
}

export function placeText(source: HeapSource | undefined): string {
  return source?.file ? `${source.file}:${source.line}` : '';
}

function distanceText(distance: number | null): string {
  if (distance === null) return '-';
  return distance >= systemDistance ? 'system' : String(distance);
}

const nodeHead = ['id', 'self', 'retained', 'distance', 'class', 'name'];

function nodeCells(row: HeapNodeRow): string[] {
  return [
    `@${row.id}`,
    formatBytes(row.selfSizeBytes),
    formatBytes(row.retainedSizeBytes),
    distanceText(row.distance),
    clip(row.class, 50),
    row.name === row.class ? '' : clip(row.name, 50),
  ];
}

/** With the columns of a query's `select`, in its order; the usual ones without. */
export function nodeTable(page: Page, rows: HeapNodeRow[], select?: readonly string[]): string[] {
  const cells = rows.map(nodeCells);
  if (!select) return renderTable(page, nodeHead, cells);
  const chosen = rows.map((row, at) =>
    select.map((field) => furtherCell(row, field) ?? cells[at]?.[nodeHead.indexOf(field)] ?? '-'),
  );
  return renderTable(page, select, chosen);
}

/** What the usual columns leave out, or say only where it differs from another one. */
function furtherCell({ name, type, dominatorId }: HeapNodeRow, field: string): string | undefined {
  if (field === 'name') return clip(name, 50);
  if (field === 'type') return type;
  return field === 'dominator' && dominatorId !== null ? `@${dominatorId}` : undefined;
}

export function retainerTable(page: Page, rows: HeapEdgeRow[]): string[] {
  return renderTable(
    page,
    ['by', 'kind', ...nodeHead],
    rows.map((row) => [clip(row.edge, 40), row.edgeType, ...nodeCells(row.node)]),
  );
}
