/**
 * Reads the stacks of the worker threads of a process that is about to write its bundle. The process can't interrupt its own
 * spinning threads, so they are read from outside, and the result is stored in the run's private folder, where the process
 * finds it.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestStop, type WorkerStacksNote, workerStacksName } from '../../bundle/layout/tests.ts';
import { platform } from '../../platform/index.ts';
import { visitWorkers, type WorkerScript } from '../../supervise/attach/worker-stacks.ts';
import { placeRunningFrames } from '../report/failure-place.ts';
import type { LoggedThread } from '../report/test-logs.ts';

/**
 * A main thread whose event loop turns opens its inspector within milliseconds, or later on a busy machine. A cancel leaves
 * little time.
 */
const unhurried = { openMs: 3_000, watchMs: 300 };
const limits = {
  cancelled: { openMs: 1_000, watchMs: 150 },
  hang: unhurried,
  'job-limit': unhurried,
} as const;
const sampleMs = 200;
/** Minimum CPU time during the sample, in ticks of 10 ms. An idle thread uses none. */
const busyTicks = 2;

/** Inspectors are opened one at a time, because all use the same port. */
let earlier: Promise<void> = Promise.resolve();

/** Writes nothing if there is nothing to report about workers. Never rejects. */
export async function lookAtWorkers(
  folder: string,
  pid: number,
  threads: readonly LoggedThread[],
  why: TestStop['why'],
): Promise<void> {
  if (!runsTestsInWorkers(threads, pid) && !(await hasBusyWorker(pid))) return;
  earlier = earlier.then(() => leaveNote(folder, pid, why)).catch(() => {});
  await earlier;
}

async function leaveNote(folder: string, pid: number, why: TestStop['why']): Promise<void> {
  const note = await look(pid, why).catch(
    (error): WorkerStacksNote => ({
      workers: [],
      gaps: [`the main thread: ${error instanceof Error ? error.message : error}`],
    }),
  );
  if (note.workers.length + note.gaps.length === 0) return;
  writeFileSync(join(folder, workerStacksName(pid)), JSON.stringify(note), { mode: 0o600 });
}

async function look(pid: number, why: TestStop['why']): Promise<WorkerStacksNote> {
  const { openMs, watchMs } = limits[why];
  const scripts: WorkerScript[] = [];
  const seen = await visitWorkers(pid, openMs, { scripts, watchMs });
  const sources = new Map(scripts.map(({ url, text }) => [url, text]));
  // Mapped here, because the bundle that the main thread writes does not contain a worker's scripts.
  for (const worker of seen.workers) worker.frames = [...(await placeRunningFrames(worker.frames, sources))];
  return seen;
}

function runsTestsInWorkers(threads: readonly LoggedThread[], pid: number): boolean {
  return threads.some(
    (thread) =>
      thread.pid === pid &&
      thread.threadId !== 0 &&
      thread.exit === undefined &&
      thread.tests.some(({ status }) => status === 'unfinished'),
  );
}

/**
 * Whether a thread uses more CPU time than the main thread. If the main thread uses most, the other busy threads are V8's
 * helpers, and the process is read from outside anyway.
 */
async function hasBusyWorker(pid: number): Promise<boolean> {
  const before = readTicks(pid);
  await new Promise((resolve) => setTimeout(resolve, sampleMs));
  const after = readTicks(pid);
  const usedBy = (tid: number): number => (after.get(tid) ?? 0) - (before.get(tid) ?? after.get(tid) ?? 0);
  const least = Math.max(busyTicks, usedBy(pid) + 1);
  return [...after.keys()].some((tid) => usedBy(tid) >= least);
}

/** CPU time of each thread in user and system mode. Source: proc(5), fields 14 and 15 of `stat`. */
function readTicks(pid: number): Map<number, number> {
  const ticks = new Map<number, number>();
  for (const tid of platform.processFolder(pid, 'task')) {
    const fields = platform.processStat(pid, tid);
    // Missing if the thread has ended.
    if (fields) ticks.set(Number(tid), Number(fields[11]) + Number(fields[12]));
  }
  return ticks;
}
