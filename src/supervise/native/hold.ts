/**
 * Hold mode, the supervisor's half: where the kernel will leave no core, notices that the program repeats a fault, reads
 * it as a live core, and lets it die. It is let go in any case: by us when the memory is copied, by a shell that watches
 * over us when that takes too long or we are dead. The signal that it would have died of is told to the outside.
 */
import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { holdFolderVariable, holdVariable } from '../../capture/triggers/hold-faults.ts';
import { toldName } from '../../capture/triggers/hold-natively.ts';
import { signalNames } from '../../formats/elf-core/layout.ts';
import { newId } from '../../journal/write/session-id.ts';
import { platform } from '../../platform/index.ts';
import { signals } from '../../platform/signals.ts';
import { makeDiagnosticsFolder, removeDiagnosticsFolder } from '../evidence/diagnostics.ts';
import { tryLockSession } from '../finish/finisher-lock.ts';
import type { RunningChild } from '../run/child.ts';
import type { CoreWish } from '../run/run-options.ts';
import { makeScrubber } from '../scrub/scrubber.ts';
import { canLeaveCore } from './core-limit.ts';
import { type CoreDigest, digestHeldCore, type LiveCorePart } from './core-part.ts';
import { startGuard } from './guard-stop.ts';
import { type HeldThread, isSameFault, lookForFault } from './held-thread.ts';
import { readHoldNote } from './hold-note.ts';
import { readRunnable } from './live-process.ts';

export interface HeldDeath {
  /** What it would have died of. */
  signal: NodeJS.Signals;
  part?: LiveCorePart;
  gap?: string;
  /** We have its session's lock: reading takes seconds, in which a sweep must not take it for abandoned. */
  isLocked: boolean;
}

/** A fault that repeats itself is mostly the kernel's work, at full speed. */
const lookEveryMs = 150;
const leastTicks = 4;
const leastKernelShare = 0.25;
/** After a look in vain the next one waits for so many turns, up to the last. */
const mostTurnsSkipped = 8;
const looks = 3;
const betweenLooksMs = 15;
const longestHoldSeconds = 20;
/** Where /proc/PID/mem of a child may be read: Yama's scopes from 2 on want an administrator. */
const widestYamaScope = 1;

export interface HoldPlace {
  /** For the program. */
  environment: Record<string, string>;
  /** Private, for what a native holder tells; absent where there is no place for it. */
  folder: string | undefined;
  id: string;
}

/** Undefined where nothing is to be held. */
export function prepareHold(core: CoreWish): HoldPlace | undefined {
  if (!isHoldNeeded(core)) return undefined;
  const id = newId();
  const folder = makeDiagnosticsFolder(id);
  const environment = {
    [holdVariable]: String(process.pid),
    ...(folder !== undefined && { [holdFolderVariable]: folder }),
  };
  return { environment, folder, id };
}

/** Nothing is held where the kernel leaves a core, or where the memory could not be read. */
function isHoldNeeded(core: CoreWish): boolean {
  if (!platform.hasProcessFiles || process.arch !== 'x64') return false;
  const scope = Number(platform.kernelFile('sys/kernel/yama/ptrace_scope') ?? 0);
  if (scope > widestYamaScope && process.getuid?.() !== 0) return false;
  return core === 'off' || !canLeaveCore(process.cwd());
}

export class Hold {
  readonly #pid: number;
  readonly #place: HoldPlace;
  readonly #digest: CoreDigest | undefined;
  readonly #sessionFolder: string | undefined;
  readonly #withheld: () => string[];
  readonly #guard: ChildProcess;
  readonly #timer: NodeJS.Timeout;
  /** When the ticks began to be counted. */
  #before: CpuTicks | undefined;
  /** Threads that were seen to want the processor at every turn since. */
  #restless: Set<number> | undefined;
  #turnsToSkip = 0;
  #turnsSkippedLast = 0;
  #isLooking = false;
  #result: Promise<HeldDeath | undefined> = Promise.resolve(undefined);

  constructor(
    pid: number,
    place: HoldPlace,
    digest: CoreDigest | undefined,
    child?: Pick<RunningChild, 'session' | 'withheld'>,
  ) {
    this.#pid = pid;
    this.#place = place;
    this.#digest = digest;
    this.#sessionFolder = child?.session?.folder;
    this.#withheld = () => child?.withheld() ?? [];
    this.#guard = startGuard(guardScript, 'agentdump-hold', pid);
    this.#timer = setInterval(() => this.#turn(), lookEveryMs);
  }

  /** After the end: what was read. */
  get result(): Promise<HeldDeath | undefined> {
    return this.#result;
  }

  /** The process is no more. */
  stop(): void {
    clearInterval(this.#timer);
    this.#guard.kill(signals.kill);
  }

  /** When the result is there. */
  tidyUp(): void {
    removeDiagnosticsFolder(this.#place.id);
  }

  #turn(): void {
    const told = this.#isLooking ? undefined : this.#readNote();
    if (told) {
      clearInterval(this.#timer);
      this.#result = this.#read(told, () => this.#takeNote());
      return;
    }
    const now = readTicks(this.#pid);
    const before = this.#before;
    if (!now || !before || this.#isLooking || this.#turnsToSkip-- > 0) {
      this.#countFrom(now);
      return;
    }
    this.#turnsToSkip = 0;
    const kernel = now.kernel - before.kernel;
    const total = kernel + now.user - before.user;
    if (total < leastTicks) {
      if (!this.#isRestless(total)) this.#countFrom(now);
      return;
    }
    this.#countFrom(now);
    if (kernel < total * leastKernelShare) return;
    this.#isLooking = true;
    this.#look().finally(() => {
      this.#isLooking = false;
    });
  }

  #countFrom(now: CpuTicks | undefined): void {
    this.#before = now;
    this.#restless = undefined;
  }

  /** On a machine with much to do a thread that spins gets few ticks in a turn, but it never rests. */
  #isRestless(ticks: number): boolean {
    if (ticks === 0 && this.#restless === undefined) return false;
    const runnable = readRunnable(this.#pid);
    const known = this.#restless;
    this.#restless = new Set(known ? runnable.filter((tid) => known.has(tid)) : runnable);
    return this.#restless.size > 0;
  }

  /** A native holder lets the process die of its own signal when its note is gone. */
  #takeNote(): void {
    if (this.#place.folder !== undefined) rmSync(join(this.#place.folder, toldName), { force: true });
  }

  #readNote(): HeldThread | undefined {
    return this.#place.folder === undefined ? undefined : readHoldNote(this.#place.folder, this.#pid);
  }

  async #look(): Promise<void> {
    const held = await confirmFault(this.#pid);
    if (held) {
      clearInterval(this.#timer);
      this.#result = this.#read(held, () => kill(this.#pid));
      await this.#result;
      return;
    }
    this.#turnsSkippedLast = Math.min(mostTurnsSkipped, this.#turnsSkippedLast * 2 + 1);
    this.#turnsToSkip = this.#turnsSkippedLast;
  }

  async #read(held: HeldThread, letGo: () => void): Promise<HeldDeath> {
    const signal = (signalNames[held.signal] ?? 'SIGSEGV') as NodeJS.Signals;
    const isLocked = this.#sessionFolder !== undefined && tryLockSession(this.#sessionFolder);
    // From here on the guard counts.
    this.#guard.stdin?.write('held\n');
    try {
      if (!this.#digest) return { signal, isLocked };
      const part = await digestHeldCore(
        this.#pid,
        held,
        this.#digest,
        makeScrubber(process.env, this.#withheld()),
        letGo,
      );
      return { signal, isLocked, part };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { signal, isLocked, gap: `the process was held, but could not be read: ${why}` };
    } finally {
      letGo();
    }
  }
}

/** The same fault at every look, or none. */
async function confirmFault(pid: number): Promise<HeldThread | undefined> {
  try {
    const first = lookForFault(pid);
    for (let i = 1; first && i < looks; i++) {
      await pause(betweenLooksMs);
      const again = lookForFault(pid);
      if (!again || !isSameFault(first, again)) return undefined;
    }
    return first;
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}

/** The end of it is seen by whoever waits for the child, so the process id is still its own. */
function kill(pid: number): void {
  try {
    process.kill(pid, signals.kill);
  } catch {}
}

interface CpuTicks {
  user: number;
  kernel: number;
}

function readTicks(pid: number): CpuTicks | undefined {
  const words = platform.processStat(pid);
  return words && { user: Number(words[11]), kernel: Number(words[12]) };
}

/**
 * Told that the process is held, ends it after the deadline. With the supervisor dead it waits until the program has had
 * the time to notice that by itself, and ends it only if it is still to be held (SIGSEGV caught) and does nothing but
 * fault for several seconds. The start time tells it from another process of the same number. Few ticks are enough: on a
 * machine with much to do a program that spins gets few.
 */
const guardScript = `
look() {
  read -r stat < /proc/$1/stat || exit
  set -- \${stat##*) }
  [ "\${20}" = "$started" ] || exit
  user=\${12} kernel=\${13}
} 2>/dev/null
started=
read -r stat < /proc/$1/stat || exit
rest=\${stat##*) }
pid=$1
set -- $rest
started=\${20}
if read -r word; then
  sleep ${longestHoldSeconds}
  look $pid
  exec kill -KILL $pid
fi
sleep 4
for round in 1 2 3 4 5; do
  look $pid; user0=$user kernel0=$kernel
  sleep 1
  look $pid
  [ $((kernel - kernel0)) -ge 3 ] && [ $(((kernel - kernel0) * 4)) -ge $((user - user0)) ] || exit
  while read -r name mask; do
    [ "$name" = SigCgt: ] || continue
    case $mask in *[4567cdef]??) ;; *) exit ;; esac
  done < /proc/$pid/status
done
kill -KILL $pid
`;
