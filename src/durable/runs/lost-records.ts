/**
 * Records that are lost in the middle of a run's log, such as by a bad sector; not a torn end, which is what a death leaves. What
 * the run had done there is not known, so a program that can't be followed there has not changed.
 */
import { AgentdumpError } from '../../errors.ts';
import { quoteWords } from '../../platform/paths.ts';
import type { RunLog } from './run-log.ts';

interface RunWithLog {
  id: string;
  log: RunLog;
}

/** A step whose start is lost would begin again without being in doubt. Throws `malformed-input` if there is one. */
export function requireStarts(run: RunWithLog): void {
  if (run.log.lostStarts.length > 0) throw lostRecords(run);
}

/** The error in place of this one (`changed`), if the cause may be that records are lost. */
export function explainByLoss(run: RunWithLog, error: Error): Error {
  return firstLost(run.log) === undefined ? error : lostRecords(run, error);
}

function lostRecords({ id, log }: RunWithLog, cause?: Error): AgentdumpError {
  const at = firstLost(log) ?? 0;
  const before = lastBefore(log, at);
  const advice =
    before === undefined
      ? 'nothing that it did before is known either: start it with another id'
      : `\`${quoteWords(['agentdump', 'rollback', id, '--to', before])}\` does again what it did from there on`;
  return new AgentdumpError(
    'malformed-input',
    `record ${at} of run ${id} is damaged, and others follow it, so what the run had done there is not known: ${advice}`,
    { format: 'durable run', field: `record ${at}`, run: id },
    cause,
  );
}

function firstLost({ lost, lostStarts }: RunLog): number | undefined {
  const all = [...lost, ...lostStarts];
  return all.length > 0 ? Math.min(...all) : undefined;
}

/** The path of the last step or question that began before this record. */
function lastBefore({ steps, approvals }: RunLog, at: number): string | undefined {
  let last: { seq: number; path: string } | undefined;
  for (const entry of [...steps.values(), ...approvals.values()])
    if (entry.seq < at && entry.seq > (last?.seq ?? -1)) last = entry;
  return last?.path;
}
