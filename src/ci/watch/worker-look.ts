/**
 * Reads the stacks of the worker threads of a process that is about to write its bundle. The process can't interrupt its own
 * spinning threads, so they are read from outside, and the result is stored in the run's private folder, where the process
 * finds it.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestStop, type WorkerStacksNote, workerStacksName } from '../../bundle/layout/tests.ts';
import { platform } from '../../platform/index.ts';
import { isItsPortTaken } from '../../supervise/attach/inspector-port.ts';
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
/** Minimum CPU time during the sample. An idle thread uses none. */
const busyMs = 20;

/** Reads the stacks of the busy worker threads out of the memory of a process. */
export type MemoryReader = (pid: number) => Promise<WorkerStacksNote['workers']>;

/** Inspectors are opened one at a time, because all use the same port. */
let earlier: Promise<void> = Promise.resolve();

/**
 * Writes nothing if there is nothing to report about workers. `readMemory` is for a process whose inspector can't be opened because
 * another one has the port. Never rejects.
 */
export async function lookAtWorkers(
  folder: string,
  pid: number,
  threads: readonly LoggedThread[],
  why: TestStop['why'],
  readMemory: MemoryReader,
): Promise<void> {
  if (!runsTestsInWorkers(threads, pid) && !(await hasBusyWorker(pid))) return;
  earlier = earlier.then(() => leaveNote(folder, pid, why, readMemory)).catch(() => {});
  await earlier;
}

async function leaveNote(
  folder: string,
  pid: number,
  why: TestStop['why'],
  readMemory: MemoryReader,
): Promise<void> {
  const note = await look(pid, why).catch(async (error): Promise<WorkerStacksNote> => {
    const gaps = [`the main thread: ${error instanceof Error ? error.message : error}`];
    // A cancel leaves no time for it.
    if (why === 'cancelled' || !isItsPortTaken(pid)) return { workers: [], gaps };
    try {
      const workers = await readMemory(pid);
      return workers.length > 0 ? { workers, gaps: [ofMemory] } : { workers, gaps };
    } catch (failure) {
      gaps.push(`its memory: ${failure instanceof Error ? failure.message : failure}`);
      return { workers: [], gaps };
    }
  });
  if (note.workers.length + note.gaps.length === 0) return;
  writeFileSync(join(folder, workerStacksName(pid)), JSON.stringify(note), { mode: 0o600 });
}

const ofMemory =
  'another process had the port of the inspector: the stacks were read out of the memory, without variables';

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
 * Whether a thread uses more CPU time than the main thread, or is ready to run for most of the time, as on a busy machine. If the main
 * thread uses most, the other busy threads are V8's helpers, and the process is read from outside anyway.
 */
async function hasBusyWorker(pid: number): Promise<boolean> {
  const before = readUse(pid);
  await new Promise((resolve) => setTimeout(resolve, sampleMs));
  const after = readUse(pid);
  const since = (tid: number): Use => {
    const { ranMs, queuedMs } = after.get(tid) ?? { ranMs: 0, queuedMs: 0 };
    const was = before.get(tid) ?? { ranMs, queuedMs };
    return { ranMs: ranMs - was.ranMs, queuedMs: queuedMs - was.queuedMs };
  };
  const main = since(pid);
  const leastRanMs = Math.max(busyMs, main.ranMs + 10);
  const leastReadyMs = Math.max(sampleMs / 2, main.ranMs + main.queuedMs + 10);
  return [...after.keys()]
    .map(since)
    .some(({ ranMs, queuedMs }) => ranMs >= leastRanMs || ranMs + queuedMs >= leastReadyMs);
}

/** Milliseconds so far. */
interface Use {
  ranMs: number;
  queuedMs: number;
}

/**
 * CPU time of each thread and how long it was queued for a processor. Source: the kernel's sched-stats.rst, schedstat; without it
 * proc(5), fields 14 and 15 of `stat`, in ticks of 10 ms.
 */
function readUse(pid: number): Map<number, Use> {
  const uses = new Map<number, Use>();
  for (const tid of platform.processFolder(pid, 'task')) {
    const times = platform.processFile(pid, `task/${tid}/schedstat`)?.split(' ');
    const fields = times ? undefined : platform.processStat(pid, tid);
    // Both are missing if the thread has ended.
    if (times) uses.set(Number(tid), { ranMs: Number(times[0]) / 1e6, queuedMs: Number(times[1]) / 1e6 });
    else if (fields)
      uses.set(Number(tid), { ranMs: (Number(fields[11]) + Number(fields[12])) * 10, queuedMs: 0 });
  }
  return uses;
}
