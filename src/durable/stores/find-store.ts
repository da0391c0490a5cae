/** The store for a place: a PostgreSQL URL, or a dump folder. The database client is loaded only for the former. */
import { FileStore } from './file-store.ts';
import type { DurableStore } from './store.ts';

/** AGENTDUMP_RUN_STORE, otherwise the dump folder. */
export function defaultPlace(): string {
  return process.env['AGENTDUMP_RUN_STORE'] || process.env['AGENTDUMP_DIR'] || '.agentdump';
}

export const isPostgresUrl = (place: string): boolean => /^postgres(ql)?:\/\//.test(place);

export async function openStore(place: string): Promise<DurableStore> {
  if (!isPostgresUrl(place)) return new FileStore(place);
  const { PostgresStore } = await import('./postgres-store.ts');
  return PostgresStore.connect(place);
}
