/** The history of one issue: the facts of `agentdump issues show`, and its bundles to open and compare. */
import type { IssueStory, StoredDeath } from '../../../model/fleet/issue.ts';
import { namesOf, rateSentence } from '../../../model/fleet/issue-words.ts';
import { formatBytes, formatCount, formatNumber } from '../../../model/quantities.ts';
import { ScrollBox } from '../../../report/html/parts/scroll-box.tsx';
import { CutList, Facts, When } from '../../../report/html/parts/small.tsx';
import { Table } from '../../../report/html/parts/table.tsx';
import { addresses } from '../../protocol.ts';
import { addressOf } from '../state.ts';
import { ChosenHead, CompareLink, useChosen } from '../views/chosen.tsx';
import { StatusChip } from './issues.tsx';

const mostRows = 50;

export function IssuePage({ story }: { story: IssueStory }) {
  const { title, status, count, id, resolved, because, bundles, runs } = story;
  return (
    <>
      <h1>{title}</h1>
      <p class="lead">
        <StatusChip status={status} /> {formatCount(count, 'death')} · <code>{id}</code>
      </p>
      <div class="story">
        <Facts
          facts={[
            ['First seen', <Seen key="first" at={story.firstSeen} release={story.firstRelease} />],
            ['Last seen', <Seen key="last" at={story.lastSeen} release={story.lastRelease} />],
            ['Resolved', resolved && <Seen at={resolved.at} release={resolved.release} />],
            [
              'Bundles',
              bundles < count ? `${formatNumber(bundles)}; the other deaths were counted only` : undefined,
            ],
            ['Rate', rateSentence(story), 'wide'],
            ['Agent runs', runs ? formatNumber(runs) : undefined],
            ['Hosts', namesOf(story, 'hosts')],
            ['Node', namesOf(story, 'nodeVersions')],
            ['Environments', namesOf(story, 'environments')],
            ['Agents', namesOf(story, 'agents')],
            ['Programs', namesOf(story, 'programs'), 'wide'],
            ['Grouped because', because, 'wide'],
          ]}
        />
      </div>
      <Deaths story={story} />
      <div class="block">
        <h2>By release</h2>
        <Table
          head={['Release', 'Deaths', 'First seen', 'Last seen']}
          numbers={[1]}
          rows={story.releases.map(({ release, count, firstSeen, lastSeen }) => [
            release ?? 'not known',
            formatNumber(count),
            <When key="first" at={firstSeen} />,
            <When key="last" at={lastSeen} />,
          ])}
        />
      </div>
      <Hours hours={story.hours} />
    </>
  );
}

function Seen({ at, release }: { at: string; release: string | undefined }) {
  return (
    <>
      <When at={at} />
      {release === undefined ? null : `, in ${release}`}
    </>
  );
}

/** The newest hour first, each relative to the worst one. */
function Hours({ hours }: { hours: IssueStory['hours'] }) {
  const most = Math.max(1, ...hours.map(({ count }) => count));
  return (
    <div class="block">
      <h2>By hour</h2>
      <Table
        head={['Hour', 'Deaths', 'Share of the worst hour']}
        numbers={[1]}
        most={24}
        rows={hours.toReversed().map(({ hour, count }) => [
          <When key="hour" at={hour} />,
          formatNumber(count),
          <span key="bar" class="gauge-bar" aria-hidden="true">
            <span style={{ inlineSize: `${(count / most) * 100}%` }} />
          </span>,
        ])}
      />
    </div>
  );
}

function Deaths({ story: { deaths, bundles } }: { story: IssueStory }) {
  const { chosen, choose } = useChosen();
  const kept = deaths.filter(({ path }) => path !== undefined);
  const items = kept.map(({ bundle }) => ({ id: encodeURIComponent(bundle), kind: 'bundle' as const }));
  const more = bundles - kept.length;
  return (
    <div class="block">
      <h2>Bundles</h2>
      <div class="tools">
        <CompareLink items={items} chosen={chosen} hint="Choose two to compare them." />
      </div>
      <ScrollBox class="table bundles" label="Bundles">
        <table>
          <ChosenHead names={['When', 'Program', 'Host', 'Node', 'Release']} />
          <tbody>
            <CutList
              items={deaths}
              most={mostRows}
              what="bundles"
              draw={(death) => (
                <DeathRow
                  key={death.bundle}
                  death={death}
                  isChosen={chosen.includes(encodeURIComponent(death.bundle))}
                  choose={choose}
                />
              )}
            />
          </tbody>
        </table>
      </ScrollBox>
      {more > 0 ? (
        <p class="faint caption">The newest; {formatNumber(more)} older ones are not listed.</p>
      ) : null}
    </div>
  );
}

interface DeathRowProps {
  death: StoredDeath;
  isChosen: boolean;
  choose: (id: string) => void;
}

function DeathRow({ death, isChosen, choose }: DeathRowProps) {
  const { bundle, at, program, host, nodeVersion, release, bytes, path } = death;
  const id = encodeURIComponent(bundle);
  return (
    <tr>
      <td>
        {path === undefined ? null : (
          <input
            type="checkbox"
            aria-label={`Choose ${bundle}`}
            checked={isChosen}
            onChange={() => choose(id)}
          />
        )}
      </td>
      <td>
        {path === undefined ? (
          <When at={at} />
        ) : (
          <a href={addressOf(addresses.item(id))} data-item title={path}>
            <When at={at} />
          </a>
        )}
      </td>
      <td>{program}</td>
      <td>{host}</td>
      <td>{nodeVersion}</td>
      <td>{release}</td>
      <td class="number">{path === undefined ? 'removed' : formatBytes(bytes)}</td>
    </tr>
  );
}
