/** How full the collections are: what the free entries of each class cost, with who holds them, and the worst single ones. */
import { formatBytes, formatCount, formatNumber } from '../../../model/quantities.ts';
import { Table } from '../../../report/html/parts/table.tsx';
import { useAnswer } from './ask.ts';
import { toObject } from './place.ts';

export function Fill() {
  const { answer } = useAnswer({ ask: 'fill' });
  if (!answer) return <p class="faint">…</p>;
  const { collections, capacityBytes, wastedBytes, unknown, unknownBytes } = answer;
  const { classes, classCount, largest } = answer;
  return (
    <>
      <h1>Collections</h1>
      <p class="lead">
        {formatCount(collections, 'collection')} reserve {formatBytes(capacityBytes)}. Free entries waste{' '}
        {formatBytes(wastedBytes)}.
      </p>
      <div class="block fill">
        <h2>By class</h2>
        <Table
          head={['Class', 'Wasted', 'Full', 'Collections', 'Empty', 'Held by']}
          numbers={[1, 2, 3, 4]}
          most={30}
          rows={classes.map(({ class: name, kind, holders, ...row }) => [
            <span key="class">
              <code>{name}</code> <span class="faint">{kind === name ? '' : kind}</span>
            </span>,
            formatBytes(row.wastedBytes),
            row.fill === null ? '' : `${Math.round(100 * row.fill)} %`,
            formatNumber(row.count),
            formatNumber(row.empty),
            holders.map(({ holder, count }) => `${holder} ${formatNumber(count)}`).join(', '),
          ])}
        />
        {classCount > classes.length ? (
          <p class="faint caption">The {formatNumber(classes.length)} that waste most.</p>
        ) : null}
      </div>
      <div class="block fill">
        <h2>Largest waste</h2>
        <Table
          head={['Object', 'Wasted', 'Used', 'Of', 'Where']}
          numbers={[1, 2, 3]}
          most={30}
          rows={largest.map(({ id, class: name, path, ...one }) => [
            <a key="object" class="object" href={toObject(id)} data-item>
              <span class="object-class">{name}</span> <span class="object-id">@{id}</span>
            </a>,
            formatBytes(one.wastedBytes),
            formatNumber(one.used),
            formatNumber(one.capacity),
            <code key="where">{path}</code>,
          ])}
        />
      </div>
      {unknown > 0 ? (
        <p class="faint caption">
          The use of {formatCount(unknown, 'collection')} ({formatBytes(unknownBytes)}) is not known: they are
          empty or hold only numbers, which V8 does not write.
        </p>
      ) : null}
    </>
  );
}
