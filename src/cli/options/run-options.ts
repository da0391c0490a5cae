/** Options that the commands for durable runs share. */
import { defaultPlace, openStore } from '../../durable/stores/find-store.ts';
import type { DurableStore } from '../../durable/stores/store.ts';

export interface RunWords {
  dir: string;
}

export const runStoreOption = {
  dir: {
    type: 'string',
    describe: 'Dump folder, or PostgreSQL URL of a run store',
    default: defaultPlace(),
  },
} as const;

export const runPositional = { type: 'string', demandOption: true, describe: 'Run id' } as const;

/** Opens the store, calls `work` with it, and closes it. */
export async function withStore<Result>(
  dir: string,
  work: (store: DurableStore) => Promise<Result>,
): Promise<Result> {
  const store = await openStore(dir);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
