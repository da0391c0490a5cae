/**
 * Explains processes of the run that died without writing a bundle: out of heap, killed, a native crash. The log of such a
 * process has no end although the process is gone, and there is further evidence: a fatal report of Node, a test that was
 * running, or a signal that the parent saw and had not sent. (The missing end alone is no evidence, because runners kill idle
 * workers.)
 */
import { readdirSync } from 'node:fs';
import { partNames } from '../../bundle/layout/bundle.ts';
import { listSessions, readSession } from '../../journal/read/session.ts';
import { describeSession } from '../../journal/write/session.ts';
import { sessionFolder, writeSession } from '../../journal/write/session-file.ts';
import { newId } from '../../journal/write/session-id.ts';
import { publicName } from '../../redaction/public-name.ts';
import type { Witness } from '../../supervise/evidence/evidence.ts';
import { lockOf } from '../../supervise/evidence/lock.ts';
import { finishSession } from '../../supervise/finish/finisher.ts';
import { inferSignal, isUnexplained } from '../../supervise/run/exit-status.ts';
import type { ChildExit } from '../../supervise/run/restart-policy.ts';
import { makeScrubber } from '../../supervise/scrub/scrubber.ts';
import {
  asTime,
  type ChildEnd,
  type LoggedThread,
  noteBundleOf,
  runningTests,
  signalSeenByParent,
} from '../report/test-logs.ts';
import type { StartedRun } from '../start.ts';
import { describeTests } from './dump-tree.ts';
import { isAlive } from './tree.ts';

/** Never throws: the command's exit code is more important than a bundle. */
export function explainSilentDeaths(
  run: StartedRun,
  threads: readonly LoggedThread[],
  exit: ChildExit,
  note: (text: string) => void,
): void {
  const reports = readdirSync(run.folder).filter((name) => name.startsWith('report.'));
  for (const thread of threads) {
    if (thread.threadId !== 0 || thread.process === undefined || isAlive(thread.pid)) continue;
    const told = signalSeenByParent(threads, thread.pid);
    const seen = thread.pid === run.pid ? inferSignal(exit) : told && endSeenByParent(told);
    // Tests kill their own programs on purpose.
    const isWish = told?.byParent === true || (told?.signal === 'SIGKILL' && thread.tests.length === 0);
    const isStruck = seen !== undefined && isUnexplained(seen) && !isWish;
    const isTold =
      told?.lastGcs !== undefined ||
      reports.some((name) => name.includes(`.${thread.pid}.`)) ||
      runningTests(threads, thread.pid).length > 0;
    if (!isStruck && (thread.exit || !isTold)) continue;
    if (hasOwnBundle(threads, thread.pid)) continue;
    try {
      explain(run, threads, thread, {
        ...(seen && { exit: seen }),
        ...(told?.lastGcs && { lastGcs: told.lastGcs }),
      });
    } catch (error) {
      note(`no bundle of process ${thread.pid}: ${error instanceof Error ? error.message : error}`);
    }
  }
}

function endSeenByParent({ signal, byParent }: ChildEnd): NonNullable<Witness['exit']> {
  return { signal, ...(byParent && { byParent }) };
}

/** Whether any of its threads wrote a bundle about the death. */
function hasOwnBundle(threads: readonly LoggedThread[], pid: number): boolean {
  return threads
    .filter((thread) => thread.pid === pid)
    .some(({ bundles }) =>
      bundles.some(({ trigger, handled }) => !handled && !trigger.startsWith('snapshot')),
    );
}

function explain(
  run: StartedRun,
  threads: readonly LoggedThread[],
  thread: LoggedThread,
  seen: Pick<Witness, 'exit' | 'lastGcs'>,
): void {
  const scrubber = makeScrubber(process.env);
  const command = scrubber.argv(thread.process?.argv ?? []);
  const result = finishSession({
    dir: run.dir,
    folder: findSession(run.dir, thread.pid) ?? openSession(run.dir, thread, command),
    witness: { foundBy: 'supervisor', ...seen },
    scrubber,
    command,
    diagnosticsOf: run.id,
    ...lockOf(process.env),
    more: { [partNames.tests]: scrubber.value(describeTests(threads, thread.pid)) },
  });
  if (result.outcome === 'sealed') noteBundleOf(run.folder, thread.pid, result.path, 'supervised-exit');
}

/** The session of the flight recorder, with the agent's journal. */
function findSession(dir: string, pid: number): string | undefined {
  return listSessions(dir).find((folder) => {
    try {
      return readSession(folder).process.pid === pid;
    } catch {
      return false;
    }
  });
}

function openSession(dir: string, { pid, process }: LoggedThread, command: string[]): string {
  const id = newId();
  const folder = sessionFolder(dir, id);
  const facts = describeSession({
    id,
    pid,
    program: process?.program ?? 'node',
    command,
    heartbeatMs: 0,
    cwd: publicName(process?.cwd ?? globalThis.process.cwd()),
    ...(process && { nodeVersion: process.nodeVersion }),
  });
  writeSession(folder, {
    ...facts,
    startedAt: asTime(process?.atMs) ?? facts.startedAt,
    process: {
      ...facts.process,
      parentPid: process?.parentPid ?? 0,
      ...(process?.startTicks !== undefined && { startTicks: process.startTicks }),
    },
  });
  return folder;
}
