/**
 * Has Node's loop watch a signal although nobody listens for it: Node starts and stops the watching in two listeners of
 * its own (`newListener`, `removeListener` of process), which are called here directly, so that no listener is added.
 */
/** Who has the kernel tell of a signal: `start` and `stop` take effect before they return. */
export interface SignalHolder {
  start(signal: NodeJS.Signals): void;
  /** False when it could not be given back. */
  stop(signal: NodeJS.Signals): boolean;
}

/** Our signals of this process, which the watchdog may hold in the main thread's place. */
export interface SignalSeat {
  readonly signals: readonly NodeJS.Signals[];
  hostListens(signal: NodeJS.Signals): boolean;
  /** It came to the other holder: does what would be done had it come here. */
  deliver(signal: NodeJS.Signals): void;
  /** `holder` begins to hold them beside us; undefined: it holds them no more, and we do again. */
  share(holder: SignalHolder | undefined): void;
  /** The other holder holds them all: we hold none. */
  leave(): void;
}

type SignalSwitch = (this: NodeJS.Process, signal: string) => void;

export interface SignalWatch {
  /** From now on the signal is an event, and no longer kills. */
  start(signal: NodeJS.Signals): void;
  /** The default disposition is back, unless the host listens. */
  stop(signal: NodeJS.Signals): void;
}

/** Undefined when this Node does it in another way, or in a worker, which gets no signals. */
export function findSignalWatch(target: NodeJS.Process): SignalWatch | undefined {
  const start = findListener(target, 'newListener', 'startListeningIfSignal');
  const stop = findListener(target, 'removeListener', 'stopListeningIfSignal');
  if (!start || !stop) return undefined;
  return {
    start: (signal) => start.call(target, signal),
    stop: (signal) => stop.call(target, signal),
  };
}

function findListener(target: NodeJS.Process, event: string, name: string): SignalSwitch | undefined {
  return target.listeners(event as 'exit').find((listener) => listener.name === name) as
    | SignalSwitch
    | undefined;
}
