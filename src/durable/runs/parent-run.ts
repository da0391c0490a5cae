/**
 * How a run learns that a child run has ended. The end is recorded in the child's own journal; the answer that is sent to the parent
 * only makes the parent due. A child remains due itself until the answer is sent, so that its parent never waits in vain, whichever
 * process dies.
 */
import { AgentdumpError } from '../../errors.ts';
import { type CodecKeys, openCodec } from '../records/open-codec.ts';
import type { DurableStore } from '../stores/store.ts';
import { isOverForWorkers, RunLog } from './run-log.ts';

/** The key of the parent's answer that says that this run has ended. */
export function childKey(child: string): string {
  return `!child/${child}`;
}

/** Called after the end of a run is recorded, and before the run is released. */
export async function tellParent(
  store: DurableStore,
  { id, log: { parent } }: { id: string; log: RunLog },
): Promise<void> {
  if (parent === undefined) return;
  try {
    await store.answer(parent, childKey(id), Buffer.from('{}'));
  } catch (error) {
    // It was removed, so nothing waits.
    if (!(error instanceof AgentdumpError && error.code === 'not-found')) throw error;
  }
}

/** Runs that this one has started, and whose ends it has not received. */
export function openChildren({ approvals }: RunLog): string[] {
  return [...approvals.values()].flatMap(({ awaits, readAnswer }) => (readAnswer ? [] : (awaits?.run ?? [])));
}

export type ChildOutcome = { result: unknown } | { error: unknown };

/** Undefined while it has not ended, or has tries left. */
export async function findOutcome(
  store: DurableStore,
  id: string,
  keys: CodecKeys,
): Promise<ChildOutcome | undefined> {
  const { records } = await store.read(id);
  const log = new RunLog(records, openCodec(records, keys));
  if (!log.ended || !isOverForWorkers(log)) return undefined;
  const value = log.ended.readValue();
  return log.ended.status === 'finished' ? { result: value } : { error: value };
}
