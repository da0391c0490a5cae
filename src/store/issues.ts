/** The issues of a store: the list, the history of one, and the decisions of users. */
import { AgentdumpError, assertNever } from '../errors.ts';
import type {
  Counted,
  Decision,
  Issue,
  IssueStory,
  NameList,
  Rate,
  StoredDeath,
} from '../model/fleet/issue.ts';
import { issueStatuses } from '../model/fleet/issue.ts';
import { traitsOf } from '../model/verdict.ts';
import { type IndexDatabase, iso, type Query } from './index/database.ts';
import type { Dimension } from './index/dimensions.ts';
import { readIssues, readReleasesOf } from './index/read-issues.ts';
import { type Names, readNames } from './index/read-names.ts';
import { readRates } from './index/starts.ts';
import type { Store } from './open-store.ts';

export interface ListOptions {
  /** Include what is no fault: signals of a deploy, and snapshots. */
  all?: boolean;
  nowMs?: number;
}

/** Issues that need attention first; within a status, the one seen last. */
export async function listIssues({ index }: Store, options: ListOptions = {}): Promise<Issue[]> {
  const { all = false, nowMs = Date.now() } = options;
  const found = await readIssues(index.query, nowMs);
  const rates = await readRates(index.query);
  return found
    .map(({ issue }) => withRate(issue, rates))
    .filter(({ kind }) => all || isFault(kind))
    .sort(
      (a, b) =>
        issueStatuses.indexOf(a.status) - issueStatuses.indexOf(b.status) ||
        compare(b.lastSeen, a.lastSeen) ||
        compare(a.id, b.id),
    );
}

/** Of two ids, or of two times, which all have the same form. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function withRate(issue: Issue, rates: ReadonlyMap<string, Rate>): Issue {
  const rate = rates.get(issue.id);
  return rate ? { ...issue, rate } : issue;
}

function isFault(kind: Issue['kind']): boolean {
  return traitsOf(kind).nature !== 'asked';
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

export async function showIssue(store: Store, word: string, options: ShowOptions = {}): Promise<IssueStory> {
  const { mostDeaths = 20, nowMs = Date.now() } = options;
  const { query } = store.index;
  const id = await findIssue(store.index, word);
  const [found] = await readIssues(query, nowMs, id);
  if (!found) throw new AgentdumpError('not-found', `there is no issue ${word}`, { name: word });
  const { issue, signatures, resolved } = found;
  const names = await readNames(query, id);
  return {
    ...withRate(issue, await readRates(query, id)),
    signatures: signatures.map(({ id, version, parts, count }) => ({ id, version, parts, count })),
    ...(resolved && { resolved }),
    bundles: sum(signatures.map(({ bundles }) => bundles)),
    runs: sum(signatures.map(({ runs }) => runs)),
    hours: await query(
      `select ${iso('hour')} as hour, sum(hours.count)::integer as count from agentdump_hours as hours
       join agentdump_signatures as signature on signature.id = hours.signature
       where signature.issue = $1 and hours.count > 0 group by hour order by hour`,
      [id],
    ),
    releases: await readReleasesOf(query, id),
    ...listsOf(names),
    deaths: await readDeaths(store, id, mostDeaths),
  };
}

/** The lists of names, and what each of them leaves out. */
function listsOf({ program, host, node, environment, agent }: Record<Dimension, Names>) {
  const lists = {
    programs: program,
    hosts: host,
    nodeVersions: node,
    environments: environment,
    agents: agent,
  };
  const entries = Object.entries(lists);
  const unlisted = entries.flatMap(([list, names]) => (names.unlisted ? [[list, names.unlisted]] : []));
  return {
    ...(Object.fromEntries(entries.map(([list, { listed }]) => [list, listed])) as Record<
      NameList,
      Counted[]
    >),
    ...(unlisted.length > 0 && {
      unlisted: Object.fromEntries(unlisted) as NonNullable<IssueStory['unlisted']>,
    }),
  };
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

/** Those with a bundle first, the newest first. Each signature is asked for its own, which an index has in this order. */
async function readDeaths({ index, blobs }: Store, id: string, most: number): Promise<StoredDeath[]> {
  const order = 'order by is_kept desc, at desc, bundle limit $2::integer';
  const rows = await index.query<{ [name: string]: string | number | boolean | null; blob: string }>(
    `select death.bundle, ${iso('death.at')} as at, death.program, death.host, death.node as "nodeVersion", death.release,
       death.commit_id as commit, death.environment, death.agent, death.blob, death.is_kept, death.bytes::double precision as bytes
     from agentdump_signatures as signature
     cross join lateral (select * from agentdump_deaths where signature = signature.id ${order}) as death
     where signature.issue = $1 order by death.is_kept desc, death.at desc, death.bundle limit $2::integer`,
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

/** Returns the issue; for `split` all of them. Throws `not-found`, and `usage` for an ambiguous prefix. */
export async function decide(index: IndexDatabase, decision: Decision): Promise<string[]> {
  switch (decision.action) {
    case 'resolve':
      return [await resolveIssue(index, decision.id, decision.release)];
    case 'ignore':
      return [await ignoreIssue(index, decision.id)];
    case 'reopen':
      return [await reopenIssue(index, decision.id)];
    case 'merge':
      return [await mergeIssues(index, decision.id, decision.others)];
    case 'split':
      return splitIssue(index, decision.id);
    default:
      return assertNever(decision, 'decision');
  }
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
