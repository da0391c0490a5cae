/**
 * Finds the run to resume for a program that passes no ids. AGENTDUMP_RESUME contains an id (`agentdump resume`), or `auto`
 * (`agentdump run --resume`): the latest run of this name that has not ended and has no holder. Each is used by the first
 * call that it fits, once per process.
 */
import { RecordCodec } from '../records/codec.ts';
import type { DurableStore } from '../stores/store.ts';
import { RunLog } from './run-log.ts';

const taken = new Set<string>();

export async function findResumable(store: DurableStore, name: string): Promise<string | undefined> {
  const wanted = process.env['AGENTDUMP_RESUME'];
  if (!wanted) return undefined;
  const candidates = wanted === 'auto' ? await store.list() : [wanted];
  let found: { id: string; beganAtMs: number } | undefined;
  for (const id of candidates) {
    const beganAtMs = taken.has(id) ? undefined : await findOpenRun(store, id, name);
    if (beganAtMs !== undefined && beganAtMs >= (found?.beganAtMs ?? 0)) found = { id, beganAtMs };
  }
  if (found) taken.add(found.id);
  return found?.id;
}

/** When it began, if it has this name, is not finished, and has no holder. */
async function findOpenRun(store: DurableStore, id: string, name: string): Promise<number | undefined> {
  try {
    const { records, holder } = await store.read(id);
    if (holder !== undefined) return undefined;
    const log = new RunLog(records, new RecordCodec({}));
    return log.name === name && log.ended?.status !== 'finished' ? log.beganAtMs : undefined;
  } catch {
    return undefined;
  }
}
