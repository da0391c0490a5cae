/** What retained the memory: the suspects in sentences, then the classes that retain most. */
import type { Account } from '../../model/account.ts';
import { formatBytes, formatNumber } from '../../model/quantities.ts';
import { type Page, wrap } from './layout.ts';
import { renderTable } from './table.ts';

const maxSuspects = 5;
const maxClasses = 8;

export function renderMemory({ memory }: Account, page: Page): string[] {
  const suspects = (memory?.suspects ?? []).slice(0, maxSuspects);
  const classes = (memory?.classes ?? []).slice(0, maxClasses);
  const lines = suspects.flatMap(({ sentence, confidence }) =>
    wrap(`${sentence} (${confidence})`, page.columns - 2, '• '),
  );
  if (!classes.length) return lines;
  const hasSizes = classes.some((row) => row.selfSizeBytes !== undefined);
  const size = (bytes: number | undefined) => (bytes === undefined ? '' : formatBytes(bytes));
  const rows = classes.map(({ name, count, selfSizeBytes, retainedSizeBytes }) => [
    name,
    formatNumber(count),
    ...(hasSizes ? [size(selfSizeBytes), size(retainedSizeBytes)] : []),
  ]);
  const head = ['class', 'objects', ...(hasSizes ? ['self', 'retained'] : [])];
  const { sample } = memory ?? {};
  return [
    ...lines,
    ...(lines.length ? [''] : []),
    ...renderTable(page, head, rows),
    ...(sample
      ? wrap(`Estimated from ${formatNumber(sample.lookedAt)} objects: ${sample.reason}.`, page.columns - 2)
      : []),
  ];
}
