/** The issues of a store, the history of one, and the state of sent bundles, for people. */
import type { Issue, IssueStatus, IssueStory, Reprocessed, SentBundle } from '../model/fleet/issue.ts';
import { namesOf, rateOf, rateSentence } from '../model/fleet/issue-words.ts';
import { formatBytes, formatCount } from '../model/quantities.ts';
import { defuseWorkflowCommands, escapeLine } from './escape-terminal.ts';
import { type Palette, plainPalette } from './palette.ts';
import { keyValues, type Page, section, wrap } from './text/layout.ts';
import { renderTable } from './text/table.ts';

type Look = Partial<Page>;

const pageOf = ({ palette = plainPalette, columns = 100 }: Look): Page => ({ palette, columns });
const textOf = (lines: readonly string[]): string => `${defuseWorkflowCommands(lines.join('\n'))}\n`;

const paintOf: Record<IssueStatus, keyof Palette> = {
  regressed: 'bad',
  new: 'bad',
  ongoing: 'warn',
  resolved: 'good',
  ignored: 'faint',
};

export function renderIssueList(issues: readonly Issue[], look: Look = {}): string {
  const page = pageOf(look);
  const hasRates = issues.some(({ rate }) => rate);
  const rows = issues.map((issue) => [
    issue.id.slice(0, 8),
    page.palette[paintOf[issue.status]](issue.status),
    String(issue.count),
    ...(hasRates ? [issue.rate ? rateOf(issue.rate) : ''] : []),
    shortTime(issue.lastSeen),
    escapeLine(releasesOf(issue)),
    escapeLine(issue.title),
  ]);
  const rates = hasRates ? ['of starts'] : [];
  const head = ['id', 'status', 'deaths', ...rates, 'last seen (UTC)', 'releases', 'what'];
  return textOf(renderTable(page, head, rows));
}

function releasesOf({ firstRelease, lastRelease }: Issue): string {
  if (firstRelease === lastRelease) return firstRelease ?? '';
  return `${firstRelease ?? '?'} to ${lastRelease ?? '?'}`;
}

const shortTime = (time: string): string => time.replace(/^(.{10})T(.{5}).*$/, '$1 $2');

export function renderIssue(issue: IssueStory, look: Look = {}): string {
  const page = pageOf(look);
  const { palette } = page;
  const head = `  ${[issue.status, formatCount(issue.count, 'death'), issue.id].join(' · ')}`;
  const seen = (time: string, release: string | undefined) =>
    shortTime(time) + (release === undefined ? '' : `, in ${escapeLine(release)}`);
  const { resolved } = issue;
  return textOf([
    palette.strong(escapeLine(issue.title)),
    palette[paintOf[issue.status]](head),
    ...section(
      page,
      'History',
      keyValues(page, [
        ['first seen', seen(issue.firstSeen, issue.firstRelease)],
        ['last seen', seen(issue.lastSeen, issue.lastRelease)],
        ['resolved', resolved && seen(resolved.at, resolved.release)],
        [
          'bundles',
          issue.bundles < issue.count ? `${issue.bundles}; the other deaths were counted only` : undefined,
        ],
        ['rate', rateSentence(issue)],
        ['agent runs', issue.runs ? String(issue.runs) : undefined],
        ['programs', namesOf(issue, 'programs', escapeLine)],
        ['hosts', namesOf(issue, 'hosts', escapeLine)],
        ['Node', namesOf(issue, 'nodeVersions', escapeLine)],
        ['environments', namesOf(issue, 'environments', escapeLine)],
        ['agents', namesOf(issue, 'agents', escapeLine)],
      ]),
    ),
    ...section(page, 'Grouped because', wrap(escapeLine(issue.because), page.columns - 2)),
    ...section(page, 'By release', tableOfReleases(page, issue)),
    ...section(page, 'By hour (UTC)', tableOfHours(page, issue)),
    ...section(page, 'Bundles', tableOfDeaths(page, issue)),
  ]);
}

function tableOfReleases(page: Page, { releases }: IssueStory): string[] {
  const rows = releases.map(({ release, count, firstSeen, lastSeen }) => [
    escapeLine(release ?? 'not known'),
    String(count),
    shortTime(firstSeen),
    shortTime(lastSeen),
  ]);
  return renderTable(page, ['release', 'deaths', 'first seen', 'last seen'], rows);
}

const mostHours = 24;
const widestBar = 40;

/** The last hours. */
function tableOfHours(page: Page, { hours }: IssueStory): string[] {
  const shown = hours.slice(-mostHours);
  const most = Math.max(...shown.map(({ count }) => count));
  const rows = shown.map(({ hour, count }) => [
    shortTime(hour),
    String(count),
    '#'.repeat(Math.max(1, Math.round((count / most) * widestBar))),
  ]);
  const earlier = hours.length - shown.length;
  return [
    ...renderTable(page, ['hour', 'deaths', ''], rows),
    ...(earlier > 0 ? [page.palette.faint(`and ${formatCount(earlier, 'earlier hour')}`)] : []),
  ];
}

function tableOfDeaths(page: Page, { deaths, bundles }: IssueStory): string[] {
  const rows = deaths.map(({ at, bundle, program, host, nodeVersion, release, bytes, path }) =>
    [
      shortTime(at),
      bundle.slice(0, 12),
      program ?? '',
      host ?? '',
      nodeVersion ?? '',
      release ?? '',
      path === undefined ? '' : formatBytes(bytes),
      path ?? 'removed',
    ].map(escapeLine),
  );
  const head = ['when (UTC)', 'bundle', 'program', 'host', 'Node', 'release', 'size', 'kept at'];
  const more = bundles - deaths.filter(({ path }) => path !== undefined).length;
  return [
    ...renderTable(page, head, rows),
    ...(more > 0 ? [page.palette.faint(`and ${more} more: --limit shows them`)] : []),
  ];
}

export function renderReprocessed({ deaths, unreadable, issuesBefore, issuesAfter }: Reprocessed): string {
  if (deaths === 0) return 'all deaths are grouped by the rules of now\n';
  const left = unreadable ? `; ${unreadable} stay as they were, for their bundles can't be read` : '';
  return `${formatCount(deaths, 'death')} grouped anew${left}: ${formatCount(issuesBefore, 'issue')} before, ${issuesAfter} now\n`;
}

export function renderSent(sent: readonly SentBundle[], { palette = plainPalette }: Look = {}): string {
  const lines = sent.map(({ path, outcome, issue, because }) => {
    const name = escapeLine(path.split(/[\\/]/).filter(Boolean).at(-1) ?? path);
    if (outcome === 'refused') return `${palette.bad('refused')}  ${name}: ${escapeLine(because ?? '')}`;
    return `${palette.good(outcome === 'stored' ? 'stored ' : 'there  ')}  ${name}  issue ${issue?.slice(0, 8) ?? ''}`;
  });
  return textOf(lines);
}
