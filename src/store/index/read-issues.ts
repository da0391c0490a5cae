/**
 * Reads issues from what is counted of their signatures. The releases of an issue are read only where its status depends on
 * them, because a long-lived fault has many.
 */
import type { Issue, IssueSignature, ReleaseCount } from '../../model/fleet/issue.ts';
import { becauseOf } from '../grouping/because.ts';
import { iso, type Query } from './database.ts';
import { ProgramReleases, statusOf } from './issue-status.ts';

interface SignatureRow extends IssueSignature {
  issue: string;
  link: string;
  kind: Issue['kind'];
  title: string;
  program: string;
  bundles: number;
  runs: number;
  first_seen: string;
  first_release: string;
  last_seen: string;
  last_release: string;
  resolved_at: string | null;
  resolved_release: string | null;
  ignored_at: string | null;
}

type Signatures = [SignatureRow, ...SignatureRow[]];

export interface FoundIssue {
  issue: Issue;
  /** The one that gave it its id comes first. */
  signatures: Signatures;
  resolved?: { at: string; release?: string };
}

/** @param only the id of one issue. */
export async function readIssues(query: Query, nowMs: number, only?: string): Promise<FoundIssue[]> {
  const rows = await query<SignatureRow>(
    `select signature.id, version, parts, link, kind, title, program, issue, count, bundles, runs::double precision as runs,
       ${iso('first_seen')} as first_seen, first_release, ${iso('last_seen')} as last_seen, last_release,
       ${iso('resolved_at')} as resolved_at, resolved_release, ${iso('ignored_at')} as ignored_at
     from agentdump_signatures as signature join agentdump_issues as issue on issue.id = signature.issue
     where count > 0 ${only === undefined ? '' : 'and issue = $1'} order by issue, signature.id <> issue, signature.id`,
    only === undefined ? [] : [only],
  );
  const byIssue = groupBy(rows, ({ issue }) => issue);
  const decisive = await readDecisiveReleases(query, byIssue);
  const releasesOf = await readKnownReleases(query);
  return [...byIssue].map(([id, signatures]) =>
    foundOf(id, signatures, { releases: decisive.get(id) ?? [], known: releasesOf(signatures) }, nowMs),
  );
}

interface StatusReleases {
  releases: ReleaseCount[];
  known: ProgramReleases;
}

function foundOf(
  id: string,
  signatures: Signatures,
  { releases, known }: StatusReleases,
  nowMs: number,
): FoundIssue {
  const [first] = signatures;
  const oldest = signatures.reduce((a, b) => (b.first_seen < a.first_seen ? b : a));
  const latest = signatures.reduce((a, b) => (b.last_seen > a.last_seen ? b : a));
  const { resolved_at, resolved_release, ignored_at } = oldest;
  const status = statusOf(
    {
      firstSeen: oldest.first_seen,
      releases,
      known,
      ...(resolved_at !== null && { resolvedAt: resolved_at }),
      ...(resolved_release !== null && { resolvedRelease: resolved_release }),
      ...(ignored_at !== null && { ignoredAt: ignored_at }),
    },
    nowMs,
  );
  const issue: Issue = {
    id,
    title: first.title,
    kind: first.kind,
    count: signatures.reduce((sum, { count }) => sum + count, 0),
    firstSeen: oldest.first_seen,
    lastSeen: latest.last_seen,
    ...(oldest.first_release !== '' && { firstRelease: oldest.first_release }),
    ...(latest.last_release !== '' && { lastRelease: latest.last_release }),
    status,
    because: becauseOf(signatures),
  };
  const release = resolved_release === null ? {} : { release: resolved_release };
  return { issue, signatures, ...(resolved_at !== null && { resolved: { at: resolved_at, ...release } }) };
}

interface ReleaseRow {
  issue: string;
  release: string;
  count: number;
  first_seen: string;
  last_seen: string;
}

/** In the order in which they were first seen. */
async function readReleases(
  query: Query,
  where: string,
  value: unknown,
): Promise<Map<string, ReleaseCount[]>> {
  const rows = await query<ReleaseRow>(
    `select signature.issue, span.release, sum(span.count)::integer as count, ${iso('min(span.first_seen)')} as first_seen,
       ${iso('max(span.last_seen)')} as last_seen
     from agentdump_signatures as signature join agentdump_spans as span on span.signature = signature.id
     where span.count > 0 and ${where} group by signature.issue, span.release
     order by min(span.first_seen), span.release`,
    [value],
  );
  const byIssue = groupBy(rows, ({ issue }) => issue);
  return new Map([...byIssue].map(([issue, own]) => [issue, own.map(countOf)]));
}

const countOf = ({ release, count, first_seen, last_seen }: ReleaseRow): ReleaseCount => ({
  ...(release !== '' && { release }),
  count,
  firstSeen: first_seen,
  lastSeen: last_seen,
});

export async function readReleasesOf(query: Query, issue: string): Promise<ReleaseCount[]> {
  return (await readReleases(query, 'signature.issue = $1', issue)).get(issue) ?? [];
}

/**
 * Of a resolved issue, the releases of deaths since then; of the others, all releases if the first is also the last one, because
 * only then all deaths can be of one release.
 */
async function readDecisiveReleases(
  query: Query,
  issues: Iterable<readonly [string, Signatures]>,
): Promise<Map<string, ReleaseCount[]>> {
  const resolved: string[] = [];
  const uniform: string[] = [];
  for (const [id, signatures] of issues) {
    const [{ resolved_at, first_release: release }] = signatures;
    const isUniform = signatures.every(
      ({ first_release, last_release }) => first_release === release && last_release === release,
    );
    if (resolved_at !== null) resolved.push(id);
    else if (isUniform && release !== '') uniform.push(id);
  }
  const since = `signature.issue = any($1) and span.last_seen > (
    select resolved_at from agentdump_issues as issue where issue.id = signature.issue)`;
  return new Map([
    ...(resolved.length > 0 ? await readReleases(query, since, resolved) : []),
    ...(uniform.length > 0 ? await readReleases(query, 'signature.issue = any($1)', uniform) : []),
  ]);
}

/** Returns a function because most issues share one program. */
async function readKnownReleases(
  query: Query,
): Promise<(signatures: readonly SignatureRow[]) => ProgramReleases> {
  const rows = await query<{ program: string; release: string; first_seen: string }>(
    `select program, release, ${iso('first_seen')} as first_seen from agentdump_releases`,
  );
  const byProgram = groupBy(rows, ({ program }) => program);
  const made = new Map<string, ProgramReleases>();
  return (signatures) => {
    const programs = [...new Set(signatures.map(({ program }) => program))].sort();
    const key = JSON.stringify(programs);
    const known =
      made.get(key) ??
      new ProgramReleases(
        programs.flatMap((program) =>
          (byProgram.get(program) ?? []).map((row) => [row.release, row.first_seen] as const),
        ),
      );
    made.set(key, known);
    return known;
  };
}

function groupBy<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, [Row, ...Row[]]> {
  const groups = new Map<string, [Row, ...Row[]]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group) group.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return groups;
}
