/**
 * A table with any number of rows: only visible rows are requested and drawn. A browser can't draw an element as tall as
 * millions of rows, so the scroll bar is scaled, while the wheel and the keys move by rows.
 */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { formatCount } from '../../../model/quantities.ts';
import type { HeapQuestion, Part, Rows } from '../../heap/questions.ts';
import { ask, knownAnswer } from './ask.ts';

export interface Column {
  name: string;
  isNumber?: boolean;
  /** Of the width that wide columns share, in percent; equal shares without it. */
  share?: number;
  /** Wide columns share the remaining width. */
  isWide?: boolean;
  sort?: { isOn: boolean; href: string };
}

interface LongTableProps<Row> {
  label: string;
  /** What a row is called, in the singular. */
  what: string;
  columns: readonly Column[];
  question: (part: Part) => HeapQuestion;
  cells: (row: Row) => readonly ComponentChildren[];
  /** The number of visible rows. */
  most?: number;
  onTotal?: (total: number) => void;
}

const rowHeight = 30;
const headHeight = 32;
const pageRows = 100;

/** What a table asks first. */
export const firstPart: Part = { from: 0, count: pageRows };
/** Browsers limit an element to some 17 million pixels. */
const tallest = 8_000_000;

/** The scroll position of each list, by its question. */
const places = new Map<string, number>();

export function LongTable<Row>({
  label,
  what,
  columns,
  question,
  cells,
  most = 20,
  onTotal,
}: LongTableProps<Row>) {
  const key = JSON.stringify(question({ from: 0, count: 0 }));
  const box = useRef<HTMLElement>(null);
  const pages = useRef(new Map<number, Row[]>());
  const wanted = useRef(new Set<number>());
  const total = useSignal<number | undefined>(undefined);
  const reason = useSignal<string | undefined>(undefined);
  const first = useSignal(places.get(key) ?? 0);
  const chosen = useSignal(-1);
  const drawn = useSignal(0);
  const current = useRef(key);

  const count = total.value ?? 0;
  const inSight = Math.min(most, Math.max(count, 1));
  const last = Math.max(0, count - inSight);
  const height = Math.min(tallest, count * rowHeight);
  /** Rows per pixel of the scroll bar. */
  const scale = last / Math.max(1, height - inSight * rowHeight);

  const load = (page: number) => {
    if (wanted.current.has(page)) return;
    wanted.current.add(page);
    const asked = question({ from: page * pageRows, count: pageRows });
    const show = (answer: unknown) => {
      const part = answer as Rows<Row>;
      pages.current.set(page, part.rows);
      total.value = part.total;
      onTotal?.(part.total);
      drawn.value++;
    };
    const known = knownAnswer(asked);
    if (known !== undefined) return show(known);
    ask(asked).then(
      (answer) => {
        if (current.current === key) show(answer);
      },
      (error: Error) => {
        if (current.current === key) reason.value = error.message;
      },
    );
  };

  useLayoutEffect(() => {
    current.current = key;
    pages.current = new Map();
    wanted.current = new Set();
    total.value = undefined;
    reason.value = undefined;
    chosen.value = -1;
    first.value = places.get(key) ?? 0;
    drawn.value++;
    load(Math.floor(first.value / pageRows));
  }, [key]);

  useEffect(() => {
    const page = Math.floor(first.value / pageRows);
    for (const near of [page, Math.floor((first.value + most) / pageRows)])
      if (total.value === undefined || near * pageRows < total.value) load(near);
    places.set(key, first.value);
  }, [key, first.value, total.value]);

  // The scroll bar follows the rows, however they were reached.
  useLayoutEffect(() => {
    if (box.current && scale > 0) {
      const top = first.value / scale;
      if (Math.abs(box.current.scrollTop - top) > Math.max(1, 1 / scale)) box.current.scrollTop = top;
    }
  }, [first.value, scale]);

  const show = (row: number) => {
    chosen.value = Math.min(Math.max(0, row), Math.max(0, count - 1));
    if (chosen.value < first.value) first.value = chosen.value;
    else if (chosen.value >= first.value + inSight) first.value = chosen.value - inSight + 1;
  };
  useEffect(() => {
    const row = box.current?.querySelector<HTMLElement>(`tr[data-row="${chosen.value}"]`);
    const link = row?.querySelector<HTMLElement>('a[data-item]');
    if (chosen.value >= 0 && box.current?.contains(document.activeElement))
      (link ?? row)?.focus({ preventScroll: true });
  }, [chosen.value, drawn.value, first.value]);

  const onKeyDown = (event: KeyboardEvent) => {
    const at = chosen.value < 0 ? first.value - 1 : chosen.value;
    const to: Record<string, number> = {
      ArrowDown: at + 1,
      j: at + 1,
      ArrowUp: at - 1,
      k: at - 1,
      PageDown: at + inSight,
      PageUp: at - inSight,
      Home: 0,
      End: count - 1,
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(to, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    // The focused row may scroll out of view and lose the focus.
    box.current?.focus({ preventScroll: true });
    show(to[event.key]!);
  };

  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    // By rows, since one pixel may stand for hundreds of them.
    const onWheel = (event: WheelEvent) => {
      if (last === 0 || event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
      const rows = event.deltaMode === 0 ? event.deltaY / rowHeight : event.deltaY;
      const next = Math.min(
        last,
        Math.max(0, first.value + Math.sign(rows) * Math.max(1, Math.round(Math.abs(rows)))),
      );
      if (next === first.value) return;
      event.preventDefault();
      first.value = next;
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, [last]);

  void drawn.value;
  if (reason.value !== undefined)
    return (
      <p class="gap" role="alert">
        {reason.value}
      </p>
    );
  const rows = Array.from({ length: Math.min(inSight, count) }, (_, n) => first.value + n);
  return (
    <section
      ref={box}
      class="long-table"
      aria-label={label}
      aria-busy={total.value === undefined}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, no key would reach the rows
      tabIndex={0}
      style={{ blockSize: `${headHeight + inSight * rowHeight + 2}px` }}
      onKeyDown={onKeyDown}
      onFocusIn={(event) => {
        const row = (event.target as Element).closest<HTMLElement>('tr[data-row]')?.dataset['row'];
        if (row !== undefined) chosen.value = Number(row);
      }}
      onScroll={(event) => {
        const at = Math.min(last, Math.round(event.currentTarget.scrollTop * scale));
        if (Math.abs(at - first.value) > Math.max(0, Math.floor(scale))) first.value = at;
      }}
    >
      <div class="long-table-frame">
        <table aria-rowcount={count + 1}>
          <thead>
            <tr>
              {columns.map(({ name, isNumber, isWide, share, sort }) => (
                <th
                  key={name}
                  scope="col"
                  class={`${isNumber ? 'number' : ''} ${isWide ? 'wide' : ''}`}
                  {...(share !== undefined && { style: { inlineSize: `${share}%` } })}
                  {...(sort && { 'aria-sort': sort.isOn ? (isNumber ? 'descending' : 'ascending') : 'none' })}
                >
                  {sort ? <a href={sort.href}>{name}</a> : name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((at) => {
              const row = pages.current.get(Math.floor(at / pageRows))?.[at % pageRows];
              return (
                <tr key={at} data-row={at} aria-rowindex={at + 2} class={at === chosen.value ? 'chosen' : ''}>
                  {row === undefined ? (
                    <td colSpan={columns.length} class="faint">
                      …
                    </td>
                  ) : (
                    cells(row).map((cell, n) => (
                      <td
                        key={n}
                        class={`${columns[n]?.isNumber ? 'number' : ''} ${columns[n]?.isWide ? 'wide' : ''}`}
                      >
                        {cell}
                      </td>
                    ))
                  )}
                </tr>
              );
            })}
          </tbody>
        </table>
        {total.value === 0 ? <p class="faint">There is no {what}.</p> : null}
      </div>
      <div class="long-table-room" style={{ blockSize: `${Math.max(0, height - inSight * rowHeight)}px` }} />
    </section>
  );
}

export function Total({ total, what, plural }: { total: number | undefined; what: string; plural?: string }) {
  return (
    <span class="faint" role="status">
      {total === undefined ? '' : formatCount(total, what, plural)}
    </span>
  );
}
