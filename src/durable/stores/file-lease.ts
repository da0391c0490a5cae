/**
 * Who works at a run that is a folder: files `lease-<epoch>.json`, each created by a link, which succeeds for one process
 * only, and checked after it; the highest epoch is the holder. A holder on this machine keeps the run as long as its process lives. A worker
 * thread, and a holder that is not visible from here (another machine, another container), keeps it as long as it touches its
 * file. A copied folder has no holder: the file contains the inode of the folder in which it was written.
 */
import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';
import { AgentdumpError } from '../../errors.ts';
import type { ProcessIdentity } from '../../journal/layout/session.ts';
import { describeProcess } from '../../journal/write/session.ts';
import { draftIn } from './drafts.ts';
import { describeHolder, isFromHere, isSurelyDead } from './holder.ts';

/** A lease that was not touched for this long has expired. */
const leaseMs = 20_000;
const touchEveryMs = 5_000;
const leaseFile = /^lease-(\d{8,})\.(json|free|over)$/;

interface LeaseFacts {
  process: ProcessIdentity;
  folder: number;
  /** Absent for a main thread. A worker thread may end while its process lives on. */
  thread?: number;
}

/** Holds the run. */
export class FileLease {
  readonly epoch: number;
  readonly #folder: string;
  /** Called when another process has taken the run. */
  onLost: (error: AgentdumpError) => void = () => {};
  readonly #timer: NodeJS.Timeout;
  readonly #runId: string;
  /** Removed by the next holder. */
  readonly #file: string;
  #checkedAt = Date.now();
  #isReleased = false;

  private constructor(folder: string, runId: string, epoch: number) {
    this.#folder = folder;
    this.#runId = runId;
    this.epoch = epoch;
    this.#file = join(folder, leaseName(epoch, 'json'));
    this.#timer = setInterval(() => this.#touch(), touchEveryMs).unref();
  }

  /** Throws AgentdumpError `held` if a living process has the run, or if another one took it at the same moment. */
  static take(folder: string, runId: string): FileLease {
    for (;;) {
      const last = lastLease(folder);
      const holder = last && !last.isFree ? findHolder(folder, last.name) : undefined;
      if (holder) throw held(runId, holder);
      const epoch = (last?.epoch ?? 0) + 1;
      if (!link(folder, epoch)) continue;
      if (!isStillLast(folder, epoch)) continue;
      removeBefore(folder, epoch);
      return new FileLease(folder, runId, epoch);
    }
  }

  /**
   * Called before each write: the file is gone if another process holds the run. `existsSync` costs two thirds of a `stat`,
   * which took as long as the write itself. After a long suspension the lease is checked once more. Throws `held`.
   */
  verify(): void {
    const now = Date.now();
    if (existsSync(this.#file) && now - this.#checkedAt < touchEveryMs) return;
    this.#checkedAt = now;
    const last = lastLease(this.#folder);
    if (last?.epoch !== this.epoch) throw held(this.#runId, 'a worker that took it over meanwhile');
    this.#touch();
  }

  get isHeld(): boolean {
    return !this.#isReleased && lastLease(this.#folder)?.epoch === this.epoch;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    clearInterval(this.#timer);
    if (lastLease(this.#folder)?.epoch !== this.epoch) return;
    writeFileSync(join(this.#folder, leaseName(this.epoch, 'free')), '', { mode: 0o600 });
  }

  #touch(): void {
    const now = new Date();
    try {
      utimesSync(this.#file, now, now);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return;
      clearInterval(this.#timer);
      this.onLost(held(this.#runId, 'a worker that took it over meanwhile'));
    }
  }
}

/**
 * Records that the run has ended, for the epoch at which it was last taken. Taking the run again invalidates the note,
 * including one that is written late by the previous holder.
 */
export function noteOver(folder: string): void {
  const last = lastLease(folder);
  if (last) writeFileSync(join(folder, leaseName(last.epoch, 'over')), '', { mode: 0o600 });
}

/** `names`: the files of the run's folder. Also false if the run ended under a release that wrote no note. */
export function isNotedOver(names: readonly string[]): boolean {
  const epoch = lastEpoch(names);
  return epoch > 0 && names.includes(leaseName(epoch, 'over'));
}

/** A description of the process that works at the run now; undefined if there is none. */
export function findLeaseHolder(folder: string): string | undefined {
  const last = lastLease(folder);
  return last && !last.isFree ? findHolder(folder, last.name) : undefined;
}

function lastLease(folder: string): { epoch: number; name: string; isFree: boolean } | undefined {
  const names = readdirSync(folder);
  const epoch = lastEpoch(names);
  if (epoch === 0) return undefined;
  return { epoch, name: leaseName(epoch, 'json'), isFree: names.includes(leaseName(epoch, 'free')) };
}

/** 0: it was never held. */
function lastEpoch(names: readonly string[]): number {
  let last = 0;
  for (const name of names) last = Math.max(last, Number(leaseFile.exec(name)?.[1] ?? 0));
  return last;
}

function findHolder(folder: string, name: string): string | undefined {
  const facts = readLease(join(folder, name));
  if (!facts || facts.folder !== statSync(folder).ino) return undefined;
  const { process: holder, thread } = facts;
  if (isSurelyDead(holder)) return undefined;
  if (isFromHere(holder) && thread === undefined) return describeHolder(holder);
  const silentMs = Date.now() - (statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0);
  const which = thread === undefined ? '' : `, thread ${thread}`;
  return silentMs > leaseMs ? undefined : `${describeHolder(holder)}${which}`;
}

/** Undefined if it is gone or torn: a torn one was never a lease, because its writer died first. */
function readLease(path: string): LeaseFacts | undefined {
  try {
    const facts = JSON.parse(readFileSync(path, 'utf8'));
    return typeof facts?.process?.pid === 'number' ? facts : undefined;
  } catch {
    return undefined;
  }
}

/** Atomic; false if another process was faster. */
function link(folder: string, epoch: number): boolean {
  const draft = draftIn(folder);
  const facts: LeaseFacts = {
    process: describeProcess(process.pid),
    folder: statSync(folder).ino,
    ...(!isMainThread && { thread: threadId }),
  };
  try {
    writeFileSync(draft, JSON.stringify(facts), { mode: 0o600, flag: 'wx' });
    linkSync(draft, join(folder, leaseName(epoch, 'json')));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Between the look and the link, others may have taken this epoch and the next one and removed this one's file, so that the
 * link succeeded although the run is held. Its taker withdraws. A later epoch's file is there before an earlier one is
 * removed, so one of the two takers always sees the other.
 */
function isStillLast(folder: string, epoch: number): boolean {
  if (lastLease(folder)?.epoch === epoch) return true;
  rmSync(join(folder, leaseName(epoch, 'json')), { force: true });
  return false;
}

function removeBefore(folder: string, epoch: number): void {
  for (const name of readdirSync(folder)) {
    const found = leaseFile.exec(name);
    if (found && Number(found[1]) < epoch) rmSync(join(folder, name), { force: true });
  }
}

function leaseName(epoch: number, kind: 'json' | 'free' | 'over'): string {
  return `lease-${String(epoch).padStart(8, '0')}.${kind}`;
}

function held(run: string, holder: string): AgentdumpError {
  return new AgentdumpError('held', `run ${run} is held by ${holder}`, { run, holder });
}
