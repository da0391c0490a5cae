/** The tables of the PostgreSQL store, and the columns that tables of an older release lack. */
import type { StoredRecord } from '../store.ts';
import type { PostgresPool } from './pool.ts';
import { takeQueuedFunction, takeQueuedName } from './take-queued.ts';

/**
 * `due_at`: not due before; infinite while only an answer makes it due. `is_firm`: no answer changes that. `name` is null in
 * rows of older releases. `full_id`: set for a run whose id is too long for an index; `run_id` is then its start and its
 * hash. `is_waiting`: it was put to rest because it only waited. `agentdump_starts`: starts of runs of queues that have a rate.
 */
const tables = `
  create table if not exists agentdump_runs (
    run_id text primary key, epoch bigint not null, holder text, lease_until timestamptz not null,
    name text, priority integer not null default 0, due_at timestamptz not null default now(),
    is_over boolean not null default false, full_id text, is_firm boolean not null default false,
    queue text, queue_key text, is_waiting boolean not null default false);
  create table if not exists agentdump_records (
    run_id text not null references agentdump_runs on delete cascade, seq bigint not null, epoch bigint not null,
    kind integer not null, at_ms double precision not null, payload bytea not null, primary key (run_id, seq));
  create table if not exists agentdump_answers (
    run_id text not null, path text not null, payload bytea not null, primary key (run_id, path));
  create table if not exists agentdump_starts (
    queue text not null, queue_key text not null, at timestamptz not null);`;

/** An `alter table` waits for all users of the table, so it is only sent if a column is absent. */
const columns = `
  do $$ begin
    if not exists (select from pg_attribute where attrelid = 'agentdump_runs'::regclass and attname = 'is_over') then
      alter table agentdump_runs
        add column name text, add column priority integer not null default 0,
        add column due_at timestamptz not null default now(), add column is_over boolean not null default false,
        add column full_id text;
    end if;
    if not exists (select from pg_attribute where attrelid = 'agentdump_runs'::regclass and attname = 'is_firm') then
      alter table agentdump_runs add column is_firm boolean not null default false;
    end if;
    if not exists (select from pg_attribute where attrelid = 'agentdump_runs'::regclass and attname = 'queue') then
      alter table agentdump_runs
        add column queue text, add column queue_key text, add column is_waiting boolean not null default false;
    end if;
  end $$;
  create index if not exists agentdump_runs_due on agentdump_runs (due_at) where not is_over;
  create index if not exists agentdump_runs_queue on agentdump_runs (queue, due_at) where not is_over and queue is not null;
  create index if not exists agentdump_starts_at on agentdump_starts (queue, at);`;

/** Tables are created by one worker at a time; "if not exists" alone fails if two do it concurrently. */
const lock = 0x61646d70;

/** The indexes exist only with their tables and columns. */
const made = [
  'agentdump_runs_due',
  'agentdump_runs_queue',
  'agentdump_starts_at',
  'agentdump_records',
  'agentdump_answers',
];

/** Creating an index waits for all writers of its table, even if it exists, so it is checked first whether everything exists. */
export async function makeTables(pool: PostgresPool): Promise<void> {
  const { rows } = await pool.query(
    `select to_regproc($1) is not null and bool_and(to_regclass(name) is not null) as is_made
     from unnest($2::text[]) as one (name)`,
    [takeQueuedName, made],
  );
  if ((rows as { is_made: boolean }[])[0]?.is_made) return;
  await pool.query(
    `begin; select pg_advisory_xact_lock(${lock}); ${tables} ${columns} ${takeQueuedFunction} commit;`,
  );
}

export interface RecordRow {
  seq: string;
  kind: number;
  at_ms: number;
  payload: Buffer;
}

export function recordOf({ seq, kind, at_ms, payload }: RecordRow): StoredRecord {
  return { seq: Number(seq), kind, atMs: at_ms, payload };
}
