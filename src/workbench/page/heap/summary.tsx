/** A summary of the heap: its size, its contents, and its leak suspects. */
import { formatBytes, formatNumber, formatShare } from '../../../model/quantities.ts';
import { Facts } from '../../../report/html/parts/small.tsx';
import { Table } from '../../../report/html/parts/table.tsx';
import type { Answers } from '../../heap/questions.ts';
import { useAnswer } from './ask.ts';
import { toObject } from './place.ts';
import { SuspectList } from './suspect-list.tsx';

export function Summary({ summary }: { summary: Answers['summary'] }) {
  const { totalBytes, nodes, edges, strings, statistics, byType, packages, gaps } = summary;
  return (
    <>
      <h1>Heap of {summary.source}</h1>
      {gaps.map(({ part, reason }) => (
        <p key={part} class="gap">
          {part}: {reason}
        </p>
      ))}
      <Facts
        facts={[
          ['Size', formatBytes(totalBytes)],
          ['Objects', formatNumber(nodes)],
          ['References', formatNumber(edges)],
          ['Strings in the table', formatNumber(strings)],
          ['In strings', formatBytes(statistics.stringBytes)],
          ['In arrays', formatBytes(statistics.jsArrayBytes)],
          ['In typed arrays', formatBytes(statistics.typedArrayBytes)],
          ['In code', formatBytes(statistics.codeBytes)],
        ]}
      />
      <section aria-labelledby="suspects">
        <h2 id="suspects">Suspects</h2>
        <Suspects />
      </section>
      <div class="sides">
        <Shares title="By kind" label="Kind" rows={byType} total={totalBytes} />
        {packages.length ? (
          <Shares title="By package of the constructor" label="Package" rows={packages} total={totalBytes} />
        ) : null}
      </div>
    </>
  );
}

interface SharesProps {
  title: string;
  /** Of the first column. */
  label: string;
  rows: readonly { name: string; count: number; selfSizeBytes: number }[];
  total: number;
}

function Shares({ title, label, rows, total }: SharesProps) {
  return (
    <div>
      <h2>{title}</h2>
      <Table
        head={[label, 'Objects', 'Own', 'Share']}
        numbers={[1, 2, 3]}
        rows={rows.map(({ name, count, selfSizeBytes }) => [
          <code key="name">{name}</code>,
          formatNumber(count),
          formatBytes(selfSizeBytes),
          formatShare(selfSizeBytes / Math.max(1, total)),
        ])}
      />
    </div>
  );
}

function Suspects() {
  const { answer, reason } = useAnswer({ ask: 'suspects' });
  if (reason !== undefined) return <p class="gap">{reason}</p>;
  if (!answer) return <p class="faint">…</p>;
  return (
    <SuspectList suspects={answer.suspects} hrefOf={toObject} nothing="Nothing in this heap stands out." />
  );
}
