/** The query console: the language of `agentdump heap query`, completed, a history, and the answer as a table. */
import { useSignal } from '@preact/signals';
import { formatBytes, formatCount, formatNumber } from '../../../model/quantities.ts';
import type { QueryView } from '../../heap/questions.ts';
import { useAnswer } from './ask.ts';
import { CopyRows } from './copy-rows.tsx';
import { LongTable } from './long-table.tsx';
import { go, hrefTo, place, toObject } from './place.ts';
import { QueryField } from './query-field.tsx';

const mostRemembered = 50;
const memory = 'agentdump-queries';

const examples = [
  'class = Array and retained > 1MB',
  'select class, count(), sum(self) group by class',
  'type = "string" and length(value) > 500',
  'from Map where .size > 100 select id, .size, path',
];

/** Kept for this browser session only: a query may quote the contents of a heap. */
function remembered(): string[] {
  try {
    const list: unknown = JSON.parse(sessionStorage.getItem(memory) ?? '[]');
    return Array.isArray(list) ? list.filter((text) => typeof text === 'string') : [];
  } catch {
    return [];
  }
}

function remember(text: string): void {
  const others = remembered().filter((other) => other !== text);
  sessionStorage.setItem(memory, JSON.stringify([text, ...others].slice(0, mostRemembered)));
}

export function Console() {
  const { q: asked = '' } = place.value;
  const typed = useSignal(asked);
  const shown = useSignal(asked);
  /** The position in the history; -1 while typing a new query. */
  const back = useSignal(-1);
  if (shown.value !== asked) {
    shown.value = asked;
    typed.value = asked;
  }
  const run = () => {
    const text = typed.value.trim();
    if (!text) return;
    remember(text);
    back.value = -1;
    go({ view: 'query', q: text });
  };
  const recall = (by: 1 | -1) => {
    const list = remembered();
    const next = Math.min(list.length - 1, Math.max(-1, back.value + by));
    back.value = next;
    typed.value = next < 0 ? '' : (list[next] ?? '');
  };
  const history = remembered();
  return (
    <>
      <h1>Query</h1>
      <div class="console">
        <QueryField typed={typed} onRun={run} onRecall={recall} />
        <button type="button" class="button" onClick={run}>
          Run
        </button>
      </div>
      <p class="faint caption">
        Enter runs it, Shift Enter begins a line. Tab completes, ↓ chooses another completion, Esc closes
        them. ↑ and ↓ go through what was asked before.
      </p>
      {asked ? <Answer text={asked} /> : null}
      <div class="sides">
        <Queries title="Examples" texts={examples} />
        {history.length ? <Queries title="Asked before" texts={history.slice(0, 12)} /> : null}
      </div>
    </>
  );
}

function Queries({ title, texts }: { title: string; texts: readonly string[] }) {
  return (
    <div>
      <h2>{title}</h2>
      <ul class="plain-list">
        {texts.map((text) => (
          <li key={text}>
            <a href={hrefTo({ view: 'query', q: text })} data-item>
              <code>{text}</code>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Answer({ text }: { text: string }) {
  const { answer, reason } = useAnswer({ ask: 'query', text, from: 0, count: 100 });
  if (reason !== undefined)
    return (
      <p class="gap" role="alert">
        {reason}
      </p>
    );
  if (!answer) return <p role="status">searching</p>;
  const { columns, total, matches, notes } = answer;
  const shares = sharesOf(answer);
  return (
    <>
      <p role="status">
        {formatCount(matches, 'object matches', 'objects match')}
        {total === matches ? '' : `, ${formatCount(total, 'row')} shown`}
      </p>
      {notes.map((note) => (
        <p key={note} class="faint">
          {note}
        </p>
      ))}
      {total > 0 ? <CopyRows key={text} text={text} answer={answer} /> : null}
      <LongTable<QueryView['rows'][number]>
        label="Answer"
        what="row"
        columns={columns.map(({ name, kind }, n) => ({
          name,
          ...(kind === 'bytes' || kind === 'number' ? { isNumber: true } : {}),
          ...(shares[n] === undefined ? {} : { isWide: true, share: shares[n] }),
        }))}
        question={(part) => ({ ask: 'query', text, ...part })}
        cells={(row) => row.map((cell, n) => <Cell key={n} cell={cell} kind={columns[n]?.kind ?? 'value'} />)}
      />
    </>
  );
}

const [leastChars, mostChars] = [8, 100];

/** How columns of text share the width: by the longest text in the first rows. Undefined for the others. */
function sharesOf({ columns, rows }: QueryView): (number | undefined)[] {
  const lengths = columns.map(({ kind }, n) =>
    kind === 'value'
      ? rows.reduce((most, row) => Math.max(most, Math.min(String(row[n]).length, mostChars)), leastChars)
      : undefined,
  );
  const sum = lengths.reduce<number>((all, one) => all + (one ?? 0), 0);
  return lengths.map((one) => one && Math.round((100 * one) / sum));
}

/** An object in a column is written as its class and id. */
const objectCell = /^.* @(\d+)$/s;

function Cell({
  cell,
  kind,
}: {
  cell: string | number | boolean | null;
  kind: QueryView['columns'][number]['kind'];
}) {
  if (cell === null) return <span class="faint">null</span>;
  if (kind === 'id' && typeof cell === 'number')
    return (
      <a href={toObject(cell)} data-item>
        @{cell}
      </a>
    );
  if (typeof cell === 'number') return <>{kind === 'bytes' ? formatBytes(cell) : formatNumber(cell)}</>;
  const id = typeof cell === 'string' ? objectCell.exec(cell)?.[1] : undefined;
  if (id !== undefined)
    return (
      <a class="object" href={toObject(Number(id))} data-item title={String(cell)}>
        {cell}
      </a>
    );
  return (
    <span class="object" title={String(cell)}>
      {String(cell)}
    </span>
  );
}
