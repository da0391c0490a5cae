/**
 * Limits the number of full bundles per issue and release; counts are never removed. Kept are the first bundle, which shows
 * how it began, and the newest ones. A bundle is removed before its row is updated; if the process is killed in between, the
 * next one completes it.
 */
import { AgentdumpError } from '../errors.ts';
import type { Query } from './index/database.ts';
import type { Store } from './open-store.ts';

/** The number per issue and release, from AGENTDUMP_STORE_KEEP; undefined for all. Throws `usage`. */
export function keptBundles(environment: NodeJS.ProcessEnv): number | undefined {
  const text = environment['AGENTDUMP_STORE_KEEP'];
  if (!text) return undefined;
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new AgentdumpError('usage', `AGENTDUMP_STORE_KEEP is a number of bundles, not ${text}`, {
    argument: 'AGENTDUMP_STORE_KEEP',
  });
}

/**
 * @param bundles whose issues have grown. @returns the number of bundles removed. @throws for problems of the store itself.
 */
export async function removeSurplus(store: Store, bundles: readonly string[], keep: number): Promise<number> {
  if (bundles.length === 0) return 0;
  const surplus = await store.index.query<{ bundle: string; blob: string }>(
    `select bundle, blob from (
       select bundle, blob,
         row_number() over (partition by signature, coalesce(release, '') order by at desc, bundle desc) as newest,
         row_number() over (partition by signature, coalesce(release, '') order by at, bundle) as oldest
       from agentdump_deaths
       where is_kept and signature in (select signature from agentdump_deaths where bundle = any($1))) as ranked
     where newest > $2::integer - 1 and oldest > 1`,
    [bundles, keep],
  );
  for (const { bundle, blob } of surplus) {
    await store.blobs.drop(blob);
    await markRemoved(store.index.query, bundle);
  }
  return surplus.length;
}

/** The death is still counted; its bundle is not kept, or not any more. */
export async function markRemoved(query: Query, bundle: string): Promise<void> {
  await query(
    `with gone as (
       update agentdump_deaths set is_kept = false where bundle = $1 and is_kept returning signature)
     update agentdump_signatures as known set bundles = known.bundles - 1 from gone where known.id = gone.signature`,
    [bundle],
  );
}
