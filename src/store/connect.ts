/** A store by its place, whether this process opens it or a service does. */
import type { FleetStore } from './fleet-store.ts';
import { localStore } from './local-store.ts';
import { openStore } from './open-store.ts';
import { isServicePlace } from './places.ts';

/** Throws `usage`, `held`, `unwritable`, with `mustExist` also `not-found`. */
export async function connectStore(
  place: string,
  options: Parameters<typeof openStore>[1] = {},
): Promise<FleetStore> {
  if (!isServicePlace(place)) return localStore(await openStore(place, options));
  const { openRemoteStore } = await import('./service/remote-store.ts');
  return openRemoteStore(place.trim());
}
