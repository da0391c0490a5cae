/**
 * The main thread's side of the watchdog: starts its thread invisibly for the host, answers it, passes on which signals the
 * host listens for, and writes what it requests.
 */
import type { Worker } from 'node:worker_threads';
import { guarded } from '../../agent/taps/guard.ts';
import { startOwnTimer } from '../../agent/taps/own-timer.ts';
import { ours } from '../../agent/taps/own-work.ts';
import type { HeapProfilePart } from '../../bundle/layout/bundle.ts';
import type { Lock } from '../../bundle/write/age-key.ts';
import { isoTime, nowMs } from '../../bundle/write/system.ts';
import { writeSequel } from '../../bundle/write/write-sequel.ts';
import {
  recordKinds,
  type SignalsHeldPayload,
  type StallEndPayload,
  type StallPayload,
} from '../../journal/layout/records.ts';
import { platform } from '../../platform/index.ts';
import type { CaptureRequest } from '../fatal-path/request.ts';
import type { MemorySampler } from '../heap/memory-sampler.ts';
import { heapThreadBytes, requireAddressRoom } from '../host/address-room.ts';
import { requireFreeDescriptors } from '../host/free-descriptors.ts';
import { nearestFrames } from '../host/intrinsics/own-stack.ts';
import { workingFolder } from '../host/working-folder.ts';
import type { Config } from '../install/config.ts';
import type { Origins } from '../recording/request-watch.ts';
import { stackTextOf } from '../stacks/frame-reader.ts';
import type { DeathSignals, SignalHolder } from '../triggers/signal-watch.ts';
import type { startHiddenWorker } from './hidden-worker.ts';
import { Interruption } from './interruption.ts';
import { StretchWatch } from './memory/heap-stretch.ts';
import { MemoryWatch } from './memory/memory-watch.ts';
import {
  cells,
  deliveredCell,
  type FromWatchdog,
  makeCells,
  type SeenWorkers,
  type StallHook,
  type StallReport,
  type ToWatchdog,
  type WatchdogData,
} from './protocol.ts';
import { answerMs, makeSignalHolder } from './signal-holder.ts';

export interface WatchOptions {
  config: Config;
  ownFile: string;
  /** Source text of the watchdog's half. */
  source: string;
  /** Part of what was loaded before the program. */
  startThread: typeof startHiddenWorker;
  /** Absent if signals can't be watched. */
  deathSignals: DeathSignals | undefined;
  withheld: readonly string[];
  lock: Lock | undefined;
  /** Folder of the journal, once there is one. */
  findJournal(): string | undefined;
  memory: MemorySampler;
  workers: { readonly size: number };
  /** Opens the journal if there is none, and writes to it how much memory is in use and where it was allocated. */
  noteMemory(profile: HeapProfilePart | undefined): void;
  /** Writes to the journal, redacted, if there is one. */
  note(kind: number, payload: object): void;
  /** Absent if the async context of this thread is not available. */
  origins: Origins | undefined;
  capture(request: CaptureRequest): string | undefined;
  disarmLocals(): void;
}

export interface Watch {
  hook: StallHook;
  /** The thread may be silent while `write` runs. */
  excuse<Value>(write: () => Value): Value;
  withhold(value: string): void;
  /** The system's id of the watchdog's thread; 0 until it runs. */
  readonly threadId: number;
  /** Those that ran code when the deadly signal came. */
  readonly seenWorkers: SeenWorkers | undefined;
  /** Returns when no debugger of the watchdog is connected any more, so that the process can end. */
  letGo(): void;
  /** The program dies of something other than a signal. */
  noteDeath(): void;
  uninstall(): void;
}

/** The frame of an expression that a debugger session evaluates. */
const evaluated = /^(?:.*\n)*?\s+at (?:eval \()?<anonymous>:1:\d+\)?(?:\n|$)/;
/** The thread's loop keeps five open for as long as the program lives; the program must have some left. */
const leastDescriptors = 16;
/** So that the two turns are not one after the other, while the handler of a signal still runs. */
const turnMs = 100;
/** A debugger session is cut within about 20 ms, unless the machine is busy. */
const cutMs = 2000;

/** Throws if no thread may be started. */
export function startWatch(options: WatchOptions): Watch {
  requireAddressRoom(heapThreadBytes);
  requireFreeDescriptors(leastDescriptors);
  return new MainSide(options);
}

class MainSide implements Watch {
  readonly #options: WatchOptions;
  readonly #shared: Int32Array;
  readonly #worker: Worker;
  readonly #memory: MemoryWatch | undefined;
  readonly #holder: SignalHolder;
  /** Bundle of a stall whose end was not observed yet. */
  #unended: string | undefined;
  #journal: string | undefined;
  #hasNotedSignals = false;
  readonly #interruption: Interruption;
  seenWorkers: SeenWorkers | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#shared = makeCells(options.deathSignals?.signals.length ?? 0);
    this.#interruption = new Interruption(this.#shared);
    const { memoryPercent } = options.config;
    if (memoryPercent > 0 && options.config.hangMs > 0) this.#memory = this.#watchMemory(memoryPercent);
    this.#holder = makeSignalHolder(this.#shared, options.deathSignals, this.#interruption, {
      threadId: () => this.threadId,
      release: (signal) => this.#release(signal),
      letGo: () => this.letGo(),
    });
    this.#holder.noteHost();
    this.#worker = options.startThread(options.source, this.#describe());
    const hear = guarded((message: FromWatchdog) => this.#hear(message));
    this.#worker.on('message', hear);
    // Without a listener, an error of the worker would become an error of the program.
    this.#worker.on('error', () => {});
    this.#worker.on(
      'exit',
      guarded(() => this.#loseThread()),
    );
    this.#worker.unref();
    options.deathSignals?.heldBy(this.#holder);
  }

  readonly hook: StallHook = {
    probe: () => {
      // It has no frame that could be interrupted.
      const add: (cells: Int32Array, at: number, by: number) => number = Atomics.add;
      Promise.resolve().then(add.bind(Atomics, this.#shared, cells.microtasks, 1));
      const resource = process.getBuiltinModule('node:async_hooks').executionAsyncResource();
      const callback = resource?.constructor?.name;
      const seen = { stackText: this.#stack(), heapBytes: this.#options.memory.read(true).oldSpace.used };
      return callback === undefined || callback === 'Object' ? seen : { ...seen, callback };
    },
    report: (report) => this.#evaluated(() => this.#report(report)),
    lookAtMemory: () => this.#evaluated(() => this.#lookAtMemory(true)) ?? false,
    takeSnapshot: (frames) => {
      const where = frames
        ? { stackText: stackTextOf(frames), locals: frames }
        : { stackText: `Main thread\n${this.#stack()}` };
      // See ../README.md: "A stop that never ends".
      if (!frames) this.#options.disarmLocals();
      this.#evaluated(() => this.#memory?.takeSnapshot(where));
    },
  };

  #evaluated<Value>(work: () => Value): Value | undefined {
    return ours(() => this.#interruption.during(() => this.excuse(work)));
  }

  get threadId(): number {
    return Atomics.load(this.#shared, cells.threadId);
  }

  excuse<Value>(write: () => Value): Value {
    Atomics.add(this.#shared, cells.writes, 1);
    Atomics.add(this.#shared, cells.excused, 1);
    try {
      return write();
    } finally {
      Atomics.sub(this.#shared, cells.excused, 1);
    }
  }

  withhold(value: string): void {
    this.#tell({ withhold: value });
  }

  /** Busy waiting: what the session has posted runs at the next back edge of a loop. */
  letGo(): void {
    this.#noteEnd('ended');
    Atomics.store(this.#shared, cells.closing, 1);
    const until = performance.now() + cutMs;
    while (Atomics.load(this.#shared, cells.attached) !== 0 && performance.now() < until);
  }

  noteDeath(): void {
    Atomics.store(this.#shared, cells.dies, 1);
  }

  uninstall(): void {
    this.#memory?.stop();
    this.#options.deathSignals?.dieIfDue();
    this.#options.deathSignals?.heldBy(undefined);
    this.#release(undefined);
    this.letGo();
    void this.#worker.terminate();
  }

  #describe(): WatchdogData {
    const { config, ownFile, deathSignals, withheld, lock } = this.#options;
    const { argv, execArgv, title } = process;
    return {
      agentdump: 'watchdog',
      shared: this.#shared,
      hangMs: config.hangMs,
      isInspected: isInspected(),
      signals: deathSignals?.signals ?? [],
      snapshotSignal: config.snapshotSignal,
      config,
      heapLimitBytes: this.#options.memory.read().oldSpace.limit,
      ownFile,
      withheld,
      lock,
      program: { argv, execArgv, title, cwd: workingFolder() },
    };
  }

  /** The stack of the program, which was interrupted by an evaluation. */
  #stack(): string {
    return nearestFrames(this.#options.ownFile).replace(evaluated, '');
  }

  #tell(message: ToWatchdog): void {
    this.#worker.postMessage(message);
  }

  #hear(message: FromWatchdog): void {
    Atomics.add(this.#shared, cells.answers, 1);
    if ('ask' in message) {
      Atomics.store(this.#shared, cells.workers, this.#options.workers.size);
      this.#refresh();
      if (this.#lookAtMemory(false)) this.#memory?.takeSnapshot();
    } else if ('doubtful' in message) this.#compare(message.doubtful, message.heard);
    else if ('signal' in message) {
      this.seenWorkers = message.workers;
      this.#options.deathSignals?.deliver(message.signal);
    } else if ('report' in message) this.hook.report(message.report);
    else this.#noteRecovery(message.recovered);
  }

  #watchMemory(percent: number): MemoryWatch {
    const { capture, memory, noteMemory, origins } = this.#options;
    const stretch = origins && new StretchWatch(origins);
    return new MemoryWatch({
      percent,
      sampler: memory,
      note: noteMemory,
      ...(stretch && { growth: (used) => stretch.look(used) }),
      snapshot: (reason, where) => {
        const details = { reason, ...(where && { exitStack: where.stackText }) };
        const inPassing = where !== undefined && where.locals === undefined;
        capture({ kind: 'snapshot-memory', handledByHost: false, inPassing, ...where, details });
      },
    });
  }

  /** Whether the one snapshot is due. */
  #lookAtMemory(mustBeNew: boolean): boolean {
    const { memory } = this.#options;
    try {
      const isDue = this.#memory?.look(mustBeNew) ?? false;
      Atomics.store(this.#shared, cells.heapKib, memory.read().oldSpace.used >> 10);
      Atomics.store(this.#shared, cells.rssKib, platform.residentBytes() >> 10);
      return isDue;
    } catch {
      // Without an inspector, or with a full disk, the program continues unobserved.
      return false;
    }
  }

  /** Passes on what the watchdog must know when the main thread can't be asked. */
  #refresh(): void {
    const folder = this.#options.findJournal();
    if (folder === undefined) return;
    this.#noteSignals();
    if (folder === this.#journal) return;
    this.#journal = folder;
    this.#tell({ journal: folder });
  }

  /** For a death that nothing reports: whether one of these signals can have been its cause. */
  #noteSignals(): void {
    if (this.#hasNotedSignals || Atomics.load(this.#shared, cells.held) === 0) return;
    this.#hasNotedSignals = true;
    const { deathSignals, note } = this.#options;
    const payload: SignalsHeldPayload = {
      signals: deathSignals?.signals.filter((signal) => deathSignals.isDeadly(signal)) ?? [],
    };
    note(recordKinds.signalsHeld, payload);
  }

  /**
   * Whether Node delivers a signal that the watchdog has received is known when the loop has turned: a thread that blocks has
   * received nothing yet. Two turns, since libuv reads the signals after the message in whose turn they came.
   */
  #compare(signal: NodeJS.Signals, heard: number): void {
    const { deathSignals } = this.#options;
    const at = deliveredCell(deathSignals?.signals.indexOf(signal) ?? 0);
    const compare = (): void => {
      if (Atomics.load(this.#shared, at) < heard) deathSignals?.deliverMissed(signal);
    };
    startOwnTimer(() => void startOwnTimer(compare, 0), turnMs);
  }

  /** Node has closed the watchdog's handles, so that signals kill again; a signal that it had received must not be lost. */
  #loseThread(): void {
    const { deathSignals } = this.#options;
    const { due } = this.#holder;
    deathSignals?.heldBy(undefined);
    if (due !== undefined) deathSignals?.deliver(due);
  }

  #release(signal: NodeJS.Signals | undefined): boolean {
    const before = Atomics.load(this.#shared, cells.released);
    this.#tell({ release: signal });
    return this.#interruption.awaitChange(cells.released, before, answerMs);
  }

  #report({ stall, frames, signal }: StallReport): string | undefined {
    const { capture, config, note, deathSignals } = this.#options;
    const exitStack = stackTextOf(frames);
    note(recordKinds.stall, { silentMs: stall.silentMs, stack: exitStack } satisfies StallPayload);
    const number = signal && process.getBuiltinModule('node:os').constants.signals[signal];
    const isDeath = signal !== undefined && signal !== config.snapshotSignal;
    if (isDeath && !this.#holder.claim()) return undefined;
    const path = capture({
      kind: signal === undefined ? 'stall' : isDeath ? 'signal' : 'snapshot-signal',
      handledByHost: false,
      stackText: exitStack,
      locals: frames,
      details: {
        exitStack,
        stall,
        ...(signal !== undefined && number !== undefined && { signal: { name: signal, number } }),
      },
    });
    if (signal === undefined) this.#unended = path;
    if (isDeath) deathSignals?.resetTerminal();
    return path;
  }

  #noteEnd(event: 'recovered' | 'ended', silentMs?: number): void {
    const bundle = this.#unended;
    this.#unended = undefined;
    if (bundle === undefined) return;
    writeSequel(bundle, { event, at: isoTime(nowMs()), ...(silentMs !== undefined && { silentMs }) });
  }

  #noteRecovery({
    silentMs,
    where,
    bundle,
  }: Extract<FromWatchdog, { recovered: unknown }>['recovered']): void {
    const payload: StallEndPayload = { silentMs, where };
    this.#options.note(recordKinds.stallEnd, payload);
    this.#unended ??= bundle;
    this.#noteEnd('recovered', silentMs);
  }
}

/** False if this Node has no inspector. */
function isInspected(): boolean {
  try {
    return process.getBuiltinModule('node:inspector').url() !== undefined;
  } catch {
    return false;
  }
}
