/** Two bundles side by side: the verdict and stack of each, and the differences below. */
import type { Account } from '../../../model/account.ts';
import type { BundleDiff, DiffChange } from '../../../model/diff.ts';
import { culpritFrame } from '../../../model/frame-text.ts';
import { formatCount } from '../../../model/quantities.ts';
import { changesBySection, sectionTitles, valueText } from '../../../report/diff/lines.ts';
import { Frames } from '../../../report/html/parts/frames.tsx';
import { ScrollBox } from '../../../report/html/parts/scroll-box.tsx';
import { Chip, LongText, When } from '../../../report/html/parts/small.tsx';
import { addresses, type ItemRow, type ViewState } from '../../protocol.ts';
import { addressOf } from '../state.ts';

export function Diff({
  state: { a, b, diff, accounts, hasHeaps },
}: {
  state: Extract<ViewState, { view: 'diff' }>;
}) {
  const count = diff.changes.length ? formatCount(diff.changes.length, 'difference') : 'no differences';
  return (
    <>
      <h1>{headline(diff, count)}</h1>
      {hasHeaps ? <a href={addressOf(addresses.growth(a.id, b.id))}>Compare their heaps</a> : null}
      <div class="sides">
        <Side name="Before" item={a} account={accounts[0]} prefix="before" />
        <Side name="After" item={b} account={accounts[1]} prefix="after" />
      </div>
      {diff.leads.length ? (
        <section aria-labelledby="leads">
          <h2 id="leads">What may matter</h2>
          <ul class="plain-list">
            {diff.leads.map(({ fact }) => (
              <li key={fact}>{fact}</li>
            ))}
          </ul>
        </section>
      ) : null}
      {changesBySection(diff).map(([section, changes]) => (
        <div key={section} class="block">
          <h2>{sectionTitles[section]}</h2>
          <Changes changes={changes} title={sectionTitles[section]} />
        </div>
      ))}
      <Fork diff={diff} />
      <Unknown diff={diff} />
    </>
  );
}

function headline({ sameSignature }: BundleDiff, count: string): string {
  if (sameSignature === undefined) return `Two bundles, ${count}`;
  return `${sameSignature ? 'The same death' : 'Another death'}, ${count}`;
}

interface SideProps {
  name: string;
  item: ItemRow;
  account: Account;
  prefix: string;
}

function Side({ name, item, account: { verdict, bundle, error, process }, prefix }: SideProps) {
  return (
    <section aria-labelledby={`${prefix}-side ${prefix}-title`}>
      <p class="faint" id={`${prefix}-side`}>
        {name}, <When at={bundle?.capturedAt ?? item.at} />
      </p>
      <h2 id={`${prefix}-title`}>
        <a href={addressOf(addresses.item(item.id))} data-item>
          {verdict?.title ?? item.name}
        </a>
      </h2>
      {verdict ? (
        <>
          <p>
            <Chip>{verdict.kind.replaceAll('-', ' ')}</Chip> <Chip>{verdict.confidence}</Chip>
          </p>
          <LongText text={verdict.summary} most={600} />
        </>
      ) : null}
      {error?.frames?.length ? (
        <Frames
          frames={error.frames}
          prefix={`${prefix}-frame`}
          cwd={process?.cwd}
          opened={culpritFrame(error.frames)}
        />
      ) : null}
    </section>
  );
}

function Changes({ changes, title }: { changes: readonly DiffChange[]; title: string }) {
  return (
    <ScrollBox class="table" label={title}>
      <table class="changes">
        <thead>
          <tr>
            {['What', 'Before', 'After'].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {changes.map((change) => (
            <tr key={change.subject}>
              <th scope="row">
                {change.subject} <span class="faint">{change.change}</span>
              </th>
              <td>{change.before === undefined ? '' : valueText(change.before, change)}</td>
              <td>{change.after === undefined ? '' : valueText(change.after, change)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

function Fork({ diff: { fork } }: { diff: BundleDiff }) {
  if (!fork) return null;
  const side = (message: typeof fork.before) =>
    message ? (
      <LongText text={`${message.role}: ${message.text}`} />
    ) : (
      <p class="faint">The conversation ends here.</p>
    );
  return (
    <section aria-labelledby="fork">
      <h2 id="fork">Conversation</h2>
      <p class="faint">{formatCount(fork.index, 'message')} alike, then:</p>
      <div class="sides">
        {side(fork.before)}
        {side(fork.after)}
      </div>
    </section>
  );
}

function Unknown({ diff: { alike, notCompared, gaps } }: { diff: BundleDiff }) {
  return (
    <section aria-labelledby="rest">
      <h2 id="rest">The rest</h2>
      <ul class="plain-list">
        {alike.length ? (
          <li>Alike: {alike.map((name) => sectionTitles[name].toLowerCase()).join(', ')}.</li>
        ) : null}
        {notCompared.map(({ section, reason }) => (
          <li key={section}>
            {sectionTitles[section]}, not compared: {reason}
          </li>
        ))}
        {gaps.map(({ bundle, part, reason }, n) => (
          <li key={n}>
            Gap in {bundle.slice(0, 8)}, {part}: {reason}
          </li>
        ))}
      </ul>
    </section>
  );
}
