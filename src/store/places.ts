/** What the words that name a store mean. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { placeOf } from '../durable/stores/postgres/client.ts';

export const isPostgresPlace = (place: string): boolean => /^postgres(ql)?:\/\//.test(place.trim());

export const isServicePlace = (place: string): boolean => /^https?:\/\//.test(place.trim());

/** True for a store that many processes can use at a time. */
export const isFleetPlace = (place: string): boolean => isPostgresPlace(place) || isServicePlace(place);

/** Whether the folder contains a store. */
export const isStoreFolder = (path: string): boolean =>
  existsSync(join(path, 'index', 'PG_VERSION')) && existsSync(join(path, 'blobs'));

/** The place without its password. */
export const nameOfStore = (place: string): string =>
  isPostgresPlace(place) ? placeOf(place.trim().split(/\s+/)[0] ?? '') : place;
