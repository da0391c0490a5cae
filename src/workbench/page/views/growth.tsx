/** Two or three heaps: what grew between the first and the last, as suspects, containers and classes. */
import type { HeapGrownNode, HeapGrowthRow } from '../../../model/heap.ts';
import { formatBytes, formatCount, formatNumber } from '../../../model/quantities.ts';
import { type Fact, Facts } from '../../../report/html/parts/small.tsx';
import { Table } from '../../../report/html/parts/table.tsx';
import { addresses, type ItemRow, type ViewState } from '../../protocol.ts';
import { toObject } from '../heap/place.ts';
import { SuspectList } from '../heap/suspect-list.tsx';
import { addressOf } from '../state.ts';

export function Growth({ state: { items, growth } }: { state: Extract<ViewState, { view: 'growth' }> }) {
  const { snapshots } = growth;
  const [before, after, last] = [snapshots[0], snapshots.at(-1), items.at(-1)];
  if (!before || !after || !last) return null;
  /** An object in the later heap. */
  const hrefOf = (id: number): string => addressOf(addresses.heap(last.id)) + toObject(id);
  return (
    <>
      <h1>
        {signedBytes(after.totalBytes - before.totalBytes)}{' '}
        {snapshots.length === 2 ? 'between two heaps' : `over ${snapshots.length} heaps`}
      </h1>
      <div class="growth-facts">
        <Facts
          facts={[
            ...items.map(
              (item, n): Fact => [nameOf(n, items.length), <HeapLink key={item.id} item={item} />],
            ),
            ['Size', snapshots.map(({ totalBytes }) => formatBytes(totalBytes)).join(' → ')],
            ['Objects', snapshots.map(({ nodes }) => formatNumber(nodes)).join(' → ')],
            [
              'Same objects told by',
              growth.matchedBy === 'id' ? 'their id: one process' : 'class and path: several processes',
            ],
          ]}
        />
      </div>
      {growth.gaps.map(({ part, reason }, n) => (
        <p key={n} class="gap">
          {part}: {reason}
        </p>
      ))}
      <section aria-labelledby="suspects">
        <h2 id="suspects">Suspects</h2>
        <SuspectList suspects={growth.suspects} hrefOf={hrefOf} nothing="Nothing grew that stands out." />
      </section>
      {growth.grown.length ? <Containers grown={growth.grown} hrefOf={hrefOf} /> : null}
      <Classes rows={growth.classes} count={growth.classCount} />
    </>
  );
}

const nameOf = (n: number, count: number): string =>
  n === 0 ? 'Before' : n === count - 1 ? 'After' : 'Between';

const HeapLink = ({ item: { id, name } }: { item: ItemRow }) => (
  <a href={addressOf(addresses.heap(id))}>{name}</a>
);

const signed = (value: number, format: (amount: number) => string): string =>
  value === 0 ? '0' : `${value > 0 ? '+' : '−'}${format(Math.abs(value))}`;
const signedBytes = (bytes: number): string => signed(bytes, formatBytes);
const signedCount = (count: number): string => signed(count, formatNumber);

function Containers({ grown, hrefOf }: { grown: readonly HeapGrownNode[]; hrefOf: (id: number) => string }) {
  return (
    <div class="block">
      <h2>What holds more</h2>
      <Table
        head={['Where', 'Grew by', 'Held before', 'Mostly by']}
        numbers={[1, 2]}
        rows={grown.map(({ node, path, growthBytes, beforeBytes, count, added }) => [
          <a key="path" class="object" href={hrefOf(node.id)} data-item>
            {path}
            {count > 1 ? ` (${formatCount(count, 'object')})` : ''}
          </a>,
          signedBytes(growthBytes),
          formatBytes(beforeBytes),
          added ? `${formatNumber(added.count)} × ${added.class}` : '',
        ])}
      />
    </div>
  );
}

function Classes({ rows, count }: { rows: readonly HeapGrowthRow[]; count: number }) {
  return (
    <div class="block">
      <h2>{formatCount(count, 'class changed', 'classes changed')}</h2>
      <Table
        head={['Class', 'More', 'Objects', 'Own', 'Retained', 'New', 'Gone']}
        numbers={[1, 2, 3, 4, 5, 6]}
        most={30}
        rows={rows.map((row) => [
          <code key="class">{row.class}</code>,
          signedCount(row.countGrowth),
          row.counts.map(formatNumber).join(' → '),
          signedBytes(row.sizeGrowthBytes),
          signedBytes(row.retainedGrowthBytes),
          formatNumber(row.added),
          formatNumber(row.removed),
        ])}
      />
      {count > rows.length ? (
        <p class="faint caption">The {formatNumber(rows.length)} that grew most.</p>
      ) : null}
    </div>
  );
}
