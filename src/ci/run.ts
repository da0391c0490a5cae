/**
 * `agentdump ci`: runs a test command with the recorder in all Node processes below it, and writes a report if the run fails.
 * A successful run only pays for the preload and leaves nothing. What only a failed run needs is imported on demand.
 */
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleSuffix } from '../bundle/layout/bundle.ts';
import { type TestStop, testLogName, testStopName } from '../bundle/layout/tests.ts';
import { appendRemoval } from '../bundle/write/ledger.ts';
import type { CiOutcome } from '../model/ci-summary.ts';
import { signals } from '../platform/signals.ts';
import { removeDiagnosticsFolder } from '../supervise/evidence/diagnostics.ts';
import type { ChildExit } from '../supervise/run/restart-policy.ts';
import { adviceOnUnrecorded, UnrecordedWatch } from '../supervise/run/unrecorded.ts';
import type { CiEnd, CiOptions } from './options.ts';
import { type StartedRun, startRun } from './start.ts';
import { hasCutTest } from './watch/cut-tests.ts';
import { ProgressWatch } from './watch/progress-watch.ts';

/** GitHub's runner kills the process 7.5 seconds after a cancel. Dumps must have begun by then. */
const cancelDumpMs = 4_500;
const hangDumpMs = 60_000;
const patienceMs = { cancelled: 1_000, hang: 3_000, 'job-limit': 3_000 } as const;
const cancelSignals = [signals.interrupt, signals.end, signals.hangUp] as const;

/** Resolves when the command has ended and the report is written. Rejects if the command can't be started. */
export async function runCi(options: CiOptions): Promise<CiEnd> {
  const startedAt = new Date().toISOString();
  const stopping = new Stopping(options);
  // Before the start, so that there is always a handler.
  const removeListeners = stopping.listen();
  const run = await startRun(options);
  stopping.run = run;
  const watch = new ProgressWatch(run.folder, options, (why, afterMs) => stopping.begin({ why, afterMs }));
  const unrecorded = new UnrecordedWatch(run.pid);
  try {
    const exit = await run.ended;
    watch.close();
    unrecorded.close();
    await stopping.done;
    noteUnrecorded(run, unrecorded.names);
    const outcome = outcomeOf(exit, stopping.stop);
    return await conclude(options, run, { exit, outcome }, startedAt);
  } finally {
    watch.close();
    unrecorded.close();
    removeListeners();
    removeDiagnosticsFolder(run.id);
  }
}

function outcomeOf(exit: ChildExit, stop: TestStop | undefined): CiOutcome {
  const kind = stop?.why ?? (exit.code === 0 ? 'passed' : 'failed');
  return {
    kind,
    ...(exit.code !== undefined && { exitCode: exit.code }),
    ...(exit.signal !== undefined && { signal: exit.signal }),
  };
}

/** The private folder may be removed by others at any moment, so a failure because of that is retried once. */
async function conclude(options: CiOptions, run: StartedRun, end: CiEnd, startedAt: string): Promise<CiEnd> {
  replaceLostFolder(run);
  try {
    return await tell(options, run, end, startedAt);
  } catch (error) {
    if (existsSync(run.folder)) throw error;
    replaceLostFolder(run);
    return await tell(options, run, end, startedAt);
  } finally {
    for (const gap of run.gaps) options.note(gap);
  }
}

async function tell(options: CiOptions, run: StartedRun, end: CiEnd, startedAt: string): Promise<CiEnd> {
  const isGreen = end.outcome.kind === 'passed';
  const isQuiet = isGreen && !hasFatalReport(run.folder) && !hasBundle(run) && !hasCutTest(run.folder);
  if (isQuiet && !options.leakCheck && options.baseline === undefined) {
    clear(options, run);
    return end;
  }
  const { report } = await import('./report/report.ts');
  const outcome = await report(options, run, end, startedAt);
  if (outcome.kind === 'passed') clear(options, run);
  else rmSync(join(run.dir, 'sessions'), { recursive: true, force: true });
  return { ...end, outcome };
}

/** Every process with the recorder leaves a log, unless it was killed. */
function noteUnrecorded({ folder, gaps }: StartedRun, names: readonly string[]): void {
  if (names.length > 0) gaps.push(adviceOnUnrecorded(names));
  else if (existsSync(folder) && !readdirSync(folder).some((name) => testLogName.test(name)))
    gaps.push(
      'no process of the run loaded the recorder: it is loaded through NODE_OPTIONS, which must reach the Node processes unchanged',
    );
}

/** If the private folder was removed, the command's exit code and the bundles still count. */
function replaceLostFolder({ folder, gaps }: StartedRun): void {
  if (existsSync(folder)) return;
  mkdirSync(folder, { mode: 0o700 });
  gaps.push(
    `the run's private folder ${folder} was removed while it ran: processes of that time are missing`,
  );
}

/** A report of Node about a fatal error in any process below. */
function hasFatalReport(folder: string): boolean {
  return readdirSync(folder).some((name) => name.startsWith('report.'));
}

/** A bundle of a child that died on purpose, or of a process whose death the runner ignored. */
function hasBundle({ dir, earlier }: StartedRun): boolean {
  const names = existsSync(dir) ? readdirSync(dir) : [];
  return names.some((name) => name.endsWith(bundleSuffix) && !earlier.has(name));
}

/** There may be bundles of children that died on purpose. The report of an earlier run keeps its own. */
function clear({ report }: CiOptions, { dir, earlier }: StartedRun): void {
  if (earlier.size === 0) rmSync(dir, { recursive: true, force: true });
  else
    for (const name of existsSync(dir) ? readdirSync(dir) : []) {
      if (earlier.has(name)) continue;
      // The ledger, which stays, must not tell of a bundle that is gone.
      if (name.endsWith(bundleSuffix)) appendRemoval(dir, name);
      rmSync(join(dir, name), { recursive: true, force: true });
    }
  try {
    rmdirSync(report);
  } catch {
    // It was never created, or contains the report of an earlier run.
  }
}

/** Stops a run, at most once: dumps all its processes, then ends them. */
class Stopping {
  run: StartedRun | undefined;
  stop: TestStop | undefined;
  done: Promise<void> = Promise.resolve();
  readonly #options: CiOptions;

  constructor(options: CiOptions) {
    this.#options = options;
  }

  listen(): () => void {
    const undo = cancelSignals.map((signal) => {
      const listener = (): void => this.#cancel(signal);
      process.on(signal, listener);
      return () => process.removeListener(signal, listener);
    });
    return () => {
      for (const remove of undo) remove();
    };
  }

  /** Further signals are ignored while it is stopping. */
  #cancel(signal: NodeJS.Signals): void {
    if (!this.run) process.exit(130);
    this.begin({ why: 'cancelled', afterMs: performance.now() - this.run.startedMs, signal });
  }

  begin(about: Omit<TestStop, 'at'>): void {
    if (this.stop || !this.run) return;
    this.stop = { ...about, afterMs: Math.round(about.afterMs), at: new Date().toISOString() };
    this.done = this.#dumpAndEnd(this.run, this.stop).catch((error) =>
      this.#options.note(`the run could not be dumped: ${error instanceof Error ? error.message : error}`),
    );
  }

  async #dumpAndEnd(run: StartedRun, stop: TestStop): Promise<void> {
    const { dumpTree } = await import('./watch/dump-tree.ts');
    const { endTree } = await import('./watch/end-tree.ts');
    const { findTree } = await import('./watch/tree.ts');
    const { pid, folder, dir } = run;
    try {
      replaceLostFolder(run);
      writeFileSync(join(folder, testStopName), JSON.stringify(stop), { mode: 0o600 });
      this.#options.note(`${stoppedText(stop)}; dumping the processes of the run`);
      const limitMs = stop.why === 'cancelled' ? cancelDumpMs : hangDumpMs;
      const failures = await dumpTree({ tree: findTree(pid, folder), folder, dir, stop, limitMs });
      for (const failure of failures) this.#options.note(failure);
    } finally {
      await endTree(pid, folder, patienceMs[stop.why]);
    }
  }
}

function stoppedText({ why, afterMs, signal }: TestStop): string {
  const seconds = Math.round(afterMs / 1_000);
  if (why === 'cancelled') return `${signal} came`;
  if (why === 'job-limit') return `the job is about to be killed, ${seconds} s after the start`;
  return `no progress for ${seconds} s`;
}
