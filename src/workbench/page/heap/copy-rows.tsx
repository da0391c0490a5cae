/** Copies the rows of a query's answer: with tabs between the columns, which spreadsheets read, or as JSON. */
import { useSignal } from '@preact/signals';
import { formatCount, formatNumber } from '../../../model/quantities.ts';
import type { QueryView } from '../../heap/questions.ts';
import { ask } from './ask.ts';

type Row = QueryView['rows'][number];
type Form = 'text' | 'JSON';

const mostRows = 10_000;
/** The server gives no more at a time. */
const rowsAtOnce = 500;

export function CopyRows({ text, answer }: { text: string; answer: QueryView }) {
  const said = useSignal('');
  const names = answer.columns.map(({ name }) => name);
  const copy = async (form: Form): Promise<void> => {
    try {
      const rows = await firstRows(text, Math.min(answer.total, mostRows));
      await navigator.clipboard.writeText(form === 'JSON' ? asJson(names, rows) : asText(names, rows));
      const all = rows.length < answer.total ? ` of ${formatNumber(answer.total)}` : '';
      said.value = `${formatCount(rows.length, 'row')}${all} copied as ${form}`;
    } catch (error) {
      said.value = `Nothing was copied: ${(error as Error).message}`;
    }
  };
  return (
    <p class="copy">
      {(['text', 'JSON'] as const).map((form) => (
        <button key={form} type="button" class="button" onClick={() => void copy(form)}>
          Copy as {form}
        </button>
      ))}
      <span role="status" class="faint">
        {said.value}
      </span>
    </p>
  );
}

async function firstRows(text: string, wanted: number): Promise<Row[]> {
  const rows: Row[] = [];
  while (rows.length < wanted) {
    const count = Math.min(rowsAtOnce, wanted - rows.length);
    const part = await ask({ ask: 'query', text, from: rows.length, count });
    if (part.rows.length === 0) break;
    rows.push(...part.rows);
  }
  return rows;
}

/** Sizes as numbers of bytes. */
const asJson = (names: readonly string[], rows: readonly Row[]): string =>
  JSON.stringify(
    rows.map((row) => Object.fromEntries(names.map((name, n) => [name, row[n] ?? null]))),
    undefined,
    2,
  );

const asText = (names: readonly string[], rows: readonly Row[]): string =>
  [names, ...rows].map((row) => row.map(oneLine).join('\t')).join('\n');

/** A text that a spreadsheet would interpret as a formula is marked as text. */
function oneLine(cell: Row[number]): string {
  if (cell === null) return '';
  if (typeof cell !== 'string') return String(cell);
  const line = cell.replace(/[\t\r\n]+/g, ' ');
  return /^[=+\-@]/.test(line) ? `'${line}` : line;
}
