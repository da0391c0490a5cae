/** The classes of a heap, sorted and filtered; each links to its objects. */
import { useSignal } from '@preact/signals';
import { formatBytes, formatNumber } from '../../../model/quantities.ts';
import type { ClassListRow, ClassOrder } from '../../heap/questions.ts';
import { FilterField } from '../views/filter-field.tsx';
import { LongTable, Total } from './long-table.tsx';
import { adjust, hrefTo, place, toClass } from './place.ts';

const orders: readonly { order: ClassOrder; name: string }[] = [
  { order: 'name', name: 'Class' },
  { order: 'count', name: 'Objects' },
  { order: 'self', name: 'Own' },
  { order: 'retained', name: 'Retained' },
];

export function Classes() {
  const { sort = 'retained', filter = '' } = place.value;
  const total = useSignal<number | undefined>(undefined);
  const order = orders.find((known) => known.order === sort)?.order ?? 'retained';
  return (
    <>
      <div class="tools">
        <h1>Classes</h1>
        <FilterField
          label="Filter the classes"
          value={filter}
          onFilter={(text) => adjust({ ...place.value, filter: text })}
        />
        <Total total={total.value} what="class" plural="classes" />
      </div>
      <LongTable<ClassListRow>
        label="Classes"
        what="class"
        columns={orders.map(({ order: own, name }) => ({
          name,
          ...(own === 'name' ? { isWide: true } : { isNumber: true }),
          sort: { isOn: own === order, href: hrefTo({ ...place.value, sort: own }) },
        }))}
        question={(part) => ({ ask: 'classes', sort: order, filter, ...part })}
        cells={({ class: kind, name, count, self, retained, source }) => [
          <a key="class" class="object" href={toClass(kind)} data-item title={name}>
            <span class="object-class">{name}</span>
            {source?.file === undefined ? null : (
              <span class="object-text">
                {' '}
                {source.file}:{source.line}
              </span>
            )}
          </a>,
          formatNumber(count),
          formatBytes(self),
          formatBytes(retained),
        ]}
        onTotal={(count) => {
          total.value = count;
        }}
      />
      <p class="faint caption">What classes retain overlaps; it does not add up.</p>
    </>
  );
}
