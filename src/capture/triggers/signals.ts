/**
 * Signals that end the process (row 3), and the one that asks for a snapshot (row 4). When the host does not listen, the
 * death that the signal would have been is re-created: Node's default disposition back, the signal sent again.
 */
import { findSignalWatch, type SignalHolder, type SignalWatch } from '../signal-watch.ts';
import type { Trigger, TriggerContext } from './trigger.ts';

/** As it was before we wrapped it: to send the signal that we have just written a bundle for. */
const originalKill = process.kill;

export const signalsTrigger: Trigger = (context) => {
  const found = context.isMainThread ? findSignalWatch(process) : undefined;
  if (!found) return undefined;
  const watch = new MovableWatch(found);
  const { config, events, capture } = context;
  const reactions = new Map<NodeJS.Signals, () => void>();
  for (const signal of config.signals) reactions.set(signal, () => meetDeath(signal, context, watch));
  const { snapshotSignal } = config;
  if (snapshotSignal)
    reactions.set(snapshotSignal, () => {
      capture({
        kind: 'snapshot-signal',
        handledByHost: false,
        details: { signal: describeSignal(snapshotSignal) },
      });
    });
  for (const [signal, react] of reactions) listen(signal, context, watch, react);
  const unwrapKill = wrapKill(context, watch);
  const hostListens = (signal: NodeJS.Signals): boolean => events.listenersOfHost(signal).length > 0;
  context.offerSignals({
    signals: [...reactions.keys()],
    hostListens,
    // One that the host listens for comes to this thread too.
    deliver: (signal) => watch.hasLeft && !hostListens(signal) && reactions.get(signal)?.(),
    share: (holder) => watch.share(holder, [...reactions.keys()]),
    leave: () => watch.leave([...reactions.keys()]),
  });
  return () => {
    unwrapKill();
    for (const signal of reactions.keys()) if (!hostListens(signal)) watch.stop(signal);
  };
};

/** Our watching of signals, by Node's loop in this thread until another holder has them all. */
class MovableWatch implements SignalHolder {
  hasLeft = false;
  readonly #own: SignalWatch;
  #other: SignalHolder | undefined;

  constructor(own: SignalWatch) {
    this.#own = own;
  }

  start(signal: NodeJS.Signals): void {
    if (!this.hasLeft) this.#own.start(signal);
    this.#other?.start(signal);
  }

  stop(signal: NodeJS.Signals): boolean {
    this.#own.stop(signal);
    return this.#other?.stop(signal) ?? true;
  }

  share(holder: SignalHolder | undefined, signals: NodeJS.Signals[]): void {
    this.#other = holder;
    if (holder) return;
    this.hasLeft = false;
    for (const signal of signals) this.#own.start(signal);
  }

  leave(signals: NodeJS.Signals[]): void {
    this.hasLeft = true;
    for (const signal of signals) this.#own.stop(signal);
  }
}

/** A signal's event comes from Node itself; one that the program emits by hand is none. */
function listen(
  signal: NodeJS.Signals,
  { events }: TriggerContext,
  watch: SignalHolder,
  react: () => void,
): void {
  events.tap(signal, { atEmit: ({ isFromNode }) => isFromNode && react() });
  // Node stops its watching when the host's last listener goes.
  events.afterHostLeaves(signal, () => process.nextTick(() => watch.start(signal)));
  watch.start(signal);
}

function meetDeath(signal: NodeJS.Signals, context: TriggerContext, watch: SignalHolder): void {
  const handledByHost = context.events.listenersOfHost(signal).length > 0;
  captureSignal(signal, handledByHost, context);
  if (handledByHost) return;
  resetTerminal();
  dieOf(signal, watch);
}

/** By the code that a shell would report, where the default disposition can't be had back. */
function dieOf(signal: NodeJS.Signals, watch: SignalHolder): void {
  if (watch.stop(signal)) Reflect.apply(originalKill, process, [process.pid, signal]);
  else (process as unknown as { reallyExit(code: number): never }).reallyExit(128 + signalNumber(signal));
}

function captureSignal(signal: NodeJS.Signals, handledByHost: boolean, { capture }: TriggerContext): void {
  capture({ kind: 'signal', handledByHost, details: { signal: describeSignal(signal) } });
}

function describeSignal(name: NodeJS.Signals): { name: string; number: number } {
  return { name, number: signalNumber(name) };
}

/** node:os is loaded when a signal comes, not at the start. */
function signalNumber(name: NodeJS.Signals): number {
  return process.getBuiltinModule('node:os').constants.signals[name];
}

function findSignal(signals: NodeJS.Signals[], wanted: string | number): NodeJS.Signals | undefined {
  return signals.find(
    (name) => name === wanted || (typeof wanted === 'number' && signalNumber(name) === wanted),
  );
}

/** Node resets a raw terminal when a signal kills it, but not when the signal was an event. */
function resetTerminal(): void {
  try {
    if (process.stdin.isTTY && process.stdin.isRaw) process.stdin.setRawMode(false);
  } catch {
    // The terminal is gone; the signal still comes.
  }
}

/**
 * A program that kills itself is dead when process.kill returns. A watched signal would let it run on until its event
 * loop turned, so such a call is answered here: bundle, default disposition, signal.
 */
function wrapKill(context: TriggerContext, watch: SignalHolder): () => void {
  const descriptor = Object.getOwnPropertyDescriptor(process, 'kill');
  const kill = function kill(pid: number, signal?: string | number): true {
    const name = pid === process.pid ? findSignal(context.config.signals, signal ?? 'SIGTERM') : undefined;
    if (name !== undefined && context.events.listenersOfHost(name).length === 0) {
      captureSignal(name, false, context);
      dieOf(name, watch);
    }
    return Reflect.apply(originalKill, process, [pid, signal]);
  };
  Object.defineProperty(process, 'kill', { ...descriptor, value: kill });
  return () => {
    if (process.kill === kill) Object.defineProperty(process, 'kill', { ...descriptor, value: originalKill });
  };
}
