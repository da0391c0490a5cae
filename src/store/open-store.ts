/**
 * Opens a store by its place: a folder, or `postgres://…` followed by a blank and the folder of its blobs, which every sender
 * must be able to reach.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureDumpFolder } from '../bundle/write/safe-folder.ts';
import { placeOf } from '../durable/stores/postgres/client.ts';
import { AgentdumpError } from '../errors.ts';
import type { Blobs } from './blobs/blobs.ts';
import { openFolderBlobs } from './blobs/folder-blobs.ts';
import type { IndexDatabase } from './index/database.ts';
import type { FolderOptions } from './index/folder-database.ts';

export interface Store {
  index: IndexDatabase;
  blobs: Blobs;
  close(): Promise<void>;
}

/** The value of AGENTDUMP_STORE. */
export function defaultStore(): string | undefined {
  return process.env['AGENTDUMP_STORE'] || undefined;
}

/** True for PostgreSQL, which many processes can use at a time. */
export const isFleetPlace = (place: string): boolean => /^postgres(ql)?:\/\//.test(place.trim());

/** Whether the folder contains a store. */
export const isStoreFolder = (path: string): boolean =>
  existsSync(join(path, 'index', 'PG_VERSION')) && existsSync(join(path, 'blobs'));

/** The place without its password. */
export const nameOfStore = (place: string): string =>
  isFleetPlace(place) ? placeOf(place.trim().split(/\s+/)[0] ?? '') : place;

/** Throws `usage`, `held`, `unwritable`. */
export async function openStore(place: string, options: FolderOptions = {}): Promise<Store> {
  if (isFleetPlace(place)) return openFleetStore(place.trim());
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(place))
    throw new AgentdumpError(
      'usage',
      `no store is known at ${place.split('://')[0]}://: a folder, or postgres://`,
      {
        argument: 'store',
      },
    );
  const folder = ensureDumpFolder(place);
  const { openFolderIndex } = await import('./index/folder-database.ts');
  const index = await openFolderIndex(folder, options);
  return { index, blobs: openFolderBlobs(join(folder, 'blobs')), close: () => index.close() };
}

async function openFleetStore(place: string): Promise<Store> {
  const [url = '', ...rest] = place.split(/\s+/);
  const folder = rest.join(' ');
  if (!folder)
    throw new AgentdumpError(
      'usage',
      'a store in PostgreSQL needs a place for its bundles: "postgres://host/database /folder"',
      { argument: 'store' },
    );
  const { openPostgres } = await import('./index/postgres-database.ts');
  const index = await openPostgres(url);
  return { index, blobs: openFolderBlobs(ensureDumpFolder(folder)), close: () => index.close() };
}
