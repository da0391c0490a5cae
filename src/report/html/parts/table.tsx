/** A table with right-aligned columns of numbers; shows its first rows until more are requested. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { formatNumber } from '../../../model/quantities.ts';
import { ScrollBox } from './scroll-box.tsx';

interface TableProps {
  head: readonly string[];
  rows: readonly (readonly ComponentChildren[])[];
  /** Columns of numbers, from 0. */
  numbers?: readonly number[];
  most?: number;
}

export function Table({ head, rows, numbers = [], most = 15 }: TableProps) {
  const shown = useSignal(most);
  const hidden = rows.length - shown.value;
  const align = (column: number) => (numbers.includes(column) ? 'number' : undefined);
  return (
    <ScrollBox class="table" label={head[0] ?? ''}>
      <table>
        <thead>
          <tr>
            {head.map((name, column) => (
              <th key={name} scope="col" class={align(column)}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shown.value).map((row, n) => (
            <tr key={n}>
              {row.map((cell, column) => (
                <td key={column} class={align(column)}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {hidden > 0 ? (
        <button
          type="button"
          class="more more-rows"
          onClick={() => {
            shown.value += 200;
          }}
        >
          {formatNumber(hidden)} more
        </button>
      ) : null}
    </ScrollBox>
  );
}
