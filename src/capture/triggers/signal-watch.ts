/**
 * Which of our signals Node itself holds for the host, exact at every instant, and what the main thread and its watchdog
 * say to each other about signals. The preload holds no signal in this thread: one that is held here waits for the event
 * loop, and a program may not come to it for a long time, or never.
 */
import type { EventTap } from './event-tap.ts';

/** Held by the watchdog's thread, once that runs. */
export interface SignalHolder {
  /** The signal that came while the host did not listen for it, and of which the program is to die; undefined: none. */
  readonly due: NodeJS.Signals | undefined;
  /** Whether the bundle of a signal is for the caller to write; false: it has one, or somebody writes it now. */
  claim(): boolean;
  /** Returns once the default disposition is back, so that the signal kills. False where that can't be had. */
  release(signal: NodeJS.Signals): boolean;
  /** Waits for a signal that was sent to the process' group, until the thread has heard it. */
  awaitDue(): void;
  /** The host has begun or ceased to listen. */
  noteHost(): void;
}

/** Our signals of this process, as the watchdog sees them. */
export interface DeathSignals {
  readonly signals: readonly NodeJS.Signals[];
  /** Whether Node holds it for a listener of the host. */
  hostListens(signal: NodeJS.Signals): boolean;
  /** It came to the watchdog while the host did not listen. Does not return where the program dies of it. */
  deliver(signal: NodeJS.Signals): void;
  /** From now on `holder` holds them; undefined: nobody does. */
  heldBy(holder: SignalHolder | undefined): void;
  /** Does not return where a signal has come of which the program would be dead without us. */
  dieIfDue(): void;
  resetTerminal(): void;
  /** Nobody holds them any more, the host neither: each kills. For a process that only has something long to write yet. */
  release(): void;
}

/** As node:internal/process/signal calls what starts and stops the holding, by events of `process`. */
const starter = 'startListeningIfSignal';
const stopper = 'stopListeningIfSignal';

/**
 * Follows the host's listeners. The order matters, because a signal may come between any two instructions: what Node
 * does comes first when a listener is added and last when one is removed, so that a signal which is said to be the
 * host's has a handle in Node, and is not lost.
 */
export class HostSignals {
  readonly #events: EventTap;
  readonly #held = new Set<NodeJS.Signals>();
  #onChange: ((signal: NodeJS.Signals, listens: boolean) => void) | undefined;

  constructor(events: EventTap, signals: readonly NodeJS.Signals[]) {
    this.#events = events;
    for (const signal of signals) {
      if (events.listenersOfHost(signal).length > 0) this.#held.add(signal);
      events.whenHostChanges(signal, (listens) => this.#see(signal, listens));
    }
  }

  onChange(react: (signal: NodeJS.Signals, listens: boolean) => void): void {
    this.#onChange = react;
  }

  listens(signal: NodeJS.Signals): boolean {
    return this.#held.has(signal);
  }

  /** A host that has removed Node's own listeners from `process` changes nothing by adding or removing one. */
  #see(signal: NodeJS.Signals, listens: boolean): void {
    const [event, name] = listens
      ? (['newListener', starter] as const)
      : (['removeListener', stopper] as const);
    if (!this.#events.listenersOfHost(event).some((listener) => listener.name === name)) return;
    if (listens) this.#held.add(signal);
    else this.#held.delete(signal);
    this.#onChange?.(signal, listens);
  }
}
