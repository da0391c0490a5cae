/**
 * Receives signals in the watchdog's own event loop, so that they arrive while the main thread is stuck, and the default
 * disposition can be restored without it. Node delivers signals to the main thread only; its internal binding for that is
 * made accessible with `--expose-internals` in this one thread (tested on Node 20, 22, 24, 26).
 */
interface SignalWrap {
  onsignal: () => void;
  start(signal: number): number;
  unref(): void;
  close(done?: () => void): void;
}

/** Part of Node, not a package. */
const nodesOwn = 'internal/test/binding';

type InternalBinding = (name: 'signal_wrap') => { Signal: new () => SignalWrap };

export class HeldSignals {
  readonly #Signal: new () => SignalWrap;
  readonly #held = new Map<NodeJS.Signals, SignalWrap>();
  readonly #onSignal: (signal: NodeJS.Signals) => void;

  /** Throws if this Node keeps it elsewhere. */
  constructor(onSignal: (signal: NodeJS.Signals) => void) {
    // Loading it emits a warning that it is internal.
    const { emitWarning } = process;
    process.emitWarning = () => {};
    try {
      const { internalBinding } = require(nodesOwn) as { internalBinding: InternalBinding };
      this.#Signal = internalBinding('signal_wrap').Signal;
    } finally {
      process.emitWarning = emitWarning;
    }
    this.#onSignal = onSignal;
  }

  /** Throws if the system refuses. */
  hold(signal: NodeJS.Signals): void {
    if (this.#held.has(signal)) return;
    const wrap = new this.#Signal();
    wrap.unref();
    wrap.onsignal = () => this.#onSignal(signal);
    const failure = wrap.start(process.getBuiltinModule('node:os').constants.signals[signal]);
    if (failure) {
      wrap.close();
      throw new Error(`${signal} can't be watched: ${failure}`);
    }
    this.#held.set(signal, wrap);
  }

  /**
   * The signals kill again, unless the host listens for them. A signal that was caught before and not yet delivered is
   * dropped.
   */
  release(): void {
    for (const wrap of this.#held.values()) wrap.close();
    this.#held.clear();
  }

  /**
   * Like `release`. Resolves with the signals that were caught before and not yet delivered, which libuv no longer reports.
   * It finishes closing a handle only when everything that was caught for the handle has left its pipe: in the turn in which
   * it finishes a handle that was closed at the same time and caught nothing, or in a later one.
   */
  async releaseProven(): Promise<NodeJS.Signals[]> {
    const open = new Set(this.#held.keys());
    for (const [signal, wrap] of this.#held) wrap.close(() => open.delete(signal));
    this.#held.clear();
    await new Promise<void>((resolve) => new this.#Signal().close(resolve));
    // By then all handles closed in that turn were reported.
    await new Promise((resolve) => setImmediate(resolve));
    return [...open];
  }
}
