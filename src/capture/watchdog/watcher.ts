/**
 * The watchdog's own thread. It asks the main thread for a sign of life and holds our signals for it. If the sign is missing
 * for too long, or a signal is not answered, it has the stall looked at (look-at-stall.ts), once per stall, and each time
 * only after four times as long as the time before.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { platform } from '../../platform/index.ts';
import { HeardSignals } from './heard-signals.ts';
import { HeldSignals } from './held-signals.ts';
import { lookAtStall } from './look-at-stall.ts';
import { lookAtWorkers } from './look-at-workers.ts';
import { readMainCpuMs, readQueuedMs } from './main-cpu.ts';
import { compactHeap } from './memory/compact-heap.ts';
import { lookAtMemory } from './memory/look-at-memory.ts';
import { stepShare } from './memory/memory-watch.ts';
import { SilentGrowth } from './memory/silent-growth.ts';
import {
  cells,
  deliveredCell,
  type FromWatchdog,
  ownThreadFlag,
  type ToWatchdog,
  type WatchdogData,
} from './protocol.ts';
import { SignalDeath } from './signal-death.ts';
import type { SilentBundleFacts } from './write-silent-bundle.ts';

/** The program does not die if a snapshot is late: one that is not answered by then has met a stall. */
const snapshotAnswerMs = 1000;
/** Even without a limit for stalls, the main thread is asked at this interval for the data that a signal needs. */
const slowestTickMs = 1000;
const freePollMs = 20;
/** A listener that runs for longer blocks. */
const blockedMs = 300;
const backOff = 4;
const longestLimitMs = 3_600_000;
/** A program that ends sooner does not pay for it. */
const compactAfterMs = 3000;

class Watcher {
  readonly #data: WatchdogData;
  readonly #shared: Int32Array;
  readonly #port: MessagePort;
  readonly #facts: SilentBundleFacts;
  readonly #tickMs: number;
  readonly #death: SignalDeath;
  readonly #heard: HeardSignals;
  #held: HeldSignals | undefined;
  #isReleased = false;
  #limitMs: number;
  #answers = -1;
  #tickedAt = performance.now();
  #silentMs = 0;
  #cpuMs: number | undefined;
  #queuedMs: number | undefined;
  #earlier = 0;
  /** Of the current stall. */
  #reported: { bundle?: string; where: 'javascript' | 'native' } | undefined;
  #isLooking = false;

  constructor(data: WatchdogData, port: MessagePort) {
    this.#data = data;
    this.#shared = data.shared;
    this.#port = port;
    this.#facts = { withheld: [...data.withheld] };
    this.#limitMs = data.hangMs || Number.POSITIVE_INFINITY;
    this.#tickMs = Math.min(slowestTickMs, Math.max(50, this.#limitMs / 5));
    this.#heard = new HeardSignals(data.shared, data.signals.length);
    this.#death = new SignalDeath({
      shared: data.shared,
      signals: data.signals,
      heap: data.config.heap,
      tell: (signal, workers) => this.#tell({ signal, ...(workers && { workers }) }),
      lookAtWorkers: () => (this.#isLooking ? undefined : lookAtWorkers(data.shared)),
      untilFree: () => this.#untilFree(),
      look: (signal) => this.#look(signal),
      release: () => this.#release(),
    });
  }

  start(): void {
    this.#port.on('message', (message: ToWatchdog) => this.#hear(message));
    this.#hold();
    setInterval(() => this.#tick(), this.#tickMs);
    setTimeout(compactHeap, compactAfterMs);
    this.#tick();
    const { config, heapLimitBytes: limitBytes } = this.#data;
    const threshold = config.memoryPercent / 100;
    if (threshold > 0 && this.#data.hangMs > 0)
      this.#watchGrowth(new SilentGrowth({ limitBytes, fromShare: threshold / 2, stepShare }));
  }

  /** Separate from the tick, which is too slow for a program that fills its heap in one loop. */
  #watchGrowth(growth: SilentGrowth): void {
    const poll = async (): Promise<void> => {
      await this.#pollGrowth(growth).catch(() => {});
      setTimeout(poll, growth.pauseMs);
    };
    setTimeout(poll, growth.pauseMs);
  }

  async #pollGrowth(growth: SilentGrowth): Promise<void> {
    if (this.#isLooking || Atomics.load(this.#shared, cells.excused) > 0) return;
    const heapBytes = (): number => Atomics.load(this.#shared, cells.heapKib) * 1024;
    const answers = Atomics.load(this.#shared, cells.answers);
    const rss = (): number => platform.residentBytes();
    const toldRss = Atomics.load(this.#shared, cells.rssKib) * 1024;
    const step = growth.see({
      atMs: performance.now(),
      rss: rss(),
      answers,
      heapBytes: heapBytes(),
      toldRss,
    });
    if (step === 'ask') this.#tell({ ask: true });
    if (step !== 'look') return;
    this.#isLooking = true;
    try {
      await lookAtMemory(this.#data);
    } finally {
      this.#isLooking = false;
    }
    growth.looked(rss(), heapBytes());
  }

  #tell(message: FromWatchdog): void {
    this.#port.postMessage(message);
  }

  /** If the system or this Node refuses, a signal kills as it would without us. */
  #hold(): void {
    if (this.#isReleased) return;
    try {
      this.#held ??= new HeldSignals((signal) => this.#onSignal(signal));
      for (const signal of this.#data.signals) this.#held.hold(signal);
      this.#heard.begin();
      Atomics.store(this.#shared, cells.held, 1);
    } catch {
      this.#held?.release();
    }
  }

  /** Permanent. */
  #release(): void {
    this.#isReleased = true;
    this.#held?.release();
  }

  /** For a program that continues without us. */
  async #giveBack(): Promise<void> {
    this.#isReleased = true;
    for (const signal of (await this.#held?.releaseProven()) ?? [])
      if (!this.#doesHostListen(signal)) process.kill(process.pid, signal);
  }

  /** While this thread is busy it could not answer a signal, so none is held. */
  async #withoutSignals<Value>(write: () => Value): Promise<Value | undefined> {
    const unheard = (await this.#held?.releaseProven()) ?? [];
    const wasDue = this.#death.isDue;
    for (const signal of unheard) this.#onSignal(signal);
    if (this.#death.isDue && (!wasDue || Atomics.exchange(this.#shared, cells.claimed, 1) !== 0))
      return undefined;
    try {
      return write();
    } finally {
      if (!this.#death.isDue) this.#hold();
    }
  }

  #hear(message: ToWatchdog): void {
    if ('release' in message) {
      if (message.release !== undefined) this.#release();
      const given = message.release === undefined ? this.#giveBack() : Promise.resolve();
      void given.then(() => {
        Atomics.add(this.#shared, cells.released, 1);
        Atomics.notify(this.#shared, cells.released);
      });
    } else if ('withhold' in message) this.#facts.withheld.push(message.withhold);
    else this.#facts.journal = message.journal;
  }

  /** Counts only time in which this thread ran too: a stopped container is not a stall. */
  #tick(): void {
    this.#heard.tick();
    const now = performance.now();
    const elapsed = Math.min(now - this.#tickedAt, 2 * this.#tickMs);
    this.#tickedAt = now;
    const answers = Atomics.load(this.#shared, cells.answers);
    if (answers !== this.#answers && !this.#isLooking) {
      this.#answers = answers;
      this.#endSilence();
      this.#tell({ ask: true });
    } else if (Atomics.load(this.#shared, cells.excused) === 0) this.#silentMs += elapsed;
    if (this.#silentMs < this.#limitMs || this.#reported || this.#isLooking || this.#death.isDue) return;
    void this.#look();
  }

  #endSilence(): void {
    if (this.#reported) {
      this.#tell({ recovered: { silentMs: Math.round(this.#silentMs), ...this.#reported } });
      this.#reported = undefined;
    }
    this.#silentMs = 0;
    this.#cpuMs = readMainCpuMs();
    this.#queuedMs = readQueuedMs(process.pid);
  }

  async #look(signal?: NodeJS.Signals): Promise<void> {
    this.#isLooking = true;
    try {
      const cpuMs = since(readMainCpuMs(), this.#cpuMs);
      const queuedMs = since(readQueuedMs(process.pid), this.#queuedMs);
      const stall = {
        // For a signal that arrived between two ticks.
        silentMs: Math.round(this.#silentMs + (signal ? performance.now() - this.#tickedAt : 0)),
        limitMs: Math.min(this.#limitMs, longestLimitMs),
        earlier: this.#earlier,
        ...(cpuMs !== undefined && { cpuMs }),
        ...(queuedMs !== undefined && { queuedMs: Math.round(queuedMs) }),
      };
      const seen = await lookAtStall({
        data: this.#data,
        facts: this.#facts,
        stall,
        signal,
        isDeath: this.#death.isDue,
        unheld: (write) => this.#withoutSignals(write),
      });
      if (!seen) {
        this.#silentMs = 0;
        return;
      }
      const { unwritten, ...reported } = seen;
      if (unwritten) this.#tell({ report: unwritten });
      this.#reported = reported;
      this.#earlier++;
      this.#limitMs = Math.min(this.#limitMs * backOff, longestLimitMs);
    } finally {
      this.#isLooking = false;
    }
  }

  #onSignal(signal: NodeJS.Signals): void {
    if (this.#doesHostListen(signal)) this.#leaveToHost(signal);
    else if (signal === this.#data.snapshotSignal) void this.#askForSnapshot(signal);
    else if (!this.#heard.isHandled(this.#data.signals.indexOf(signal))) this.#death.hear(signal);
  }

  /** The main thread received it too, as it would have without us, unless it came before the host listened. */
  #leaveToHost(signal: NodeJS.Signals): void {
    const { heard, isDoubtful, isBesideWrite } = this.#heard.hear(this.#data.signals.indexOf(signal));
    if (isDoubtful) this.#tell({ doubtful: signal, heard });
    if (isBesideWrite) void this.#follow(signal, heard, isDoubtful);
  }

  /**
   * It came while the main thread wrote a bundle, which takes no time without us: a second SIGTERM to a program that handles
   * one (`once`) would have come after its listener was removed. Node drops with the listener what it has not yet delivered.
   */
  async #follow(signal: NodeJS.Signals, heard: number, isTold: boolean): Promise<void> {
    const shared = this.#shared;
    const delivered = deliveredCell(this.#data.signals.indexOf(signal));
    const changes = Atomics.load(shared, cells.hostChanges);
    const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, freePollMs));
    await this.#untilFree();
    const answers = Atomics.load(shared, cells.answers);
    const from = performance.now();
    this.#tell({ ask: true });
    while (Atomics.load(shared, delivered) < heard) {
      const turns = Atomics.load(shared, cells.answers) - answers;
      // In the listener of the first one, another may take its place.
      const isSettled = turns > 0 || performance.now() - from > blockedMs;
      if (isSettled && !this.#doesHostListen(signal)) {
        this.#death.hear(signal);
        return;
      }
      if (isSettled && Atomics.load(shared, cells.hostChanges) !== changes) {
        if (!isTold) this.#tell({ doubtful: signal, heard });
        return;
      }
      // The loop has turned, so Node has delivered what it had: the program took it in a way that is not seen.
      if (turns > 1) return;
      await pause();
    }
  }

  async #askForSnapshot(signal: NodeJS.Signals): Promise<void> {
    const before = Atomics.load(this.#shared, cells.answers);
    this.#tell({ signal });
    await new Promise((resolve) => setTimeout(resolve, snapshotAnswerMs));
    await this.#untilFree();
    if (Atomics.load(this.#shared, cells.answers) !== before || this.#doesHostListen(signal)) return;
    this.#silentMs = Math.max(this.#silentMs, snapshotAnswerMs);
    await this.#look(signal);
  }

  /** Resolves when nothing looks at the main thread, and it writes no bundle. */
  async #untilFree(): Promise<void> {
    while (Atomics.load(this.#shared, cells.excused) > 0 || this.#isLooking)
      await new Promise((resolve) => setTimeout(resolve, freePollMs));
  }

  #doesHostListen(signal: NodeJS.Signals): boolean {
    const at = this.#data.signals.indexOf(signal);
    return (Atomics.load(this.#shared, cells.hostListens) & (1 << at)) !== 0;
  }
}

const since = (now: number | undefined, then: number | undefined): number | undefined =>
  now === undefined || then === undefined ? undefined : now - then;

/** Runs in a thread that `startWatch` started. */
export function watch(): void {
  if (!parentPort) return;
  const data = workerData as WatchdogData;
  Object.defineProperty(globalThis, ownThreadFlag, { value: true });
  Atomics.store(data.shared, cells.threadId, platform.ownThreadId());
  new Watcher(data, parentPort).start();
}
