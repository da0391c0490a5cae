/**
 * Signals that end the process (row 3), and the one that asks for a snapshot (row 4). When the host does not listen, the
 * death that the signal would have been is re-created: Node's default disposition back, the signal sent again.
 */
import { findSignalWatch, type SignalWatch } from '../signal-watch.ts';
import type { Trigger, TriggerContext } from './trigger.ts';

/** As it was before we wrapped it: to send the signal that we have just written a bundle for. */
const originalKill = process.kill;

export const signalsTrigger: Trigger = (context) => {
  const watch = context.isMainThread ? findSignalWatch(process) : undefined;
  if (!watch) return undefined;
  const { config, events, capture } = context;
  for (const signal of config.signals)
    listen(signal, context, watch, () => meetDeath(signal, context, watch));
  const { snapshotSignal } = config;
  if (snapshotSignal)
    listen(snapshotSignal, context, watch, () => {
      capture({
        kind: 'snapshot-signal',
        handledByHost: false,
        details: { signal: describeSignal(snapshotSignal) },
      });
    });
  const unwrapKill = wrapKill(context, watch);
  return () => {
    unwrapKill();
    for (const signal of [...config.signals, ...(snapshotSignal ? [snapshotSignal] : [])])
      if (events.listenersOfHost(signal).length === 0) watch.stop(signal);
  };
};

/** A signal's event comes from Node itself; one that the program emits by hand is none. */
function listen(
  signal: NodeJS.Signals,
  { events }: TriggerContext,
  watch: SignalWatch,
  react: () => void,
): void {
  events.tap(signal, { atEmit: ({ isFromNode }) => isFromNode && react() });
  // Node stops its watching when the host's last listener goes.
  events.afterHostLeaves(signal, () => process.nextTick(() => watch.start(signal)));
  watch.start(signal);
}

function meetDeath(signal: NodeJS.Signals, context: TriggerContext, watch: SignalWatch): void {
  const handledByHost = context.events.listenersOfHost(signal).length > 0;
  captureSignal(signal, handledByHost, context);
  if (handledByHost) return;
  resetTerminal();
  watch.stop(signal);
  Reflect.apply(originalKill, process, [process.pid, signal]);
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
function wrapKill(context: TriggerContext, watch: SignalWatch): () => void {
  const descriptor = Object.getOwnPropertyDescriptor(process, 'kill');
  const kill = function kill(pid: number, signal?: string | number): true {
    const name = pid === process.pid ? findSignal(context.config.signals, signal ?? 'SIGTERM') : undefined;
    if (name !== undefined && context.events.listenersOfHost(name).length === 0) {
      captureSignal(name, false, context);
      watch.stop(name);
    }
    return Reflect.apply(originalKill, process, [pid, signal]);
  };
  Object.defineProperty(process, 'kill', { ...descriptor, value: kill });
  return () => {
    if (process.kill === kill) Object.defineProperty(process, 'kill', { ...descriptor, value: originalKill });
  };
}
