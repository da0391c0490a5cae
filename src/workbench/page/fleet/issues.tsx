/** The issues of a store, those that need attention first, with a filter. */
import { useSignal } from '@preact/signals';
import type { Issue, IssueStatus } from '../../../model/fleet/issue.ts';
import { rateOf } from '../../../model/fleet/issue-words.ts';
import { formatCount, formatNumber } from '../../../model/quantities.ts';
import { traitsOf } from '../../../model/verdict.ts';
import { ScrollBox } from '../../../report/html/parts/scroll-box.tsx';
import { Chip, CutList, type Tone, When } from '../../../report/html/parts/small.tsx';
import { addresses } from '../../protocol.ts';
import { addressOf } from '../state.ts';
import { FilterField } from '../views/filter-field.tsx';

const mostRows = 200;

export function Issues({ store, issues }: { store: string; issues: readonly Issue[] }) {
  const filter = useSignal('');
  const showsAll = useSignal(false);
  const faults = issues.filter(({ kind }) => showsAll.value || traitsOf(kind).nature !== 'asked');
  const wanted = filter.value.toLowerCase();
  const shown = faults.filter((issue) => textOf(issue).includes(wanted));
  const hasRates = issues.some(({ rate }) => rate);
  return (
    <>
      <h1>Issues</h1>
      <p class="lead">
        <code>{store}</code>
      </p>
      {issues.length === 0 ? (
        <p>No bundle was sent to this store yet. Load this page again to look anew.</p>
      ) : null}
      {issues.length > 0 ? (
        <div class="tools">
          <FilterField
            label="Filter the issues"
            value={filter.value}
            onFilter={(text) => {
              filter.value = text;
            }}
          />
          <span class="faint" role="status">
            {formatCount(shown.length, 'issue')}
          </span>
          <label class="faint">
            <input
              type="checkbox"
              onChange={(event) => {
                showsAll.value = event.currentTarget.checked;
              }}
            />{' '}
            Signals of deploys and snapshots too
          </label>
        </div>
      ) : null}
      {shown.length > 0 ? (
        <ScrollBox class="table issues" label="Issues">
          <table>
            <thead>
              <tr>
                <th scope="col">Status</th>
                <th scope="col">What</th>
                <th scope="col" class="number">
                  Deaths
                </th>
                {hasRates ? (
                  <th scope="col" class="number">
                    Of starts
                  </th>
                ) : null}
                <th scope="col">Last seen</th>
                <th scope="col">Releases</th>
              </tr>
            </thead>
            <tbody>
              <CutList
                items={shown}
                most={mostRows}
                what="issues"
                draw={(issue) => <IssueRow key={issue.id} issue={issue} hasRates={hasRates} />}
              />
            </tbody>
          </table>
        </ScrollBox>
      ) : null}
    </>
  );
}

const textOf = ({ id, title, kind, status, firstRelease = '', lastRelease = '' }: Issue): string =>
  [id, title, kind, status, firstRelease, lastRelease].join(' ').toLowerCase();

const tones: Record<IssueStatus, Tone> = {
  regressed: 'bad',
  new: 'bad',
  ongoing: 'warn',
  resolved: 'good',
  ignored: 'plain',
};

export const StatusChip = ({ status }: { status: IssueStatus }) => <Chip tone={tones[status]}>{status}</Chip>;

function IssueRow({
  issue: { id, title, status, count, rate, lastSeen, firstRelease, lastRelease },
  hasRates,
}: {
  issue: Issue;
  hasRates: boolean;
}) {
  return (
    <tr>
      <td>
        <StatusChip status={status} />
      </td>
      <td>
        <a href={addressOf(addresses.issue(id))} data-item>
          {title}
        </a>
      </td>
      <td class="number">{formatNumber(count)}</td>
      {hasRates ? <td class="number">{rate ? rateOf(rate) : ''}</td> : null}
      <td>
        <When at={lastSeen} />
      </td>
      <td>
        {firstRelease === lastRelease
          ? firstRelease
          : `${firstRelease ?? 'not known'} to ${lastRelease ?? 'not known'}`}
      </td>
    </tr>
  );
}
