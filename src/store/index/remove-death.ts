/**
 * Takes a death out of the index and out of all that is counted: one that was encrypted and has since been opened, or one that
 * is grouped again by new rules. Rows whose count becomes zero stay, and are not listed.
 */
import type { Query } from './database.ts';
import { namesOf } from './dimensions.ts';

/** A name that had no place in the list was counted under the empty name. */
const removal = `
  with gone as (
    delete from agentdump_deaths where bundle = $1
    returning *, 1 + repeats as count, coalesce(release, '') as known_release),
  signed as (
    update agentdump_signatures as known set count = known.count - gone.count,
      bundles = known.bundles - gone.is_kept::integer, runs = known.runs - gone.runs
    from gone where known.id = gone.signature),
  spanned as (
    update agentdump_spans as known set count = known.count - gone.count from gone
    where known.signature = gone.signature and known.release = gone.known_release),
  timed as (
    update agentdump_hours as known set count = known.count - gone.count from gone
    where known.signature = gone.signature and known.hour = date_trunc('hour', gone.at, 'UTC')),
  named as (
    update agentdump_names as known set count = known.count - one.count
    from (
      select signature, dimension, gone.count, case
        when exists (
          select from agentdump_names as own where own.signature = gone.signature and own.dimension = one.dimension
            and own.name = one.name and own.count >= gone.count) then name
        else '' end as listed
      from gone cross join lateral (${namesOf('gone')}) as one (dimension, name)
      where name is not null) as one
    where known.signature = one.signature and known.dimension = one.dimension and known.name = one.listed)
  select signature, known_release as release, at::text as at from gone`;

/** Only the first or the last death of a release decides since when and until when it was seen. */
const bounding = `
  with seen as (
    select min(at) as first_seen, max(at) as last_seen from agentdump_deaths
    where signature = $1 and coalesce(release, '') = $2)
  update agentdump_spans as known set first_seen = seen.first_seen, last_seen = seen.last_seen from seen
  where known.signature = $1 and known.release = $2 and known.count > 0
    and (known.first_seen = $3::timestamptz or known.last_seen = $3::timestamptz)`;

const summing = `
  update agentdump_signatures as known set first_seen = oldest.first_seen, first_release = oldest.release,
    last_seen = newest.last_seen, last_release = newest.release
  from (
    select first_seen, release from agentdump_spans where signature = $1 and count > 0
    order by first_seen, release limit 1) as oldest, (
    select last_seen, release from agentdump_spans where signature = $1 and count > 0
    order by last_seen desc, release desc limit 1) as newest
  where known.id = $1 and $2::timestamptz in (known.first_seen, known.last_seen)`;

interface Gone {
  signature: string;
  release: string;
  at: string;
}

/** Must run within a transaction. */
export async function removeDeath(query: Query, bundle: string): Promise<void> {
  const [gone] = await query<Gone>(removal, [bundle]);
  if (!gone) return;
  await query(bounding, [gone.signature, gone.release, gone.at]);
  await query(summing, [gone.signature, gone.at]);
}
