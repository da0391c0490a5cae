/**
 * Opens a store by its place: a folder, or `postgres://…` followed by a blank and the place of its blobs, which every sender
 * must be able to reach: a folder, or `s3://bucket/prefix`.
 */
import { join } from 'node:path';
import { ensureDumpFolder } from '../bundle/write/safe-folder.ts';
import { AgentdumpError } from '../errors.ts';
import type { Blobs } from './blobs/blobs.ts';
import { openFolderBlobs } from './blobs/folder-blobs.ts';
import { openS3Blobs, readS3Place } from './blobs/s3-blobs.ts';
import type { IndexDatabase } from './index/database.ts';
import type { FolderOptions } from './index/folder-database.ts';
import { isPostgresPlace, isStoreFolder } from './places.ts';

export interface Store {
  index: IndexDatabase;
  blobs: Blobs;
  close(): Promise<void>;
}

/** Throws `usage`, `held`, `unwritable`, with `mustExist` also `not-found`. */
export async function openStore(place: string, options: FolderOptions = {}): Promise<Store> {
  if (isPostgresPlace(place)) return openFleetStore(place.trim());
  if (readS3Place(place))
    throw usage(`${place} keeps bundles only: a store needs an index, "postgres://host/database ${place}"`);
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(place))
    throw usage(
      `no store is known at ${place.split('://')[0]}://: a folder, postgres://, or https:// for a service`,
    );
  if (options.mustExist && !isStoreFolder(place))
    throw new AgentdumpError('not-found', `there is no store in ${place}`, { store: place });
  const folder = ensureDumpFolder(place);
  const { openFolderIndex } = await import('./index/folder-database.ts');
  return storeOf(await openFolderIndex(folder, options), () => openFolderBlobs(join(folder, 'blobs')));
}

async function openFleetStore(place: string): Promise<Store> {
  const [url = '', ...rest] = place.split(/\s+/);
  const blobs = rest.join(' ');
  if (!blobs)
    throw usage(
      'a store in PostgreSQL needs a place for its bundles: "postgres://host/database /folder" or "postgres://host/database s3://bucket/prefix"',
    );
  const bucket = readS3Place(blobs);
  const { openPostgres } = await import('./index/postgres-database.ts');
  return storeOf(await openPostgres(url), () =>
    bucket ? openS3Blobs(bucket) : openFolderBlobs(ensureDumpFolder(blobs)),
  );
}

/** Closes the index if its blobs can't be opened. */
async function storeOf(index: IndexDatabase, openBlobs: () => Blobs | Promise<Blobs>): Promise<Store> {
  try {
    const blobs = await openBlobs();
    const close = async () => {
      await blobs.close();
      await index.close();
    };
    return { index, blobs, close };
  } catch (error) {
    await index.close();
    throw error;
  }
}

const usage = (message: string) => new AgentdumpError('usage', message, { argument: 'store' });
