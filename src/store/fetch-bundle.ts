/** Copies a bundle out of a store, from wherever its blobs are kept. */
import { constants, copyFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { unwritable } from '../bundle/write/safe-folder.ts';
import { failureCode } from '../bundle/write/system.ts';
import { AgentdumpError } from '../errors.ts';
import { iso } from './index/database.ts';
import type { Store } from './open-store.ts';

/**
 * @param word the id of the bundle, or its beginning. @throws `not-found`, and `usage` if several bundles begin with the word.
 */
export async function findKeptBundle(
  { index }: Store,
  word: string,
): Promise<{ blob: string; issue: string; at: string }> {
  const missing = () => new AgentdumpError('not-found', `the store has no bundle ${word}`, { name: word });
  if (!/^[0-9a-z-]{1,40}$/.test(word)) throw missing();
  const rows = await index.query<{
    bundle: string;
    blob: string;
    issue: string;
    at: string;
    is_kept: boolean;
  }>(
    `select death.bundle, death.blob, signature.issue, ${iso('death.at')} as at, death.is_kept
     from agentdump_deaths as death join agentdump_signatures as signature on signature.id = death.signature
     where starts_with(death.bundle, $1) order by death.bundle limit 2`,
    [word],
  );
  const [found, other] = rows;
  if (!found) throw missing();
  if (other && found.bundle !== word)
    throw new AgentdumpError('usage', `several bundles begin with ${word}: write more of its id`, {
      argument: 'ids',
    });
  if (found.is_kept) return found;
  throw new AgentdumpError(
    'not-found',
    `the store does not keep bundle ${found.bundle} any more; its death is still counted`,
    { name: word },
  );
}

/**
 * @param output the new file; by default the blob's name in the current folder. @returns its absolute path. @throws like
 * `findKeptBundle`, and `unwritable`, also if the file exists.
 */
export async function fetchBundle(store: Store, word: string, output?: string): Promise<string> {
  const { blob } = await findKeptBundle(store, word);
  const path = resolve(output ?? blob);
  const source = await store.blobs.read(blob);
  try {
    copyFileSync(source, path, constants.COPYFILE_EXCL);
    return path;
  } catch (error) {
    throw unwritable(path, failureCode(error), error);
  } finally {
    store.blobs.release(source);
  }
}
