/**
 * Retention of runs in PostgreSQL, only on request: the machines that share a store must not all do it. The rules are those
 * of run-retention.ts.
 */

import { dayMs, endedWell, type RunLimits, type RunRetention } from '../../runs/run-retention.ts';
import type { DurableStore } from '../store.ts';
import type { PostgresPool } from './pool.ts';

interface Weight {
  key: string;
  id: string;
  epoch: string;
  touched_ms: number | null;
  bytes: string;
}

const weights = `
  select run.run_id as key, coalesce(run.full_id, run.run_id) as id, run.epoch,
    max(record.at_ms) as touched_ms, coalesce(sum(octet_length(record.payload)), 0) as bytes
  from agentdump_runs as run left join agentdump_records as record on record.run_id = run.run_id
  group by run.run_id order by touched_ms nulls first`;

/** Only if no process has taken it since it was examined. */
const removal = `
  with gone as (
    delete from agentdump_runs
    where run_id = $1 and epoch = $2 and (holder is null or lease_until < now()) returning run_id),
  answers as (delete from agentdump_answers using gone where agentdump_answers.run_id = gone.run_id)
  select from gone`;

export async function prunePostgresRuns(
  store: DurableStore & { pool: PostgresPool },
  limits: RunLimits,
  { dryRun = false, nowMs = Date.now() } = {},
): Promise<RunRetention> {
  const rows = (await store.pool.query(weights)).rows as Weight[];
  const result: RunRetention = {
    removed: [],
    freedBytes: 0,
    runs: rows.length,
    bytes: rows.reduce((sum, { bytes }) => sum + Number(bytes), 0),
  };
  for (const { key, id, epoch, touched_ms: touchedMs, bytes } of rows) {
    // One without a record was just opened, or was never started.
    if (touchedMs === null) continue;
    const ageMs = nowMs - touchedMs;
    const isOver = result.runs > limits.maxRuns || result.bytes > limits.maxBytes;
    if (ageMs < dayMs || !(isOver || ageMs > limits.maxDays * dayMs)) break;
    if (!(await isFinished(store, id))) continue;
    if (!dryRun && (await store.pool.query(removal, [key, epoch])).rowCount !== 1) continue;
    result.removed.push(id);
    result.freedBytes += Number(bytes);
    result.runs--;
    result.bytes -= Number(bytes);
  }
  return result;
}

async function isFinished(store: DurableStore, id: string): Promise<boolean> {
  const { records, holder } = await store.read(id);
  return holder === undefined && endedWell(records);
}
