/** Runs the requested checks on one life of a program, each at its own interval, until the first complaint. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { partialSuffix, startingSuffix, unfinishedSuffix } from '../../bundle/layout/bundle.ts';
import { listFolder } from '../../platform/small-file.ts';
import { UrlCheck } from './ask-url.ts';
import { HeartbeatCheck } from './heartbeat.ts';
import type { Complaint, HealthCheck, HealthLimits } from './limits.ts';
import { MainThreadCheck } from './main-thread.ts';
import { MemoryCheck } from './memory.ts';
import { findProgram, HomeLoop, isStopped, readMainThread } from './program.ts';

export interface Watched {
  /** The started process: the program, or a shell that runs it. */
  pid: number;
  sessionFolder?: string;
  /** The dump folder. */
  dir: string;
}

export interface WatchListener {
  onComplaint(complaint: Complaint): void;
  /** It answers, or, without an endpoint, has lived for a while. */
  onWell(): void;
  /** A check has failed once: time to load what handles an unhealthy program. */
  onDoubt(): void;
}

/** Without a health endpoint, a program that lived this long has started. */
const settledMs = 1000;

const unfinished = [startingSuffix, partialSuffix, unfinishedSuffix];
/** An unfinished bundle that has not changed for this long was left behind by a death. */
const dumpingMs = 60_000;

export class HealthWatch {
  readonly #pid: number;
  readonly #dir: string;
  readonly #listener: WatchListener;
  readonly #home = new HomeLoop();
  readonly #timers = new Set<NodeJS.Timeout>();
  #isOver = false;

  constructor(limits: HealthLimits, watched: Watched, listener: WatchListener) {
    this.#pid = watched.pid;
    this.#dir = watched.dir;
    this.#listener = listener;
    for (const check of this.#checksFor(limits, watched)) this.#lookLater(check);
    if (limits.url === undefined) this.#later(settledMs, () => listener.onWell());
  }

  stop(): void {
    this.#isOver = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #checksFor(limits: HealthLimits, { pid, sessionFolder }: Watched): HealthCheck[] {
    const { url, heartbeatMs, memoryBytes, hangMs } = limits;
    const program = () => findProgram(pid);
    const checks: HealthCheck[] = [];
    if (url !== undefined) checks.push(new UrlCheck(url, limits, this.#listener));
    if (heartbeatMs !== undefined && sessionFolder !== undefined)
      checks.push(new HeartbeatCheck(sessionFolder, heartbeatMs, limits.startGraceMs));
    if (memoryBytes !== undefined) checks.push(new MemoryCheck(program, memoryBytes));
    if (hangMs !== undefined)
      checks.push(new MainThreadCheck(program, this.#home, hangMs, limits.startGraceMs));
    return checks;
  }

  #lookLater(check: HealthCheck): void {
    this.#later(check.everyMs, async () => {
      // A program that is stopped by a signal or a debugger is not checked.
      const program = findProgram(this.#pid);
      const wasStopped = isStopped(program);
      this.#home.learn(readMainThread(program));
      const complaint = wasStopped ? check.forgive?.() : await check.look();
      if (this.#isOver) return;
      if (complaint && isDumping(this.#dir)) check.forgive?.();
      else if (complaint) this.#listener.onComplaint({ ...complaint, ...this.#homeLoop() });
      if (!this.#isOver) this.#lookLater(check);
    });
  }

  #homeLoop(): Pick<Complaint, 'homeLoop'> {
    const { descriptor } = this.#home;
    return descriptor === undefined ? {} : { homeLoop: descriptor };
  }

  #later(ms: number, job: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      job();
    }, ms);
    timer.unref();
    this.#timers.add(timer);
  }
}

/**
 * Whether a bundle is being written in the dump folder: a process that writes about its own death does not answer, and must
 * not be killed for that.
 */
function isDumping(dir: string): boolean {
  return listFolder(dir).some((name) => {
    if (!unfinished.some((suffix) => name.endsWith(suffix))) return false;
    const changed = statSync(join(dir, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return Date.now() - changed < dumpingMs;
  });
}
