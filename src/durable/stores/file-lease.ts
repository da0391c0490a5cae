/**
 * Who works at a run that is a folder: files `lease-<epoch>.json`, each made by a link that only one can make; the
 * highest epoch holds. A holder on this machine holds while its process lives; a worker thread, and one that can't be seen
 * from here (another machine, another container), while it touches its file. A copied folder is nobody's: the file names the inode of the
 * folder in which it was written.
 */
import { linkSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';
import { AgentdumpError } from '../../errors.ts';
import type { ProcessIdentity } from '../../journal/layout/session.ts';
import { describeProcess } from '../../journal/write/session.ts';
import { draftIn } from './drafts.ts';
import { describeHolder, isFromHere, isSurelyDead } from './holder.ts';

/** A lease that was not touched for so long is over. */
const leaseMs = 20_000;
const touchEveryMs = 5_000;
const leaseFile = /^lease-(\d{8})\.(json|free|over)$/;

interface LeaseFacts {
  process: ProcessIdentity;
  folder: number;
  /** Absent for a main thread: a thread may end, and its process live on. */
  thread?: number;
}

/** The run is ours while this lives. */
export class FileLease {
  readonly epoch: number;
  readonly #folder: string;
  /** Called when somebody else has taken the run. */
  onLost: (error: AgentdumpError) => void = () => {};
  readonly #timer: NodeJS.Timeout;
  readonly #runId: string;
  /** The next holder removes it. */
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

  /** Throws AgentdumpError `held` when a living process has the run, or another took it in this moment. */
  static take(folder: string, runId: string): FileLease {
    for (;;) {
      const last = lastLease(folder);
      const holder = last && !last.isFree ? findHolder(folder, last.name) : undefined;
      if (holder) throw held(runId, holder);
      const epoch = (last?.epoch ?? 0) + 1;
      if (!link(folder, epoch)) continue;
      removeBefore(folder, epoch);
      return new FileLease(folder, runId, epoch);
    }
  }

  /** Called before each write: its file is gone when another holds the run, and a long sleeper looks once more. Throws `held`. */
  verify(): void {
    const now = Date.now();
    const isThere = statSync(this.#file, { throwIfNoEntry: false }) !== undefined;
    if (isThere && now - this.#checkedAt < touchEveryMs) return;
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
 * Notes that the run has ended, as it was when it was last taken: whoever takes it again makes the note void, also one that is
 * written behind his back.
 */
export function noteOver(folder: string): void {
  const last = lastLease(folder);
  if (last) writeFileSync(join(folder, leaseName(last.epoch, 'over')), '', { mode: 0o600 });
}

/** `names`: the files of the run's folder. False also where no release has noted it. */
export function isNotedOver(names: readonly string[]): boolean {
  const epoch = lastEpoch(names);
  return epoch > 0 && names.includes(leaseName(epoch, 'over'));
}

/** Who works at the run now, in words; undefined when nobody does. */
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

/** 0: nobody has ever held it. */
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

/** Undefined for one that is gone or torn: its maker died before it held anything. */
function readLease(path: string): LeaseFacts | undefined {
  try {
    const facts = JSON.parse(readFileSync(path, 'utf8'));
    return typeof facts?.process?.pid === 'number' ? facts : undefined;
  } catch {
    return undefined;
  }
}

/** Whole or not at all, and only when nobody was faster. */
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
