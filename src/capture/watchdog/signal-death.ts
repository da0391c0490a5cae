/**
 * Handles a signal that arrived while the host did not listen for it, and that would have killed the program without us: the
 * main thread is notified, and writes the bundle; one that does not answer is looked at from here; in either case the program
 * is dead within a second. A second signal ends it at once.
 */
import type { HeapTier } from '../install/config.ts';
import { readQueuedMs } from './main-cpu.ts';
import { cells, type SeenWorkers } from './protocol.ts';

/** A loop that turns answers within this time, or within a second on a busy machine. */
const answerMs = 100;
const mostAnswerMs = 300;
const deathMs = 900;
/** Time in which a busy machine gave this thread or the main one no processor is not counted, up to this limit. */
const mostWaitMs = 4000;
/** npm, systemd and others that signal both a process and its group send two signals for one. */
const pairMs = 100;
const pollMs = 10;

export interface SignalDeathOptions {
  shared: Int32Array;
  signals: readonly NodeJS.Signals[];
  heap: HeapTier;
  tell(signal: NodeJS.Signals, workers?: SeenWorkers): void;
  /** Undefined if none of them runs. */
  lookAtWorkers(): Promise<SeenWorkers | undefined> | undefined;
  /** Resolves when nothing looks at the main thread any more. */
  untilFree(): Promise<void>;
  /** Looks at a main thread that does not answer; resolves when the bundle was written, or could not be. */
  look(signal: NodeJS.Signals): Promise<void>;
  /** When it returns, the default disposition is restored. */
  release(): void;
}

export class SignalDeath {
  readonly #options: SignalDeathOptions;
  #due: NodeJS.Signals | undefined;
  #arrivedAt = 0;
  #from = 0;
  #isTold = false;
  #waits: number[] = [];
  #answers = 0;

  constructor(options: SignalDeathOptions) {
    this.#options = options;
  }

  get isDue(): boolean {
    return this.#due !== undefined;
  }

  hear(signal: NodeJS.Signals): void {
    const now = performance.now();
    if (this.#due !== undefined) {
      if (now - this.#arrivedAt > pairMs) this.#end();
      return;
    }
    const { shared, signals, lookAtWorkers } = this.#options;
    this.#due = signal;
    this.#arrivedAt = now;
    this.#countFromNow();
    // Listeners of `exit` may run for long, no loop turns any more, and without us the program would be dead.
    if (Atomics.load(shared, cells.closing) !== 0) {
      this.#end();
      return;
    }
    const isLast = this.#diesAnyway();
    let isLooking = isLast;
    setInterval(() => {
      this.#endWhenLate();
      if (isLooking || this.#mayAnswer()) return;
      isLooking = true;
      void this.#lookIfSilent(signal);
    }, pollMs);
    if (isLast) return;
    Atomics.store(shared, cells.due, signals.indexOf(signal) + 1);
    Atomics.notify(shared, cells.due);
    const looked = lookAtWorkers();
    if (looked) void looked.then((workers) => this.#tell(signal, workers));
    else this.#tell(signal);
  }

  /** The times count from here. */
  #tell(signal: NodeJS.Signals, workers?: SeenWorkers): void {
    this.#isTold = true;
    this.#countFromNow();
    this.#options.tell(signal, workers);
  }

  #countFromNow(): void {
    this.#from = performance.now();
    this.#waits = this.#readWaits();
    this.#answers = Atomics.load(this.#options.shared, cells.answers);
  }

  #mayAnswer(): boolean {
    if (!this.#isTold) return true;
    return this.#fairMs() < answerMs && performance.now() - this.#from < mostAnswerMs;
  }

  async #lookIfSilent(signal: NodeJS.Signals): Promise<void> {
    const { untilFree, look } = this.#options;
    await untilFree();
    if (!this.#hasAnswered()) await look(signal);
    // A main thread that has answered meanwhile writes the bundle itself, and dies of the signal.
    if (!this.#hasAnswered()) this.#end();
  }

  #hasAnswered(): boolean {
    return Atomics.load(this.#options.shared, cells.answers) !== this.#answers;
  }

  #diesAnyway(): boolean {
    return Atomics.load(this.#options.shared, cells.dies) !== 0;
  }

  #endWhenLate(): void {
    const { shared, heap } = this.#options;
    if (performance.now() - this.#from < deathMs) return;
    // A whole heap at every death was requested explicitly, and so was the time that it takes.
    const isOrdered = heap === 'always' && !this.#diesAnyway();
    if (isOrdered && Atomics.load(shared, cells.excused) > 0) return;
    if (this.#fairMs() >= deathMs) this.#end();
  }

  #fairMs(): number {
    const waits = this.#readWaits().map((waitMs, at) => waitMs - (this.#waits[at] ?? 0));
    // Often both wait at the same time.
    return performance.now() - this.#from - Math.min(Math.max(...waits), mostWaitMs);
  }

  #readWaits(): number[] {
    return [process.pid, Atomics.load(this.#options.shared, cells.threadId)].map(
      (tid) => readQueuedMs(tid) ?? 0,
    );
  }

  #end(): void {
    this.#options.release();
    if (this.#due !== undefined) process.kill(process.pid, this.#due);
  }
}
