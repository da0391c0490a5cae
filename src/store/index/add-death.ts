/** Adds deaths to the index, each once: the rows and all that is counted of them in one statement. */
import type { Death } from '../grouping/death.ts';
import { findHome } from '../grouping/home.ts';
import { type IndexDatabase, iso, type Query } from './database.ts';
import { mostNames, namesOf } from './dimensions.ts';
import { removeDeath } from './remove-death.ts';
import { together } from './together.ts';

const columns =
  'bundle, digest, blob, bytes, signature, kind, title, at, program, host, node, release, commit_id, environment, agent, started_as, runs, repeats, was';

const isEarlier =
  '(known.count = 0 or (excluded.first_seen, excluded.first_release) < (known.first_seen, known.first_release))';
const isLater =
  '(known.count = 0 or (excluded.last_seen, excluded.last_release) > (known.last_seen, known.last_release))';
const newer = (isNewer: string, column: string): string =>
  `${column} = case when ${isNewer} then excluded.${column} else known.${column} end`;

/** The names that are counted already. */
const alike = `agentdump_names as there where there.signature = counted.signature and there.dimension = one.dimension`;

/**
 * The issue's row is inserted first, because a signature refers to it. A known signature stays in its issue. Rows that several
 * senders count up are locked in the order of their keys, so that the senders don't wait for each other in a circle.
 */
const addition = `
  with given as (
    select distinct on (bundle) * from jsonb_to_recordset($1::jsonb) as death (
      bundle text, digest text, blob text, bytes bigint, signature text, version integer, parts jsonb, link text, kind text, title text, at timestamptz, program text, host text, node text, release text, commit_id text, environment text,
      agent text, started_as text, runs integer, repeats integer, was text, home text)
    order by bundle),
  added as (
    insert into agentdump_deaths (${columns}) select ${columns} from given
    on conflict (bundle) do nothing returning bundle),
  counted as (
    select given.*, 1 + repeats as count, coalesce(release, '') as known_release from given join added using (bundle)),
  opened as (
    insert into agentdump_issues (id) select distinct coalesce(home, signature) from counted order by 1
    on conflict (id) do nothing),
  signed as (
    insert into agentdump_signatures as known (id, version, parts, link, kind, title, program, issue, count, bundles, runs,
      first_seen, first_release, last_seen, last_release)
    select distinct on (signature) signature, version, parts, link, kind, title, coalesce(program, ''),
      coalesce(home, signature), sum(count) over alike, count(*) over alike, sum(runs) over alike,
      first_value(at) over oldest, first_value(known_release) over oldest,
      first_value(at) over newest, first_value(known_release) over newest
    from counted
    window alike as (partition by signature), oldest as (partition by signature order by at, known_release),
      newest as (partition by signature order by at desc, known_release desc)
    order by signature, at, bundle
    on conflict (id) do update set count = known.count + excluded.count, bundles = known.bundles + excluded.bundles,
      runs = known.runs + excluded.runs, ${newer(isEarlier, 'first_seen')}, ${newer(isEarlier, 'first_release')},
      ${newer(isLater, 'last_seen')}, ${newer(isLater, 'last_release')}
    returning id, issue),
  spanned as (
    insert into agentdump_spans as known (signature, release, count, first_seen, last_seen)
    select signature, known_release, sum(count), min(at), max(at) from counted group by 1, 2 order by 1, 2
    on conflict (signature, release) do update set count = known.count + excluded.count,
      first_seen = case when known.count = 0 then excluded.first_seen else least(known.first_seen, excluded.first_seen) end,
      last_seen = case when known.count = 0 then excluded.last_seen else greatest(known.last_seen, excluded.last_seen) end),
  timed as (
    insert into agentdump_hours as known (signature, hour, count)
    select signature, date_trunc('hour', at, 'UTC'), sum(count) from counted group by 1, 2 order by 1, 2
    on conflict (signature, hour) do update set count = known.count + excluded.count),
  named as (
    insert into agentdump_names as known (signature, dimension, name, count)
    select signature, dimension, case
        when exists (select from ${alike} and there.name = one.name) then name
        when (select count(*) from (select from ${alike} limit ${mostNames}) as listed) < ${mostNames} then name
        else '' end, sum(count)
    from counted cross join lateral (${namesOf('counted')}) as one (dimension, name)
    where name is not null group by 1, 2, 3 order by 1, 2, 3
    on conflict (signature, dimension, name) do update set count = known.count + excluded.count),
  released as (
    insert into agentdump_releases as known (program, release, first_seen)
    select coalesce(program, ''), release, min(at) from counted where release is not null group by 1, 2 order by 1, 2
    on conflict (program, release) do update set first_seen = least(known.first_seen, excluded.first_seen))
  select counted.bundle, signed.issue from counted join signed on signed.id = counted.signature`;

/**
 * For a death that is grouped again by new rules: its old signature, and that one's issue if the new signature has none yet.
 */
export interface Regrouped {
  was?: string;
  home?: string;
}

type Added = Death & Regrouped;

const addOne = together(async ({ query }: IndexDatabase, deaths: readonly Added[]) => {
  const issues = await addDeaths(query, deaths);
  return deaths.map(({ bundle }) => {
    const issue = issues.get(bundle);
    issues.delete(bundle);
    return issue;
  });
});

/** Returns its issue; undefined if the death was there already. `insteadOf`: a death that it replaces. */
export async function addDeath(
  index: IndexDatabase,
  death: Added,
  insteadOf?: string,
): Promise<string | undefined> {
  if (insteadOf === undefined) return addOne(index, death);
  return index.transaction(async (query) => {
    await removeDeath(query, insteadOf);
    return (await addDeaths(query, [death])).get(death.bundle);
  });
}

/**
 * Returns the issues of those that were not there already, by bundle. A signature that is new may decide the issue of the next
 * one, so it is added alone.
 */
export async function addDeaths(query: Query, deaths: readonly Added[]): Promise<Map<string, string>> {
  const known = await findKnownSignatures(query, deaths);
  const issues = new Map<string, string>();
  let alike: Added[] = [];
  const flush = async () => {
    if (alike.length === 0) return;
    const rows = await query<{ bundle: string; issue: string }>(addition, [JSON.stringify(alike)]);
    for (const { bundle, issue } of rows) issues.set(bundle, issue);
    alike = [];
  };
  for (const death of deaths) {
    const { signature: id, parts, link, home } = death;
    if (link === '' || known.has(id)) alike.push(death);
    else {
      await flush();
      alike.push({ ...death, ...homeOf((await findHome(query, { id, parts, link })) ?? home) });
      await flush();
      known.add(id);
    }
  }
  await flush();
  return issues;
}

const homeOf = (home: string | undefined) => (home === undefined ? {} : { home });

async function findKnownSignatures(query: Query, deaths: readonly Death[]): Promise<Set<string>> {
  const ids = [...new Set(deaths.map(({ signature }) => signature))];
  const rows = await query<{ id: string }>('select id from agentdump_signatures where id = any($1)', [ids]);
  return new Set(rows.map(({ id }) => id));
}

export interface KnownDeath {
  bundle: string;
  digest: string;
  issue: string;
}

export interface StoredBlob {
  blob: string;
  issue: string;
  /** ISO 8601 UTC. */
  at: string;
}

/** The location of a death's bundle; undefined if there is none. */
export async function findStoredDeath(index: IndexDatabase, bundle: string): Promise<StoredBlob | undefined> {
  const [found] = await index.query<StoredBlob>(
    `select death.blob, signature.issue, ${iso('death.at')} as at from agentdump_deaths as death
     join agentdump_signatures as signature on signature.id = death.signature where death.bundle = $1 and death.is_kept`,
    [bundle],
  );
  return found;
}

const byColumn = {
  bundle: findBy('bundle'),
  blob: findBy('blob'),
};

/** By the id of the bundle, or by the digest of an encrypted file. */
export function findDeath(
  index: IndexDatabase,
  by: { bundle: string } | { blob: string },
): Promise<KnownDeath | undefined> {
  return 'bundle' in by ? byColumn.bundle(index, by.bundle) : byColumn.blob(index, by.blob);
}

function findBy(column: 'bundle' | 'blob') {
  return together(async ({ query }: IndexDatabase, values: readonly string[]) => {
    const rows = await query<KnownDeath & { value: string }>(
      `select death.${column} as value, death.bundle, death.digest, signature.issue from agentdump_deaths as death
       join agentdump_signatures as signature on signature.id = death.signature where death.${column} = any($1)`,
      [values],
    );
    const found = new Map(rows.map(({ value, ...death }) => [value, death]));
    return values.map((value) => found.get(value));
  });
}
