/** Copies a bundle out of a store, from wherever its blobs are kept. */
import { constants, copyFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { unwritable } from '../bundle/write/safe-folder.ts';
import { failureCode } from '../bundle/write/system.ts';
import { AgentdumpError } from '../errors.ts';
import type { Store } from './open-store.ts';

/**
 * @param word the id of the bundle, or its beginning. @param output the new file; by default the blob's name in the current
 * folder. @returns its absolute path. @throws `not-found`, `usage` if several bundles begin with the word, and `unwritable`, also
 * if the file exists.
 */
export async function fetchBundle(store: Store, word: string, output?: string): Promise<string> {
  const rows = await store.index.query<{ bundle: string; blob: string; is_kept: boolean }>(
    'select bundle, blob, is_kept from agentdump_deaths where starts_with(bundle, $1) order by bundle limit 2',
    [word],
  );
  const [found, other] = rows;
  if (!found || word === '')
    throw new AgentdumpError('not-found', `the store has no bundle ${word}`, { name: word });
  if (other && found.bundle !== word)
    throw new AgentdumpError('usage', `several bundles begin with ${word}: write more of its id`, {
      argument: 'ids',
    });
  if (!found.is_kept)
    throw new AgentdumpError(
      'not-found',
      `bundle ${found.bundle} was removed from the store; its death is still counted`,
      {
        name: word,
      },
    );
  const path = resolve(output ?? found.blob);
  const source = await store.blobs.read(found.blob);
  try {
    copyFileSync(source, path, constants.COPYFILE_EXCL);
    return path;
  } catch (error) {
    throw unwritable(path, failureCode(error), error);
  }
}
