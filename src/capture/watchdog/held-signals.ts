/**
 * Has the watchdog's own event loop told of signals, so that they are heard while the main thread is stuck, and so that
 * the default disposition can be given back without it. Node gives signals to the main thread alone; what it uses there
 * is had here through `--expose-internals` of this one thread (seen on Node 20, 22, 24, 26).
 */
interface SignalWrap {
  onsignal: () => void;
  start(signal: number): number;
  unref(): void;
  close(): void;
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

  /** It kills again, unless the host listens for it. */
  release(signal: NodeJS.Signals): void {
    this.#held.get(signal)?.close();
    this.#held.delete(signal);
  }
}
