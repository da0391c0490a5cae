/**
 * Groups the stored deaths by the current signature rules. Each death is read again and moved with all its counts in one
 * transaction; after a kill, the next run continues. An issue keeps its id and the decisions of users: if its deaths now
 * differ, the largest group keeps it, and the others become issues that inherit the decisions.
 */
import { analyzeBundle } from '../../analysis/analyze.ts';
import { signatureVersion } from '../../analysis/signature.ts';
import type { Keys } from '../../bundle/read/age.ts';
import { openBundle } from '../../bundle/read/reader.ts';
import type { Reprocessed } from '../../model/fleet/issue.ts';
import { addDeath } from '../index/add-death.ts';
import type { IndexDatabase, Query } from '../index/database.ts';
import { removeDeath } from '../index/remove-death.ts';
import type { Store } from '../open-store.ts';
import { factsOf } from '../sending/examine.ts';
import { type Death, deathOf } from './death.ts';
import { isSameStack } from './home.ts';

export interface ReprocessOptions {
  /** For encrypted bundles. */
  keys?: Keys;
  onProgress?: (done: number) => void;
}

interface OldDeath {
  bundle: string;
  digest: string;
  blob: string;
  bytes: number;
  signature: string;
  issue: string;
  startedAs: string | null;
}

const pageSize = 200;

/** Throws only for problems of the store itself; a bundle that can't be read stays where it is, and is counted. */
export async function reprocess(
  store: Store,
  { keys, onProgress }: ReprocessOptions = {},
): Promise<Reprocessed> {
  const { index } = store;
  const issuesBefore = await countIssues(index);
  let deaths = 0;
  let unreadable = 0;
  for (let last = ''; ; ) {
    const page = await index.query<OldDeath>(
      `select death.bundle, death.digest, death.blob, death.bytes::double precision as bytes, death.signature, signature.issue,
         death.started_as as "startedAs"
       from agentdump_deaths as death join agentdump_signatures as signature on signature.id = death.signature
       where signature.version > 0 and signature.version < $1::integer and death.bundle > $2 order by death.bundle limit ${pageSize}`,
      [signatureVersion, last],
    );
    for (const old of page) {
      const fresh = await readAgain(store, old, keys);
      if (fresh) await move(index, old, fresh);
      else unreadable++;
      deaths++;
      onProgress?.(deaths);
    }
    const end = page.at(-1);
    if (!end) break;
    last = end.bundle;
  }
  for (const { was } of await index.query<{ was: string }>(
    'select distinct was from agentdump_deaths where was is not null order by was',
  ))
    await index.transaction((query) => settle(query, was));
  return { deaths, unreadable, issuesBefore, issuesAfter: await countIssues(index) };
}

/** The number of deaths grouped by older rules. */
export async function countOutdated(index: IndexDatabase): Promise<number> {
  const [row] = await index.query<{ count: number }>(
    `select coalesce(sum(count), 0)::double precision as count from agentdump_signatures
     where version > 0 and version < $1::integer and count > 0`,
    [signatureVersion],
  );
  return row?.count ?? 0;
}

async function countIssues({ query }: IndexDatabase): Promise<number> {
  const [row] = await query<{ count: number }>(
    'select count(distinct issue)::integer as count from agentdump_signatures where count > 0',
  );
  return row?.count ?? 0;
}

/** Undefined if its bundle is gone, encrypted without a key, or damaged. */
async function readAgain(store: Store, old: OldDeath, keys: Keys | undefined): Promise<Death | undefined> {
  let path: string | undefined;
  try {
    path = await store.blobs.read(old.blob);
    const bundle = openBundle(path, keys);
    try {
      const { digest, blob, bytes, startedAs } = old;
      const account = await analyzeBundle(bundle);
      const facts = factsOf(bundle, startedAs ?? undefined);
      return deathOf(account, { bundle: old.bundle, digest, blob, bytes }, facts, Date.now());
    } finally {
      bundle.close();
    }
  } catch {
    return undefined;
  } finally {
    if (path !== undefined) store.blobs.release(path);
  }
}

/** A new signature starts in the issue that its death belonged to. */
async function move(
  index: IndexDatabase,
  { bundle, signature, issue }: OldDeath,
  fresh: Death,
): Promise<void> {
  await index.transaction(async (query) => {
    await removeDeath(query, bundle);
    await addDeath({ ...index, query }, { ...fresh, was: signature, home: issue });
  });
}

interface Target {
  signature: string;
  issue: string;
  link: string;
  parts: string[];
}

/** The issue of an old signature follows the largest group of its deaths. */
async function settle(query: Query, was: string): Promise<void> {
  const [old] = await query<{ issue: string; count: number }>(
    'select issue, count from agentdump_signatures where id = $1',
    [was],
  );
  const targets = await query<Target>(
    `select death.signature, signature.issue, signature.link, signature.parts
     from agentdump_deaths as death join agentdump_signatures as signature on signature.id = death.signature
     where death.was = $1 group by death.signature, signature.issue, signature.link, signature.parts
     order by sum(1 + death.repeats) desc, death.signature`,
    [was],
  );
  const [most, ...others] = targets;
  if (old && most) {
    const home = (await isUntouched(query, most)) ? old.issue : most.issue;
    await query('update agentdump_signatures set issue = $1 where id = any($2)', [
      home,
      [most.signature, was],
    ]);
    for (const other of others)
      if (other.issue === old.issue && !(other.link === most.link && isSameStack(other.parts, most.parts)))
        await begin(query, other.signature, old.issue);
  }
  await query('update agentdump_deaths set was = null where was = $1', [was]);
}

/** An issue with one signature and no decisions: it was created by a death that arrived before this run. */
async function isUntouched(query: Query, { signature, issue }: Target): Promise<boolean> {
  const [row] = await query<{ untouched: boolean }>(
    `select issue.resolved_at is null and issue.ignored_at is null and
       not exists (select from agentdump_signatures where issue = $2 and id <> $1) as untouched
     from agentdump_issues as issue where issue.id = $2`,
    [signature, issue],
  );
  return row?.untouched ?? false;
}

async function begin(query: Query, signature: string, from: string): Promise<void> {
  await query(
    `insert into agentdump_issues (id, resolved_at, resolved_release, ignored_at)
     select $1, resolved_at, resolved_release, ignored_at from agentdump_issues where id = $2
     on conflict (id) do update set resolved_at = excluded.resolved_at, resolved_release = excluded.resolved_release,
       ignored_at = excluded.ignored_at
     where not exists (select from agentdump_signatures where issue = excluded.id)`,
    [signature, from],
  );
  await query('update agentdump_signatures set issue = id where id = $1', [signature]);
}
