/** Memory over time, what retains the bytes, the suspects, and the classes of objects. */
import type { Account, MemoryFacts, MemorySuspect } from '../../../model/account.ts';
import { formatBytes, formatNumber, formatShare } from '../../../model/quantities.ts';
import { momentOf } from '../figures/moment.ts';
import { Gauge } from '../parts/gauge.tsx';
import { MemoryChart } from '../parts/memory-chart.tsx';
import { Chip, PartTag } from '../parts/small.tsx';
import { Table } from '../parts/table.tsx';
import { Treemap } from '../parts/treemap.tsx';

export function Memory({ account }: { account: Account }) {
  const { memory, bundle, agent } = account;
  if (!memory) return null;
  return (
    <>
      <Gauges memory={memory} />
      {memory.history && memory.history.length > 1 ? (
        <MemoryChart
          samples={memory.history}
          limitBytes={memory.heapLimitBytes}
          endedAt={agent?.endedAt ?? bundle?.capturedAt}
          moment={momentOf(account)}
        />
      ) : null}
      {memory.retained?.length ? <Treemap frames={memory.retained} /> : null}
      <Suspects suspects={memory.suspects ?? []} />
      <Classes classes={memory.classes ?? []} sample={memory.sample} />
    </>
  );
}

function Gauges({ memory: { rssBytes, heapUsedBytes, heapLimitBytes } }: { memory: MemoryFacts }) {
  return (
    <div class="gauges">
      {rssBytes === undefined ? null : <Gauge name="Resident" value={formatBytes(rssBytes)} />}
      {heapUsedBytes === undefined ? null : (
        <Gauge
          name="JavaScript heap"
          value={formatBytes(heapUsedBytes)}
          share={heapLimitBytes ? heapUsedBytes / heapLimitBytes : undefined}
          note={
            heapLimitBytes
              ? `${formatShare(heapUsedBytes / heapLimitBytes)} of ${formatBytes(heapLimitBytes)}`
              : ''
          }
        />
      )}
    </div>
  );
}

function Suspects({ suspects }: { suspects: readonly MemorySuspect[] }) {
  if (!suspects.length) return null;
  return (
    <div class="suspects">
      <h3>Suspects</h3>
      <ol>
        {suspects.map(({ title, sentence, confidence, evidence, rule }, n) => (
          <li key={n}>
            <p class="suspect-title">
              {title} <Chip>{confidence}</Chip>
            </p>
            <p>{sentence}</p>
            <details>
              <summary>Evidence by the rule {rule}</summary>
              <ul>
                {evidence.map(({ fact, part }, at) => (
                  <li key={at}>
                    {fact} <PartTag part={part} />
                  </li>
                ))}
              </ul>
            </details>
          </li>
        ))}
      </ol>
    </div>
  );
}

function Classes({
  classes,
  sample,
}: {
  classes: NonNullable<MemoryFacts['classes']>;
  sample: MemoryFacts['sample'];
}) {
  if (!classes.length) return null;
  const most = Math.max(...classes.map((row) => row.retainedSizeBytes ?? row.selfSizeBytes ?? row.count));
  // A mere count of objects has no sizes; the one of a core has own sizes, but no retained ones.
  const isWeighed = classes.some(({ selfSizeBytes }) => selfSizeBytes !== undefined);
  const isRetained = classes.some(({ retainedSizeBytes }) => retainedSizeBytes !== undefined);
  return (
    <>
      <h3>Classes</h3>
      <Table
        head={[
          ...['Class', 'Objects'],
          ...(isWeighed ? ['Own'] : []),
          ...(isRetained ? ['Retained'] : []),
          'Share',
        ]}
        numbers={[1, ...(isWeighed ? [2] : []), ...(isRetained ? [3] : [])]}
        most={12}
        rows={classes.map(({ name, count, selfSizeBytes, retainedSizeBytes }) => [
          <code key="name">{name}</code>,
          formatNumber(count),
          ...(isWeighed ? [selfSizeBytes === undefined ? '' : formatBytes(selfSizeBytes)] : []),
          ...(isRetained ? [retainedSizeBytes === undefined ? '' : formatBytes(retainedSizeBytes)] : []),
          <span key="bar" class="share-bar" aria-hidden="true">
            <span
              style={{ inlineSize: `${((retainedSizeBytes ?? selfSizeBytes ?? count) / most) * 100}%` }}
            />
          </span>,
        ])}
      />
      {isRetained ? <p class="faint caption">What classes retain overlaps; it does not add up.</p> : null}
      {sample ? (
        <p class="faint caption">
          Estimated from {formatNumber(sample.lookedAt)} objects: {sample.reason}.
        </p>
      ) : null}
    </>
  );
}
