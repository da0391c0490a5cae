/** Adds a death to the index once: the row and all its counts in one statement. */
import type { Death } from '../death.ts';
import { findHome } from '../home.ts';
import { type IndexDatabase, iso, type Query } from './database.ts';

const columns =
  'bundle, digest, blob, bytes, signature, kind, title, at, program, host, node, release, commit_id, environment, agent, runs, repeats, was';

/** The issue's row is inserted first, because a signature refers to it. A known signature stays in its issue. */
const addition = `
  with one as (
    select * from jsonb_to_record($1::jsonb) as death (
      bundle text, digest text, blob text, bytes bigint, signature text, version integer, parts jsonb, link text, kind text, title text, at timestamptz, program text, host text, node text, release text, commit_id text, environment text,
      agent text, runs integer, repeats integer, was text, home text)),
  added as (
    insert into agentdump_deaths (${columns}) select ${columns} from one on conflict (bundle) do nothing returning bundle),
  counted as (select one.* from one, added),
  opened as (insert into agentdump_issues (id) select coalesce(home, signature) from counted on conflict (id) do nothing),
  signed as (
    insert into agentdump_signatures as known (id, version, parts, link, kind, title, program, issue, count)
    select signature, version, parts, link, kind, title, coalesce(program, ''), coalesce(home, signature), 1 + repeats from counted
    on conflict (id) do update set count = known.count + excluded.count returning issue),
  spanned as (
    insert into agentdump_spans as known (signature, release, count, first_seen, last_seen)
    select signature, coalesce(release, ''), 1 + repeats, at, at from counted
    on conflict (signature, release) do update set count = known.count + excluded.count,
      first_seen = least(known.first_seen, excluded.first_seen), last_seen = greatest(known.last_seen, excluded.last_seen)),
  timed as (
    insert into agentdump_hours as known (signature, hour, count)
    select signature, date_trunc('hour', at, 'UTC'), 1 + repeats from counted
    on conflict (signature, hour) do update set count = known.count + excluded.count),
  released as (
    insert into agentdump_releases as known (program, release, first_seen)
    select coalesce(program, ''), release, at from counted where release is not null
    on conflict (program, release) do update set first_seen = least(known.first_seen, excluded.first_seen))
  select issue from signed`;

/**
 * For a death that is grouped again by new rules: its old signature, and that one's issue if the new signature has none yet.
 */
export interface Regrouped {
  was?: string;
  home?: string;
}

/** Returns false if it was there already. */
export async function addDeath(
  index: IndexDatabase,
  death: Death & Regrouped,
  insteadOf?: string,
): Promise<boolean> {
  const add = async (query: Query) => {
    const { signature: id, parts, link } = death;
    const home = (await findHome(query, { id, parts, link })) ?? death.home;
    return (await query(addition, [JSON.stringify({ ...death, home })])).length > 0;
  };
  if (insteadOf === undefined) return add(index.query);
  return index.transaction(async (query) => {
    await removeDeath({ query }, insteadOf);
    return add(query);
  });
}

/** For an encrypted bundle that has since been opened: removes it where it was counted. Counts of zero are not listed. */
const removal = `
  with gone as (delete from agentdump_deaths where bundle = $1 returning signature, at, 1 + repeats as count, coalesce(release, '') as release),
  signed as (update agentdump_signatures as known set count = known.count - gone.count from gone where known.id = gone.signature),
  spanned as (
    update agentdump_spans as known set count = known.count - gone.count from gone
    where known.signature = gone.signature and known.release = gone.release)
  update agentdump_hours as known set count = known.count - gone.count from gone
  where known.signature = gone.signature and known.hour = date_trunc('hour', gone.at, 'UTC')`;

export async function removeDeath({ query }: { query: Query }, bundle: string): Promise<void> {
  await query(removal, [bundle]);
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

/** By the id of the bundle, or by the digest of an encrypted file. */
export async function findDeath(
  index: IndexDatabase,
  by: { bundle: string } | { blob: string },
): Promise<KnownDeath | undefined> {
  const [column, value] = 'bundle' in by ? ['bundle', by.bundle] : ['blob', by.blob];
  const [found] = await index.query<KnownDeath>(
    `select death.bundle, death.digest, signature.issue from agentdump_deaths as death
     join agentdump_signatures as signature on signature.id = death.signature where death.${column} = $1`,
    [value],
  );
  return found;
}
