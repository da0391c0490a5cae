/** Which store a command uses; opens and closes it. */
import { AgentdumpError } from '../../errors.ts';
import type { FleetStore } from '../../store/fleet-store.ts';
import { note } from '../output/output.ts';

export const storeOption = {
  type: 'string',
  requiresArg: true,
  describe:
    'Store: a folder, or "postgres://host/database /folder" or "… s3://bucket/prefix" with the place of its bundles, or the "https://…" of a service',
  default: process.env['AGENTDUMP_STORE'] || undefined,
  defaultDescription: 'AGENTDUMP_STORE',
} as const;

/** Throws `usage` if no store is given, and the errors of the store. */
export async function withStore<Result>(
  place: string | undefined,
  option: string,
  use: (store: FleetStore) => Promise<Result>,
  { mustExist = false } = {},
): Promise<Result> {
  if (!place)
    throw new AgentdumpError('usage', `no store: name one with --${option}, or set AGENTDUMP_STORE`, {
      argument: option,
    });
  const { connectStore } = await import('../../store/connect.ts');
  const store = await connectStore(place, { onWait: note, mustExist });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
