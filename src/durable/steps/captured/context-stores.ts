/**
 * The values that the program's AsyncLocalStorages have in the calling code. A function that reads one, itself or in what it calls, does
 * not capture it. An AsyncResource holds what it was created with under symbols of Node's own: each value by itself on Node 20 and 22,
 * and a map of all of them since.
 */
import { AsyncResource } from 'node:async_hooks';
import { types } from 'node:util';

/** By what stands for the storage, in the order in which they were entered. */
export type ContextStores = ReadonlyMap<unknown, unknown>;

const oneStore = 'kResourceStore';

export function contextStores(): ContextStores {
  const resource = new AsyncResource('AGENTDUMP_CONTEXT') as unknown as Record<symbol, unknown>;
  const stores = new Map<unknown, unknown>();
  for (const symbol of Object.getOwnPropertySymbols(resource)) {
    const value = resource[symbol];
    if (symbol.description === oneStore) stores.set(symbol, value);
    else if (types.isMap(value))
      for (const [storage, store] of Map.prototype.entries.call(value)) stores.set(storage, store);
  }
  return stores;
}

/** Without those that the calling code has in common with all branches, because the run was begun with them, and ours. */
export function ownStores(
  atStart: ContextStores | undefined,
  isOurs: (store: unknown) => boolean,
): unknown[] {
  const own: unknown[] = [];
  for (const [storage, store] of contextStores())
    if (store !== undefined && !isOurs(store) && !(atStart?.has(storage) && atStart.get(storage) === store))
      own.push(store);
  return own;
}
