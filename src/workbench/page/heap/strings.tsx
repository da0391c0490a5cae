/** Duplicate strings in the heap, by the size of the copies. */

import type { HeapStringRow } from '../../../model/heap.ts';
import { formatBytes, formatNumber } from '../../../model/quantities.ts';
import { LongTable } from './long-table.tsx';
import { toObject } from './place.ts';

export function Strings() {
  return (
    <>
      <h1>Strings with copies</h1>
      <LongTable<HeapStringRow>
        label="Strings with copies"
        what="string with copies"
        columns={[
          { name: 'Text', isWide: true },
          { name: 'Copies', isNumber: true },
          { name: 'Own', isNumber: true },
          { name: 'Wasted', isNumber: true },
        ]}
        question={(part) => ({ ask: 'strings', ...part })}
        cells={({ value, count, selfSizeBytes, wastedBytes, id }) => [
          <a key="text" class="object" href={toObject(id)} data-item title={value}>
            {value || '(empty)'}
          </a>,
          formatNumber(count),
          formatBytes(selfSizeBytes),
          formatBytes(wastedBytes),
        ]}
      />
      <p class="faint caption">
        The 2,000 whose copies cost most. Every string can be found by a query: type = "string" and value ~
        "…".
      </p>
    </>
  );
}
