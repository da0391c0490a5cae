/** Tables and cells that the renderings of a heap share: rows of nodes, classes, shares and references. */

import { shortFile } from '../../model/frame-text.ts';
import type {
  HeapAllocationRow,
  HeapClassRow,
  HeapEdgeRow,
  HeapNodeRow,
  HeapQueryColumn,
  HeapQueryTable,
  HeapShareRow,
  HeapSource,
} from '../../model/heap.ts';
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

/** @param isTracked whether objects are counted and their retained sizes are known. */
export function allocationTable(page: Page, rows: HeapAllocationRow[], isTracked: boolean): string[] {
  const cells = rows.map((row) => [
    formatBytes(row.bytes),
    `${(100 * row.share).toFixed(1)} %`,
    ...(isTracked
      ? [
          formatNumber(row.count ?? 0),
          formatBytes(row.retainedSizeBytes ?? 0),
          formatBytes(row.allocatedBytes ?? 0),
        ]
      : []),
    clip(row.function || (row.script ? '(anonymous)' : '(not known)'), 40),
    row.script ? `${shortFile(row.script)}:${row.line}:${row.column}` : '',
  ]);
  const counted = isTracked ? ['objects', 'retained', 'allocated in all'] : [];
  return renderTable(page, ['alive', '', ...counted, 'function', 'written at'], cells);
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

export function nodeTable(page: Page, rows: HeapNodeRow[]): string[] {
  return renderTable(page, nodeHead, rows.map(nodeCells));
}

/** With the columns of a query's `select`, in its order. */
export function queryTable(page: Page, { columns, rows }: HeapQueryTable): string[] {
  const cells = rows.map((row) => row.map((value, at) => queryCell(value, columns[at]!.kind)));
  const names = columns.map(({ name }) => clip(name, 40));
  return renderTable(page, names, cells);
}

function queryCell(value: string | number | boolean | null, kind: HeapQueryColumn['kind']): string {
  if (value === null) return '-';
  if (typeof value !== 'number') return clip(String(value), 80);
  if (kind === 'id') return `@${value}`;
  if (kind === 'bytes') return formatBytes(value);
  return Number.isInteger(value) ? formatNumber(value) : String(Math.round(value * 1000) / 1000);
}

export function retainerTable(page: Page, rows: HeapEdgeRow[]): string[] {
  return renderTable(
    page,
    ['by', 'kind', ...nodeHead],
    rows.map((row) => [clip(row.edge, 40), row.edgeType, ...nodeCells(row.node)]),
  );
}
