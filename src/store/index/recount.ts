/**
 * Counts everything again from the deaths: what `addDeath` and `removeDeath` keep up to date. For an index that was made
 * before some of it was counted.
 */
import type { Query } from './database.ts';
import { mostNames, namesOf } from './dimensions.ts';

const steps = [
  'delete from agentdump_spans',
  `insert into agentdump_spans (signature, release, count, first_seen, last_seen)
   select signature, coalesce(release, ''), sum(1 + repeats), min(at), max(at) from agentdump_deaths group by 1, 2`,
  'delete from agentdump_hours',
  `insert into agentdump_hours (signature, hour, count)
   select signature, date_trunc('hour', at, 'UTC'), sum(1 + repeats) from agentdump_deaths group by 1, 2`,
  'delete from agentdump_names',
  // The names that came first, as if the deaths had been added one after the other.
  `insert into agentdump_names (signature, dimension, name, count)
   select signature, dimension, case when place <= ${mostNames} then name else '' end, sum(count)
   from (
     select signature, dimension, name, sum(count) as count,
       row_number() over (partition by signature, dimension order by min(received_at), name) as place
     from (
       select signature, dimension, name, 1 + repeats as count, received_at
       from agentdump_deaths as death cross join lateral (${namesOf('death')}) as one (dimension, name)
       where name is not null) as each_name
     group by signature, dimension, name) as placed
   group by 1, 2, 3`,
  'update agentdump_signatures set count = 0, bundles = 0, runs = 0',
  `update agentdump_signatures set count = counted.count, bundles = counted.bundles, runs = counted.runs
   from (
     select signature, sum(1 + repeats) as count, count(*) filter (where is_kept) as bundles, sum(runs) as runs
     from agentdump_deaths group by signature) as counted
   where id = counted.signature`,
  `update agentdump_signatures set first_seen = oldest.first_seen, first_release = oldest.release
   from (
     select distinct on (signature) signature, first_seen, release from agentdump_spans
     order by signature, first_seen, release) as oldest
   where id = oldest.signature`,
  `update agentdump_signatures set last_seen = newest.last_seen, last_release = newest.release
   from (
     select distinct on (signature) signature, last_seen, release from agentdump_spans
     order by signature, last_seen desc, release desc) as newest
   where id = newest.signature`,
];

/** Must run within a transaction. */
export async function recount(query: Query): Promise<void> {
  for (const step of steps) await query(step);
}
