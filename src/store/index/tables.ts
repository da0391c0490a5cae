/**
 * The tables. A death is one row; what lists and pages need about many deaths is counted when one is added, so that their
 * cost grows with the number of issues and not of deaths. A missing release is the empty string, because a key can't contain
 * null. `was`: the signature before new rules, until its issue is settled. `is_kept`: its bundle exists.
 */
import { AgentdumpError } from '../../errors.ts';
import type { Query } from './database.ts';
import { recount } from './recount.ts';

const tables = [
  'create table if not exists agentdump_version (version integer not null)',
  `create table if not exists agentdump_deaths (
    bundle text primary key, digest text not null, blob text not null, bytes bigint not null,
    signature text not null, kind text not null, title text not null, at timestamptz not null,
    received_at timestamptz not null default now(), program text, host text, node text, release text, commit_id text,
    environment text, agent text, started_as text, runs integer not null, repeats integer not null, was text,
    is_kept boolean not null default true)`,
  `create table if not exists agentdump_issues (
    id text primary key, resolved_at timestamptz, resolved_release text, ignored_at timestamptz)`,
  `create table if not exists agentdump_signatures (
    id text primary key, version integer not null, parts jsonb not null, kind text not null, title text not null,
    program text not null, issue text not null references agentdump_issues, count integer not null,
    link text not null default '', bundles integer not null, runs bigint not null, first_seen timestamptz not null,
    first_release text not null, last_seen timestamptz not null, last_release text not null)`,
  `create table if not exists agentdump_spans (
    signature text not null, release text not null, count integer not null, first_seen timestamptz not null,
    last_seen timestamptz not null, primary key (signature, release))`,
  `create table if not exists agentdump_hours (
    signature text not null, hour timestamptz not null, count integer not null, primary key (signature, hour))`,
  `create table if not exists agentdump_names (
    signature text not null, dimension text not null, name text not null, count integer not null,
    primary key (signature, dimension, name))`,
  `create table if not exists agentdump_releases (
    program text not null, release text not null, first_seen timestamptz not null, primary key (program, release))`,
  // The count of a log as it was last told, and the sums. `is_at_least`: there were more starts, which are not counted. A table
  // `agentdump_starts` belongs to durable runs, which may be in the same database.
  `create table if not exists agentdump_start_logs (
    log text not null, host text not null, program text not null, day date not null, sender text not null,
    count integer not null, primary key (log, host, program))`,
  `create table if not exists agentdump_start_sums (
    program text not null, day date not null, count bigint not null,
    is_at_least boolean not null default false, primary key (program, day))`,
  `create table if not exists agentdump_alerts (
    issue text not null, kind text not null, occasion text not null, text text not null,
    made_at timestamptz not null default now(), claimed_at timestamptz, told_at timestamptz,
    primary key (issue, kind, occasion))`,
  `create table if not exists agentdump_tokens (
    name text primary key, hash text not null unique, may text not null, bundles_per_hour integer not null,
    bytes_per_hour bigint not null, made_at timestamptz not null default now(), revoked_at timestamptz,
    bundles bigint not null default 0, bytes bigint not null default 0)`,
  `create table if not exists agentdump_uploads (
    token text not null, hour timestamptz not null, bundles integer not null, bytes bigint not null,
    primary key (token, hour))`,
];

/** Columns that tables of older versions lack. */
const added = [
  ['agentdump_signatures', 'link', "text not null default ''"],
  ['agentdump_deaths', 'was', 'text'],
  ['agentdump_deaths', 'is_kept', 'boolean not null default true'],
  ['agentdump_deaths', 'started_as', 'text'],
  ['agentdump_tokens', 'bundles', 'bigint not null default 0'],
  ['agentdump_tokens', 'bytes', 'bigint not null default 0'],
] as const;

const indexes = [
  'create index if not exists agentdump_deaths_signature on agentdump_deaths (signature, at desc)',
  'create index if not exists agentdump_deaths_shown on agentdump_deaths (signature, is_kept desc, at desc, bundle)',
  'create index if not exists agentdump_deaths_blob on agentdump_deaths (blob)',
  'create index if not exists agentdump_deaths_was on agentdump_deaths (was) where was is not null',
  "create index if not exists agentdump_signatures_link on agentdump_signatures (link) where link <> ''",
  'create index if not exists agentdump_signatures_issue on agentdump_signatures (issue)',
  'create index if not exists agentdump_start_logs_day on agentdump_start_logs (day)',
  'create index if not exists agentdump_start_logs_sender on agentdump_start_logs (sender)',
  'create index if not exists agentdump_alerts_waiting on agentdump_alerts (made_at) where told_at is null',
];

/** Of what is above and below. A store of an older version is brought up to it once. */
const version = 5;

/** Serializes the creation: "if not exists" alone fails if two sessions do it at once. */
const lock = 0x61646d71;

/** Must run within a transaction. Throws `unsupported-version` for an index that a later agentdump has made. */
export async function makeTables(query: Query): Promise<void> {
  if ((await readVersion(query)) === version) return;
  await query(`select pg_advisory_xact_lock(${lock})`);
  const found = await readVersion(query);
  if (found === version) return;
  if (found > version)
    throw new AgentdumpError(
      'unsupported-version',
      `the store was made by a later agentdump: its index has version ${found}, and this one knows ${version}`,
      { format: 'store', version: found, supported: version },
    );
  for (const table of tables) await query(table);
  for (const [table, column, type] of added) await addColumn(query, table, column, type);
  for (const index of indexes) await query(index);
  if (await addColumn(query, 'agentdump_signatures', 'first_seen', 'timestamptz')) await countOld(query);
  await query('delete from agentdump_version');
  await query('insert into agentdump_version (version) values ($1::integer)', [version]);
}

/** 0: none yet, or one without a version. */
async function readVersion(query: Query): Promise<number> {
  const [there] = await query<{ name: string | null }>(
    "select to_regclass('agentdump_version')::text as name",
  );
  if (!there?.name) return 0;
  const [found] = await query<{ version: number }>('select version from agentdump_version');
  return found?.version ?? 0;
}

/** `alter table` waits for every user of the table, so it is executed only if the column is missing. */
async function addColumn(query: Query, table: string, column: string, type: string): Promise<boolean> {
  const there = await query(
    'select from pg_attribute where attrelid = $1::regclass and attname = $2 and not attisdropped',
    [table, column],
  );
  if (there.length > 0) return false;
  await query(`alter table ${table} add column ${column} ${type}`);
  return true;
}

/** An index of a version that counted less, once. A million deaths take about a minute. */
async function countOld(query: Query): Promise<void> {
  await query('drop index if exists agentdump_deaths_kept');
  await query(
    `alter table agentdump_signatures add column last_seen timestamptz,
       add column first_release text not null default '', add column last_release text not null default '',
       add column bundles integer not null default 0, add column runs bigint not null default 0`,
  );
  await recount(query);
  await query(
    'update agentdump_signatures set first_seen = to_timestamp(0), last_seen = to_timestamp(0) where first_seen is null',
  );
  await query(
    `alter table agentdump_signatures alter column first_seen set not null, alter column last_seen set not null,
       alter column first_release drop default, alter column last_release drop default,
       alter column bundles drop default, alter column runs drop default`,
  );
}
