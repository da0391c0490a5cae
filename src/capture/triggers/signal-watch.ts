/**
 * Which of our signals Node itself holds for the host, exact at every instant, and the interface between the main thread and
 * its watchdog for signals. The preload holds no signal in this thread: a signal held here waits for the event loop, which a
 * program may not reach for a long time, or never.
 */
import type { EventTap } from './event-tap.ts';

/** Held by the watchdog's thread, once it runs. */
export interface SignalHolder {
  /** The signal that arrived while the host did not listen for it, and that will end the program; undefined if none. */
  readonly due: NodeJS.Signals | undefined;
  /** Returns true if the caller has to write the bundle of a signal; false if there is one, or it is being written. */
  claim(): boolean;
  /** Returns once the default disposition is restored, so that the signal kills. False if that is not possible. */
  release(signal: NodeJS.Signals): boolean;
  /** Returns when no debugger of the thread is connected any more, so that the process can exit. */
  letGo(): void;
  /** Waits until the thread has received a signal that was sent to the process group. */
  awaitDue(): void;
  /** Waits until the thread has read what came before, if it had no processor for that. */
  awaitUnread(): void;
  /** Node delivers it to the program. */
  noteDelivery(signal: NodeJS.Signals, isFromNode: boolean): void;
  /** The host has started or stopped listening. */
  noteHost(): void;
}

/** Our signals of this process, as the watchdog sees them. */
export interface DeathSignals {
  readonly signals: readonly NodeJS.Signals[];
  /** Whether it kills, unlike the one that requests a snapshot. */
  isDeadly(signal: NodeJS.Signals): boolean;
  /** Whether Node holds it for a listener of the host. */
  hostListens(signal: NodeJS.Signals): boolean;
  /** The watchdog received it while the host did not listen. Does not return if the program dies of it. */
  deliver(signal: NodeJS.Signals): void;
  /** The watchdog received it, while the host listens, and Node has not delivered it. May not return, as `deliver`. */
  deliverMissed(signal: NodeJS.Signals): void;
  /** From now on `holder` holds the signals; nobody does if it is undefined. */
  heldBy(holder: SignalHolder | undefined): void;
  /** Does not return if a signal has arrived that would have killed the program without us. */
  dieIfDue(): void;
  resetTerminal(): void;
  /**
   * Nobody holds the signals any more, not even the host: each one kills. For a process that only has something long left to
   * write.
   */
  release(): void;
}

/** The listeners in node:internal/process/signal that start and stop holding a signal, on events of `process`. */
const starter = 'startListeningIfSignal';
const stopper = 'stopListeningIfSignal';

/**
 * Tracks the host's listeners. The order matters, because a signal may arrive between any two instructions: Node's own
 * listener runs first when a listener is added and last when one is removed, so that Node has a handle for any signal that is
 * reported as the host's, and none is lost.
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

  /** If the host has removed Node's own listeners from `process`, adding or removing one of its own changes nothing. */
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
