/**
 * Takes runs of a queue within its limits. It is a function of the server because it must count what the previous taker took:
 * within one statement, everything is seen as it was before the statement waited for its turn, but each statement of a
 * function sees what was committed before it.
 */
import type { QueueLimits } from '../queue-limits.ts';
import type { DueWish } from '../store.ts';
import { keyOf } from './keys.ts';

/** Another text needs another name, because releases may share a database. */
export const takeQueuedName = 'agentdump_take_queued_1';

/** First key of the locks of queues; the second one is a hash of the queue. */
const lockClass = 0x61647175;

/**
 * Runs that continue after a wait come first, and need no start. `nth` counts the runs of a key in that order, `nth_start`
 * those of them that need a start; a run fits if all before it and itself do. What fits is counted again for the whole queue.
 */
export const takeQueuedFunction = `
  create or replace function ${takeQueuedName}(
    of_queue text, names text[], dead text[], most integer, left_out text[], new_holder text, lease_ms float8,
    opening_kind integer, opening_at float8, opening bytea,
    in_all bigint, per_key bigint, starts_in_all bigint, period_in_all float8, starts_per_key bigint, period_per_key float8)
  returns table (
    key text, id text, name text, priority integer, epoch bigint, is_new boolean, has_answers boolean,
    seq bigint, kind integer, at_ms double precision, payload bytea)
  language plpgsql volatile as $body$
  #variable_conflict use_column
  declare
    moment timestamptz;
  begin
    perform pg_advisory_xact_lock(${lockClass}, hashtext(of_queue));
    moment := clock_timestamp();
    delete from agentdump_starts where queue = of_queue
      and at < moment - greatest(period_in_all, period_per_key) * interval '1 millisecond';
    return query
    with at_work as (
      select coalesce(queue_key, '') as of_key, count(*) as many from agentdump_runs
      where queue = of_queue and not is_over and holder is not null and lease_until > moment and holder <> all(dead)
      group by 1),
    started as (
      select queue_key as of_key,
        count(*) filter (where at > moment - period_in_all * interval '1 millisecond') as in_all,
        count(*) filter (where at > moment - period_per_key * interval '1 millisecond') as of_its_key
      from agentdump_starts where queue = of_queue group by 1),
    due as (
      select run_id, coalesce(queue_key, '') as of_key, is_waiting, priority, due_at, epoch,
        epoch = 1 and lease_until = '-infinity' as is_new,
        row_number() over (partition by coalesce(queue_key, '') order by is_waiting desc, priority desc, due_at, run_id) as nth,
        count(*) filter (where not is_waiting)
          over (partition by coalesce(queue_key, '') order by is_waiting desc, priority desc, due_at, run_id) as nth_start
      from agentdump_runs
      where queue = of_queue and not is_over and due_at <= moment and name = any(names) and run_id <> all(left_out)
        and (holder is null or lease_until < moment or holder = any(dead))),
    fitting as (
      select due.run_id, due.of_key, due.is_waiting, due.epoch, due.is_new,
        row_number() over (order by due.is_waiting desc, due.priority desc, due.due_at, due.run_id) as nth,
        count(*) filter (where not due.is_waiting)
          over (order by due.is_waiting desc, due.priority desc, due.due_at, due.run_id) as nth_start
      from due left join at_work using (of_key) left join started using (of_key)
      where (per_key is null or due.nth + coalesce(at_work.many, 0) <= per_key)
        and (starts_per_key is null or due.is_waiting or due.nth_start + coalesce(started.of_its_key, 0) <= starts_per_key)),
    chosen as (
      select run_id, of_key, is_waiting, epoch, is_new from fitting
      where nth <= most
        and (in_all is null or nth + (select coalesce(sum(many), 0) from at_work) <= in_all)
        and (starts_in_all is null or is_waiting
          or nth_start + (select coalesce(sum(started.in_all), 0) from started) <= starts_in_all)),
    taken as (
      update agentdump_runs as run
      set epoch = run.epoch + 1, holder = new_holder, lease_until = moment + lease_ms * interval '1 millisecond',
        is_firm = false, is_waiting = false
      from chosen
      where run.run_id = chosen.run_id and run.epoch = chosen.epoch
        and not run.is_over and (run.holder is null or run.lease_until < moment or run.holder = any(dead))
      returning run.run_id, run.full_id, run.name, run.priority, run.epoch, chosen.is_new, chosen.of_key, chosen.is_waiting),
    noted as (
      insert into agentdump_starts (queue, queue_key, at)
      select of_queue, of_key, moment from taken
      where not is_waiting and (starts_in_all is not null or starts_per_key is not null)),
    opened as (
      insert into agentdump_records (run_id, seq, epoch, kind, at_ms, payload)
      select run_id, 1, epoch, opening_kind, opening_at, opening from taken where is_new)
    select taken.run_id, coalesce(taken.full_id, taken.run_id), taken.name, taken.priority, taken.epoch, taken.is_new,
      exists (select from agentdump_answers as answer where answer.run_id = taken.run_id),
      record.seq, record.kind, record.at_ms, record.payload
    from taken left join agentdump_records as record
      on taken.is_new and record.run_id = taken.run_id and record.seq = 0;
  end $body$;`;

export const takeQueuedStatement = `
  select * from ${takeQueuedName}(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`;

export function takeQueuedValues(
  queue: string,
  { concurrency, rate, perKey }: QueueLimits,
  dead: readonly string[],
  { names, most, except, opening }: DueWish,
  holder: string,
  leaseMs: number,
): unknown[] {
  return [
    queue,
    names,
    dead,
    most,
    except.map(keyOf),
    holder,
    leaseMs,
    opening.kind,
    Date.now(),
    Buffer.from(opening.payload as string),
    concurrency ?? null,
    perKey?.concurrency ?? null,
    rate?.starts ?? null,
    rate?.periodMs ?? null,
    perKey?.rate?.starts ?? null,
    perKey?.rate?.periodMs ?? null,
  ];
}
