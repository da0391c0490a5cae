/** The bundle itself: its parts, and what was redacted before it was written. */
import type { Account } from '../../../model/account.ts';
import { formatBytes, formatNumber } from '../../../model/quantities.ts';
import { withheldText } from '../../../model/withheld.ts';
import { Facts } from '../parts/small.tsx';
import { Table } from '../parts/table.tsx';

export function Bundle({ account: { bundle, signature } }: { account: Account }) {
  if (!bundle) return null;
  return (
    <>
      <Facts
        facts={[
          ['Id', <code key="id">{bundle.id}</code>],
          ['Path', bundle.path],
          ['Sealed', bundle.sealed ? 'yes' : 'no: whoever wrote it did not come to the end'],
          ['Withheld', withheldText(bundle)],
          ['Signature of', signature?.parts.join(' · '), 'wide'],
        ]}
      />
      <Table
        head={['Part', 'Size', 'State', 'SHA-256']}
        rows={bundle.parts.map(({ name, bytes, complete, sha256 }) => [
          <code key="name">{name}</code>,
          formatBytes(bytes),
          complete ? 'whole' : 'cut',
          <code key="hash" class="hash">
            {sha256?.slice(0, 16)}
          </code>,
        ])}
        numbers={[1]}
      />
      {bundle.redactions?.length ? (
        <Table
          head={['Withheld by rule', 'In', 'Values']}
          rows={bundle.redactions.map(({ rule, part, count }) => [
            rule,
            <code key="part">{part}</code>,
            formatNumber(count),
          ])}
          numbers={[2]}
        />
      ) : null}
    </>
  );
}
