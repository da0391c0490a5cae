/** The issues of a store: the list, the history of one, and the decisions of users. */
import { AgentdumpError } from '../errors.ts';
import type {
  Counted,
  Issue,
  IssueSignature,
  IssueStory,
  ReleaseCount,
  StoredDeath,
} from '../model/fleet/issue.ts';
import { issueStatuses } from '../model/fleet/issue.ts';
import { traitsOf } from '../model/verdict.ts';
import { becauseOf } from './because.ts';
import { type IndexDatabase, iso, type Query } from './index/database.ts';
import { type StatusFacts, statusOf } from './index/issue-status.ts';
import type { Store } from './open-store.ts';

interface IssueRow {
  id: string;
  resolved_at: string | null;
  resolved_release: string | null;
  ignored_at: string | null;
  signatures: (IssueSignature & { link: string; kind: Issue['kind']; title: string; program: string })[];
  releases: { release: string; count: number; first_seen: string; last_seen: string }[];
}

/** One row per issue; the signature that gave it its id comes first. */
const issueStatement = (where: string) => `
  select issue.id, ${iso('issue.resolved_at')} as resolved_at, issue.resolved_release,
    ${iso('issue.ignored_at')} as ignored_at, signed.signatures, spanned.releases
  from agentdump_issues as issue
  join (
    select issue, jsonb_agg(jsonb_build_object('id', id, 'version', version, 'parts', parts, 'link', link, 'count', count,
      'kind', kind, 'title', title, 'program', program) order by id <> issue, id) as signatures
    from agentdump_signatures where count > 0 ${where} group by issue) as signed on signed.issue = issue.id
  join (
    select issue, jsonb_agg(jsonb_build_object('release', release, 'count', count,
      'first_seen', ${iso('first_seen')}, 'last_seen', ${iso('last_seen')})) as releases
    from (
      select signature.issue, span.release, sum(span.count) as count, min(span.first_seen) as first_seen,
        max(span.last_seen) as last_seen
      from agentdump_spans as span join agentdump_signatures as signature on signature.id = span.signature
      where span.count > 0 ${where} group by signature.issue, span.release) as of_release
    group by issue) as spanned on spanned.issue = issue.id`;

export interface ListOptions {
  /** Include what is no fault: signals of a deploy, and snapshots. */
  all?: boolean;
  nowMs?: number;
}

/** Issues that need attention first; within a status, the one seen last. */
export async function listIssues({ index }: Store, options: ListOptions = {}): Promise<Issue[]> {
  const { all = false, nowMs = Date.now() } = options;
  const rows = await index.query<IssueRow>(issueStatement(''));
  const known = await readReleases(index.query);
  return rows
    .map((row) => issueOf(row, known, nowMs))
    .filter(({ kind }) => all || isFault(kind))
    .sort(
      (a, b) =>
        issueStatuses.indexOf(a.status) - issueStatuses.indexOf(b.status) ||
        Date.parse(b.lastSeen) - Date.parse(a.lastSeen) ||
        (a.id < b.id ? -1 : 1),
    );
}

function isFault(kind: Issue['kind']): boolean {
  return traitsOf(kind).nature !== 'asked';
}

type KnownReleases = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** By program. */
async function readReleases(query: Query): Promise<KnownReleases> {
  const rows = await query<{ program: string; release: string; first_seen: string }>(
    `select program, release, ${iso('first_seen')} as first_seen from agentdump_releases`,
  );
  const known = new Map<string, Map<string, string>>();
  for (const { program, release, first_seen } of rows) {
    const releases = known.get(program) ?? new Map<string, string>();
    known.set(program, releases.set(release, first_seen));
  }
  return known;
}

function issueOf(row: IssueRow, known: KnownReleases, nowMs: number): Issue {
  const [first] = row.signatures;
  const releases = releasesOf(row);
  const oldest = releases[0];
  const latest = releases.reduce((a, b) => (b.lastSeen > a.lastSeen ? b : a), releases[0]!);
  return {
    id: row.id,
    title: first?.title ?? '',
    kind: first?.kind ?? 'unknown',
    count: row.signatures.reduce((sum, { count }) => sum + count, 0),
    firstSeen: oldest?.firstSeen ?? '',
    lastSeen: latest?.lastSeen ?? '',
    ...(oldest?.release !== undefined && { firstRelease: oldest.release }),
    ...(latest?.release !== undefined && { lastRelease: latest.release }),
    status: statusOf(statusFacts(row, releases, known), nowMs),
    because: becauseOf(row.signatures),
  };
}

function statusFacts(row: IssueRow, releases: readonly ReleaseCount[], known: KnownReleases): StatusFacts {
  const programs = new Set(row.signatures.map(({ program }) => program));
  return {
    firstSeen: releases[0]?.firstSeen ?? '',
    releases,
    known: new Map([...programs].flatMap((program) => [...(known.get(program) ?? [])])),
    ...(row.resolved_at !== null && { resolvedAt: row.resolved_at }),
    ...(row.resolved_release !== null && { resolvedRelease: row.resolved_release }),
    ...(row.ignored_at !== null && { ignoredAt: row.ignored_at }),
  };
}

/** In the order in which they were first seen. */
function releasesOf({ releases }: IssueRow): ReleaseCount[] {
  return releases
    .map(({ release, count, first_seen, last_seen }) => ({
      ...(release !== '' && { release }),
      count: Number(count),
      firstSeen: first_seen,
      lastSeen: last_seen,
    }))
    .sort((a, b) => (a.firstSeen < b.firstSeen ? -1 : 1));
}

/**
 * By its id, by the id of a signature that is or was in it, or by a prefix. Throws `not-found`, and `usage` for an ambiguous
 * prefix.
 */
export async function findIssue(index: { query: Query }, word: string): Promise<string> {
  const rows = /^[0-9a-f]{1,16}$/.test(word)
    ? await index.query<{ issue: string }>(
        `select distinct issue from agentdump_signatures as named
         where (starts_with(id, $1) or starts_with(issue, $1))
           and exists (select from agentdump_signatures where issue = named.issue and count > 0) limit 3`,
        [word],
      )
    : [];
  const [found, other] = rows;
  if (!found) throw new AgentdumpError('not-found', `there is no issue ${word}`, { name: word });
  if (other)
    throw new AgentdumpError('usage', `several issues begin with ${word}: write more of its id`, {
      argument: 'id',
    });
  return found.issue;
}

export interface ShowOptions {
  mostDeaths?: number;
  nowMs?: number;
}

const mostNames = 20;

export async function showIssue(store: Store, word: string, options: ShowOptions = {}): Promise<IssueStory> {
  const { mostDeaths = 20, nowMs = Date.now() } = options;
  const { query } = store.index;
  const id = await findIssue(store.index, word);
  const [row] = await query<IssueRow>(`${issueStatement('and issue = $1')}`, [id]);
  if (!row) throw new AgentdumpError('not-found', `there is no issue ${word}`, { name: word });
  const counted = async (column: string): Promise<Counted[]> =>
    query(
      `select death.${column} as name, sum(1 + death.repeats)::integer as count ${ofIssue} and death.${column} is not null
       group by death.${column} order by count desc, name limit ${mostNames}`,
      [id],
    );
  const [sum] = await query<{ runs: number; bundles: number }>(
    `select coalesce(sum(runs), 0)::double precision as runs, count(*) filter (where death.is_kept)::integer as bundles ${ofIssue}`,
    [id],
  );
  return {
    ...issueOf(row, await readReleases(query), nowMs),
    signatures: row.signatures.map(({ id, version, parts, count }) => ({ id, version, parts, count })),
    ...(row.resolved_at !== null && {
      resolved: {
        at: row.resolved_at,
        ...(row.resolved_release !== null && { release: row.resolved_release }),
      },
    }),
    bundles: sum?.bundles ?? 0,
    runs: sum?.runs ?? 0,
    hours: await query(
      `select ${iso('hour')} as hour, sum(hours.count)::integer as count from agentdump_hours as hours
       join agentdump_signatures as signature on signature.id = hours.signature
       where signature.issue = $1 and hours.count > 0 group by hour order by hour`,
      [id],
    ),
    releases: releasesOf(row),
    programs: await counted('program'),
    hosts: await counted('host'),
    nodeVersions: await counted('node'),
    environments: await counted('environment'),
    agents: await counted('agent'),
    deaths: await readDeaths(store, id, mostDeaths),
  };
}

const ofIssue = `from agentdump_deaths as death join agentdump_signatures as signature on signature.id = death.signature
  where signature.issue = $1`;

async function readDeaths({ index, blobs }: Store, id: string, most: number): Promise<StoredDeath[]> {
  const rows = await index.query<{ [name: string]: string | number | boolean | null; blob: string }>(
    `select death.bundle, ${iso('death.at')} as at, death.program, death.host, death.node as "nodeVersion", death.release,
       death.commit_id as commit, death.environment, death.agent, death.blob, death.is_kept, death.bytes::double precision as bytes
     ${ofIssue} order by death.is_kept desc, death.at desc, death.bundle limit $2::integer`,
    [id, most],
  );
  return rows.map(({ blob, is_kept, ...row }) => {
    const known = Object.entries(row).filter(([, value]) => value !== null);
    return {
      ...Object.fromEntries(known),
      ...(is_kept && { path: blobs.locate(blob) }),
    } as unknown as StoredDeath;
  });
}

/** `release`: the release that has the fix; deaths of older ones don't reopen the issue. */
export async function resolveIssue(index: IndexDatabase, word: string, release?: string): Promise<string> {
  const id = await findIssue(index, word);
  await index.query(
    'update agentdump_issues set resolved_at = now(), resolved_release = $2, ignored_at = null where id = $1',
    [id, release ?? null],
  );
  return id;
}

export async function ignoreIssue(index: IndexDatabase, word: string): Promise<string> {
  const id = await findIssue(index, word);
  await index.query('update agentdump_issues set ignored_at = now() where id = $1', [id]);
  return id;
}

/** Undoes the decision of a user. */
export async function reopenIssue(index: IndexDatabase, word: string): Promise<string> {
  const id = await findIssue(index, word);
  await index.query(
    'update agentdump_issues set resolved_at = null, resolved_release = null, ignored_at = null where id = $1',
    [id],
  );
  return id;
}

/** Moves the deaths of the others, and all future deaths with their signatures, into the first issue. */
export function mergeIssues(index: IndexDatabase, into: string, others: readonly string[]): Promise<string> {
  return index.transaction(async (query) => {
    const id = await findIssue({ query }, into);
    for (const other of others) {
      const from = await findIssue({ query }, other);
      await query('update agentdump_signatures set issue = $1 where issue = $2', [id, from]);
    }
    return id;
  });
}

/**
 * Undoes a merge: each signature becomes an issue of its own. Returns their ids. Throws `usage` for an issue that was never
 * merged.
 */
export function splitIssue(index: IndexDatabase, word: string): Promise<string[]> {
  return index.transaction(async (query) => {
    const id = await findIssue({ query }, word);
    const rows = await query<{ id: string }>(
      'select id from agentdump_signatures where issue = $1 and count > 0 order by id',
      [id],
    );
    if (rows.length < 2)
      throw new AgentdumpError('usage', `issue ${id} has one signature: nothing was merged into it`, {
        argument: 'id',
      });
    for (const row of rows) {
      await query('insert into agentdump_issues (id) values ($1) on conflict (id) do nothing', [row.id]);
      await query('update agentdump_signatures set issue = id where id = $1', [row.id]);
    }
    return rows.map((row) => row.id);
  });
}
