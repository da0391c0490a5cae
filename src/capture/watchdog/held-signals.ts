/**
 * Has the watchdog's own event loop told of signals, so that they are heard while the main thread is stuck, and so that
 * the default disposition can be given back without it. Node gives signals to the main thread alone; what it uses there
 * is had here through `--expose-internals` of this one thread (seen on Node 20, 22, 24, 26).
 */
interface SignalWrap {
  onsignal: () => void;
  start(signal: number): number;
  unref(): void;
  close(done?: () => void): void;
}

/** A part of Node, not a package. */
const nodesOwn = 'internal/test/binding';

type InternalBinding = (name: 'signal_wrap') => { Signal: new () => SignalWrap };

export class HeldSignals {
  readonly #Signal: new () => SignalWrap;
  readonly #held = new Map<NodeJS.Signals, SignalWrap>();
  readonly #onSignal: (signal: NodeJS.Signals) => void;

  /** Throws where this Node keeps it elsewhere. */
  constructor(onSignal: (signal: NodeJS.Signals) => void) {
    // Its loading warns that it is not for everybody.
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

  /** Throws when the system refuses. */
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

  /** They kill again, unless the host listens for them. One that was caught before and not yet heard is dropped. */
  release(): void {
    for (const wrap of this.#held.values()) wrap.close();
    this.#held.clear();
  }

  /**
   * As `release`; resolves with those that were caught before and not yet heard, of which libuv tells nobody any more. But
   * it finishes the closing of a handle only when what was caught for it has left its pipe: in the turn in which it
   * finishes a handle that was closed at the same time and caught nothing, or in a later one.
   */
  async releaseProven(): Promise<NodeJS.Signals[]> {
    const open = new Set(this.#held.keys());
    for (const [signal, wrap] of this.#held) wrap.close(() => open.delete(signal));
    this.#held.clear();
    await new Promise<void>((resolve) => new this.#Signal().close(resolve));
    // By then every closing of that turn has been told.
    await new Promise((resolve) => setImmediate(resolve));
    return [...open];
  }
}
