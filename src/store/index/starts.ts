/**
 * How often programs were started, as dump folders have counted it. The count of a log replaces the one that was told of it
 * before, whoever tells it, so nothing is counted twice; the difference goes into the sums. Those stay for ever, the counts of
 * each log longer than anything is accepted for its day.
 */
import { type CountedStarts, startDays } from '../../bundle/keep/starts.ts';
import type { Rate } from '../../model/fleet/issue.ts';
import type { IndexDatabase, Query } from './database.ts';

/** In UTC, whatever the time zone of the session is. */
const today = "(now() at time zone 'utc')::date";
const isOpen = `day > ${today} - ${startDays} and day <= ${today} + 1`;
/** Later than a day closes: a count that is forgotten while it can still be told would be added again. */
const isForgotten = `day <= ${today} - ${startDays} - 2`;

const given = `jsonb_to_recordset($1::jsonb)
  as given (log text, host text, program text, day date, count integer, "isAtLeast" boolean)`;

/** Of one sender: more than most fleets have in a month, so that nobody can fill the index with invented ones. */
export const mostLogs = 100_000;

/** So that a row can be locked before it is counted up, as two senders of one folder may do at once. */
const opening = `
  insert into agentdump_start_logs (log, host, program, day, sender, count)
  select log, host, program, day, $2, 0 from ${given}
  where ${isOpen} and (select count(*) from agentdump_start_logs where sender = $2) < $3 order by 1, 2, 3
  on conflict (log, host, program) do nothing`;

const counting = `
  with locked as (
    select known.log, known.host, known.program, known.count as before, given.count
    from agentdump_start_logs as known join ${given} using (log, host, program, day)
    order by 1, 2, 3 for update of known),
  counted as (
    update agentdump_start_logs as known set count = locked.count from locked
    where (known.log, known.host, known.program) = (locked.log, locked.host, locked.program)
      and locked.count > locked.before
    returning known.program, known.day, locked.count - locked.before as added)
  insert into agentdump_start_sums as known (program, day, count)
  select program, day, sum(added) from counted group by 1, 2 order by 1, 2
  on conflict (program, day) do update set count = known.count + excluded.count`;

/**
 * Days of which there are more starts than are counted: the folder counted no more, or there was no room. Of programs that have
 * a count; the others have no rate anyway, and may be invented.
 */
const limiting = `
  insert into agentdump_start_sums (program, day, count, is_at_least)
  select distinct program, day, 0, true from ${given}
  where ${isOpen}
    and ("isAtLeast" or not exists (
      select from agentdump_start_logs as known
      where (known.log, known.host, known.program) = (given.log, given.host, given.program)))
    and exists (select from agentdump_start_sums as known where known.program = given.program)
  order by 1, 2
  on conflict (program, day) do update set is_at_least = true`;

/** @param sender whose counts they are; empty for one that has the store itself. */
export async function addStarts(
  index: IndexDatabase,
  starts: readonly CountedStarts[],
  { sender = '', most = mostLogs } = {},
): Promise<void> {
  const rows = JSON.stringify(starts);
  await index.transaction(async (query) => {
    await query(`delete from agentdump_start_logs where ${isForgotten}`);
    await query(opening, [rows, sender, most]);
    await query(counting, [rows]);
    await query(limiting, [rows]);
  });
}

interface DeathsRow {
  issue: string;
  program: string;
  count: number;
  since: string;
}

/**
 * The rates of issues: deaths whose starts were counted, of the starts of the same programs since the day on which the issue was
 * first seen. None while some of these starts were not counted: it would be too high.
 */
export async function readRates(query: Query, only?: string): Promise<Map<string, Rate>> {
  const starts = await readStarts(query);
  if (starts.size === 0) return new Map();
  const rows = await query<DeathsRow>(
    `select signature.issue, names.name as program, sum(names.count)::double precision as count,
       to_char(min(min(signature.first_seen)) over (partition by signature.issue) at time zone 'UTC', 'YYYY-MM-DD') as since
     from agentdump_signatures as signature join agentdump_names as names
       on names.signature = signature.id and names.dimension = 'started_as' and names.name <> ''
     where names.count > 0 ${only === undefined ? '' : 'and signature.issue = $1'} group by 1, 2`,
    only === undefined ? [] : [only],
  );
  const rates = new Map<string, Rate>();
  const unknown = new Set<string>();
  for (const { issue, program, count, since } of rows) {
    const rate = rates.get(issue) ?? { deaths: 0, starts: 0, since };
    const first = starts.get(program)?.find(({ day }) => day >= since);
    if (first?.isAtLeast) unknown.add(issue);
    rates.set(issue, {
      deaths: rate.deaths + count,
      starts: rate.starts + (first?.later ?? 0),
      since: first && (rate.starts === 0 || first.day < rate.since) ? first.day : rate.since,
    });
  }
  // Until a folder has sent its starts, nothing can be said of them.
  for (const [issue, { starts }] of rates) if (starts === 0 || unknown.has(issue)) rates.delete(issue);
  return rates;
}

interface StartsRow {
  program: string;
  day: string;
  /** From this day on. */
  later: number;
  /** From this day on there were more. */
  isAtLeast: boolean;
}

async function readStarts(query: Query): Promise<Map<string, StartsRow[]>> {
  const rows = await query<StartsRow>(
    `select program, to_char(day, 'YYYY-MM-DD') as day,
       (sum(count) over later)::double precision as later, bool_or(is_at_least) over later as "isAtLeast"
     from agentdump_start_sums window later as (partition by program order by agentdump_start_sums.day desc) order by program, agentdump_start_sums.day`,
  );
  const byProgram = new Map<string, StartsRow[]>();
  for (const row of rows) {
    const own = byProgram.get(row.program);
    if (own) own.push(row);
    else byProgram.set(row.program, [row]);
  }
  return byProgram;
}
