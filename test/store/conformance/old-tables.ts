/** The tables of an index as they were made before it had a version, to test that it is brought up to date. */
export const oldTables = [
  `create table if not exists agentdump_deaths (
    bundle text primary key, digest text not null, blob text not null, bytes bigint not null,
    signature text not null, kind text not null, title text not null, at timestamptz not null,
    received_at timestamptz not null default now(), program text, host text, node text, release text, commit_id text,
    environment text, agent text, runs integer not null, repeats integer not null, was text,
    is_kept boolean not null default true)`,
  'create index if not exists agentdump_deaths_signature on agentdump_deaths (signature, at desc)',
  'create index if not exists agentdump_deaths_blob on agentdump_deaths (blob)',
  `create table if not exists agentdump_issues (
    id text primary key, resolved_at timestamptz, resolved_release text, ignored_at timestamptz)`,
  `create table if not exists agentdump_signatures (
    id text primary key, version integer not null, parts jsonb not null, kind text not null, title text not null,
    program text not null, issue text not null references agentdump_issues, count integer not null,
    link text not null default '')`,
  `do $$ begin
    if not exists (select from pg_attribute where attrelid = 'agentdump_signatures'::regclass and attname = 'link') then
      alter table agentdump_signatures
        add column link text not null default '';
    end if;
    if not exists (select from pg_attribute where attrelid = 'agentdump_deaths'::regclass and attname = 'was') then
      alter table agentdump_deaths add column was text;
    end if;
    if not exists (select from pg_attribute where attrelid = 'agentdump_deaths'::regclass and attname = 'is_kept') then
      alter table agentdump_deaths add column is_kept boolean not null default true;
    end if;
  end $$`,
  'create index if not exists agentdump_deaths_was on agentdump_deaths (was) where was is not null',
  'create index if not exists agentdump_deaths_kept on agentdump_deaths (signature) where is_kept',
  "create index if not exists agentdump_signatures_link on agentdump_signatures (link) where link <> ''",
  'create index if not exists agentdump_signatures_issue on agentdump_signatures (issue)',
  `create table if not exists agentdump_spans (
    signature text not null, release text not null, count integer not null, first_seen timestamptz not null,
    last_seen timestamptz not null, primary key (signature, release))`,
  `create table if not exists agentdump_hours (
    signature text not null, hour timestamptz not null, count integer not null, primary key (signature, hour))`,
  `create table if not exists agentdump_releases (
    program text not null, release text not null, first_seen timestamptz not null, primary key (program, release))`,
  `create table if not exists agentdump_alerts (
    issue text not null, kind text not null, occasion text not null, text text not null,
    made_at timestamptz not null default now(), claimed_at timestamptz, told_at timestamptz,
    primary key (issue, kind, occasion))`,
  'create index if not exists agentdump_alerts_waiting on agentdump_alerts (made_at) where told_at is null',
];
