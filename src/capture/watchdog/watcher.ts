/**
 * The watchdog's own thread. It asks the main thread for a sign of life and holds our signals for it; when the sign
 * stays out for too long, or a signal is not answered, it has the stall looked at (look-at-stall.ts), once a stall, and
 * each time only after four times as long as the time before.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { platform } from '../../platform/index.ts';
import { HeldSignals } from './held-signals.ts';
import { lookAtMemory } from './look-at-memory.ts';
import { lookAtStall } from './look-at-stall.ts';
import { readMainCpuMs } from './main-cpu.ts';
import { stepShare } from './memory-watch.ts';
import { cells, type FromWatchdog, ownThreadFlag, type ToWatchdog, type WatchdogData } from './protocol.ts';
import { SilentGrowth } from './silent-growth.ts';
import type { SilentBundleFacts } from './write-silent-bundle.ts';

/** A signal that the main thread has not answered by then has met a stall. */
const signalAnswerMs = 1000;
const backOff = 4;
const longestLimitMs = 3_600_000;

class Watcher {
  readonly #data: WatchdogData;
  readonly #shared: Int32Array;
  readonly #port: MessagePort;
  readonly #facts: SilentBundleFacts;
  readonly #tickMs: number;
  #held: HeldSignals | undefined;
  #limitMs: number;
  #answers = -1;
  #tickedAt = performance.now();
  #silentMs = 0;
  #cpuMs: number | undefined;
  #earlier = 0;
  /** Of the stall that goes on. */
  #reported: { bundle?: string; where: 'javascript' | 'native' } | undefined;
  #isLooking = false;

  constructor(data: WatchdogData, port: MessagePort) {
    this.#data = data;
    this.#shared = data.shared;
    this.#port = port;
    this.#facts = { withheld: [...data.withheld] };
    this.#limitMs = data.hangMs;
    this.#tickMs = Math.min(1000, Math.max(50, data.hangMs / 5));
  }

  start(): void {
    this.#port.on('message', (message: ToWatchdog) => this.#hear(message));
    this.#hold(this.#data.signals);
    setInterval(() => this.#tick(), this.#tickMs);
    this.#tick();
    const { config, heapLimitBytes: limitBytes } = this.#data;
    const threshold = config.memoryPercent / 100;
    if (threshold > 0)
      this.#watchGrowth(new SilentGrowth({ limitBytes, fromShare: threshold / 2, stepShare }));
  }

  /** Beside the tick, which is too slow for a program that fills its heap in one loop. */
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

  #hold(signals: readonly NodeJS.Signals[]): void {
    try {
      this.#held ??= new HeldSignals((signal) => void this.#onSignal(signal));
      for (const signal of signals) this.#held.hold(signal);
      this.#tell({ holds: true });
    } catch {
      for (const signal of this.#data.signals) this.#held?.release(signal);
      this.#tell({ holds: false });
    }
  }

  #hear(message: ToWatchdog): void {
    if ('release' in message) {
      this.#held?.release(message.release);
      Atomics.add(this.#shared, cells.released, 1);
      Atomics.notify(this.#shared, cells.released);
    } else if ('hold' in message) this.#hold(message.hold);
    else if ('withhold' in message) this.#facts.withheld.push(message.withhold);
    else this.#facts.journal = message.journal;
  }

  /** Counts only time in which this thread ran too: a stopped container is no stall. */
  #tick(): void {
    const now = performance.now();
    const elapsed = Math.min(now - this.#tickedAt, 2 * this.#tickMs);
    this.#tickedAt = now;
    const answers = Atomics.load(this.#shared, cells.answers);
    if (answers !== this.#answers && !this.#isLooking) {
      this.#answers = answers;
      this.#endSilence();
      this.#tell({ ask: true });
    } else if (Atomics.load(this.#shared, cells.excused) === 0) this.#silentMs += elapsed;
    if (this.#silentMs >= this.#limitMs && !this.#reported && !this.#isLooking) void this.#look();
  }

  #endSilence(): void {
    if (this.#reported) {
      this.#tell({ recovered: { silentMs: Math.round(this.#silentMs), ...this.#reported } });
      this.#reported = undefined;
    }
    this.#silentMs = 0;
    this.#cpuMs = readMainCpuMs();
  }

  async #look(signal?: NodeJS.Signals): Promise<void> {
    this.#isLooking = true;
    try {
      const cpuMs = readMainCpuMs();
      const used =
        cpuMs !== undefined && this.#cpuMs !== undefined ? { cpuMs: cpuMs - this.#cpuMs } : undefined;
      const stall = {
        silentMs: Math.round(this.#silentMs),
        limitMs: this.#limitMs,
        earlier: this.#earlier,
        ...used,
      };
      const seen = await lookAtStall({ data: this.#data, facts: this.#facts, stall, signal });
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

  async #onSignal(signal: NodeJS.Signals): Promise<void> {
    const before = Atomics.load(this.#shared, cells.answers);
    this.#tell({ signal });
    await new Promise((resolve) => setTimeout(resolve, signalAnswerMs));
    while (Atomics.load(this.#shared, cells.excused) > 0 || this.#isLooking)
      await new Promise((resolve) => setTimeout(resolve, this.#tickMs));
    if (Atomics.load(this.#shared, cells.answers) !== before || this.#doesHostListen(signal)) return;
    this.#silentMs = Math.max(this.#silentMs, signalAnswerMs);
    await this.#look(signal);
    if (signal === this.#data.snapshotSignal) return;
    this.#held?.release(signal);
    process.kill(process.pid, signal);
  }

  #doesHostListen(signal: NodeJS.Signals): boolean {
    const at = this.#data.signals.indexOf(signal);
    return (Atomics.load(this.#shared, cells.hostListens) & (1 << at)) !== 0;
  }
}

/** In a thread that `startWatch` began. */
export function watch(): void {
  if (!parentPort) return;
  const data = workerData as WatchdogData;
  Object.defineProperty(globalThis, ownThreadFlag, { value: true });
  Atomics.store(data.shared, cells.threadId, platform.ownThreadId());
  new Watcher(data, parentPort).start();
}
