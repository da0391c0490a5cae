/**
 * The supervisor's half of hold mode. If the kernel will write no core, detects that the program repeats a fault, reads it as
 * a live core, and ends it. The program is ended in any case: by us when its memory has been copied, by a guard shell if that
 * takes too long or we are dead. The signal of the fault is reported as the cause of death.
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
  /** The signal of the fault. */
  signal: NodeJS.Signals;
  part?: LiveCorePart;
  gap?: string;
  /** Whether we locked its session. Reading takes seconds, and a sweep must not treat the session as abandoned meanwhile. */
  isLocked: boolean;
}

/** A repeated fault shows as a high load, most of it in the kernel. */
const lookEveryMs = 150;
const leastTicks = 4;
const leastKernelShare = 0.25;
/** After a look that finds nothing, 1, 3, 7 and then 8 turns are skipped. */
const mostTurnsSkipped = 8;
const looks = 3;
const betweenLooksMs = 15;
const longestHoldSeconds = 20;
/** Highest Yama scope at which /proc/PID/mem of a child is readable: from 2 on it takes an administrator. */
const widestYamaScope = 1;

export interface HoldPlace {
  /** Variables for the program. */
  environment: Record<string, string>;
  /** Private folder for the report of a native handler; undefined if none could be created. */
  folder: string | undefined;
  id: string;
}

/** Undefined if hold mode is not needed or not possible. */
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

/** Hold mode is not used if the kernel will write a core, or if the memory can't be read. */
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
  /** CPU time at the start of the current measurement. */
  #before: CpuTicks | undefined;
  /** Threads that were runnable at every turn since then. */
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

  /** What was read; to be awaited after the end of the process. */
  get result(): Promise<HeldDeath | undefined> {
    return this.#result;
  }

  /** Call it when the process has ended. */
  stop(): void {
    clearInterval(this.#timer);
    this.#guard.kill(signals.kill);
  }

  /** Call it when `result` is settled. */
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

  /** On a busy machine a spinning thread gets few ticks per turn, but is always runnable. */
  #isRestless(ticks: number): boolean {
    if (ticks === 0 && this.#restless === undefined) return false;
    const runnable = readRunnable(this.#pid);
    const known = this.#restless;
    this.#restless = new Set(known ? runnable.filter((tid) => known.has(tid)) : runnable);
    return this.#restless.size > 0;
  }

  /** A native handler lets the process die of its own signal when the report file is removed. */
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
    // Starts the guard's deadline.
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

/** The fault, if all looks find the same one. */
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
    // The process has ended.
    return undefined;
  }
}

/** The process is our child and has not been reaped, so its pid can't have been reused. */
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
 * When it is told that the process is held, kills it after the deadline. If the supervisor dies instead, it first gives the
 * program time to notice, and then kills it only if the program still catches SIGSEGV and does nothing but fault for several
 * seconds: it is runnable at each look, and the kernel has a fifth of its time or more. A round lasts until the program has had
 * three ticks, because a spinning program gets few on a busy machine. The start time identifies the process, in case its
 * pid is reused.
 */
const guardScript = `
look() {
  read -r stat < /proc/$1/stat || exit
  set -- \${stat##*) }
  [ "\${20}" = "$started" ] || exit
  state=$1 user=\${12} kernel=\${13}
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
  look $pid; user0=$user kernel0=$kernel seconds=0
  while [ $((user - user0 + kernel - kernel0)) -lt 3 ]; do
    [ $seconds -lt 20 ] && [ $state = R ] || exit
    sleep 1
    seconds=$((seconds + 1))
    look $pid
  done
  [ $(((kernel - kernel0) * 4)) -ge $((user - user0)) ] || exit
  while read -r name mask; do
    [ "$name" = SigCgt: ] || continue
    case $mask in *[4567cdef]??) ;; *) exit ;; esac
  done < /proc/$pid/status
done
kill -KILL $pid
`;
