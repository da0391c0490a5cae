/**
 * Signals that end the process (row 3), and the one that asks for a snapshot (row 4). Those that the host does not listen
 * for are heard by the watchdog's thread, which tells this one; the death that the signal would have been is re-created:
 * default disposition back, the signal sent again. Of those that the host listens for a bundle is written before it sees them.
 */
import { readProcStat } from '../../platform/proc-stat.ts';
import { nearestFrames } from '../host/own-stack.ts';
import { type DeathSignals, HostSignals, type SignalHolder } from './signal-watch.ts';
import type { Trigger, TriggerContext } from './trigger.ts';

/** As they were before anybody wrapped them: to send the signal that we have just written a bundle for. */
const { kill: originalKill, removeAllListeners } = process;

const longestDyingMs = 1000;

export const signalsTrigger: Trigger = (context) => {
  if (!context.isMainThread) return undefined;
  const deathSignals = new MainThreadSignals(context);
  if (deathSignals.signals.length === 0) return undefined;
  context.offerSignals(deathSignals);
  return wrapKill(deathSignals);
};

class MainThreadSignals implements DeathSignals {
  readonly signals: readonly NodeJS.Signals[];
  readonly #context: TriggerContext;
  readonly #host: HostSignals;
  readonly #snapshotSignal: NodeJS.Signals | undefined;
  #holder: SignalHolder | undefined;
  #isDying = false;
  /** The last that the program sent to itself, until it has come. */
  #own: { signal: NodeJS.Signals; stack: string } | undefined;
  /** When the program last heard which from outside. */
  readonly #heardAt = new Map<NodeJS.Signals, number>();

  constructor(context: TriggerContext) {
    const { events, config } = context;
    const { snapshotSignal } = config;
    // The kernel lets no signal kill the first process of a container that does not listen for it.
    const signals = process.pid === 1 ? [] : config.signals;
    this.#context = context;
    this.#snapshotSignal = snapshotSignal;
    this.signals = [...new Set(snapshotSignal ? [...signals, snapshotSignal] : signals)];
    this.#host = new HostSignals(events, this.signals);
    this.#host.onChange((signal, listens) => this.#see(signal, listens));
    // A signal's event comes from Node itself; one that the program emits by hand is none.
    for (const signal of this.signals)
      events.tap(signal, {
        atEmit: ({ isFromNode }) => isFromNode && this.#host.listens(signal) && this.#capture(signal, true),
      });
  }

  hostListens(signal: NodeJS.Signals): boolean {
    return this.#host.listens(signal);
  }

  isDeadly(signal: NodeJS.Signals): boolean {
    return signal !== this.#snapshotSignal && this.signals.includes(signal);
  }

  find(wanted: string | number): NodeJS.Signals | undefined {
    return this.signals.find(
      (name) => name === wanted || (typeof wanted === 'number' && signalNumber(name) === wanted),
    );
  }

  deliver(signal: NodeJS.Signals): void {
    if (this.isDeadly(signal)) this.die(signal);
    else if (!this.#host.listens(signal)) this.#capture(signal, false);
  }

  heldBy(holder: SignalHolder | undefined): void {
    this.#holder = holder;
  }

  dieIfDue(): void {
    const due = this.#holder?.due;
    if (due !== undefined) this.die(due);
  }

  release(): void {
    // The watchdog ends what it has heard itself: a second signal must not become the one that the program died of.
    if (this.#isDying) return;
    for (const signal of this.signals) {
      if (this.#host.listens(signal)) Reflect.apply(removeAllListeners, process, [signal]);
      this.#holder?.release(signal);
    }
    this.dieIfDue();
  }

  /** For one that was sent to the group of processes: without us the program would be dead by now. */
  dieOfGroupSignal(signal: NodeJS.Signals): void {
    if (this.#host.listens(signal)) return;
    this.#holder?.awaitDue();
    this.dieIfDue();
  }

  die(signal: NodeJS.Signals): never {
    this.#isDying = true;
    const isOurs = this.#holder?.claim() ?? true;
    if (isOurs) this.#capture(signal, false);
    this.resetTerminal();
    // The watchdog has it, and ends the process when it is written.
    if (!isOurs) wait(longestDyingMs);
    // It had come before the host began to listen.
    if (this.#host.listens(signal)) Reflect.apply(removeAllListeners, process, [signal]);
    const isFree = this.#holder?.release(signal) ?? true;
    Reflect.apply(originalKill, process, [process.pid, signal]);
    // Another of the threads may take it, a moment later.
    if (isFree) wait(longestDyingMs);
    // By the code that a shell would report, where the default disposition can't be had back.
    return (process as unknown as { reallyExit(code: number): never }).reallyExit(128 + signalNumber(signal));
  }

  /** Node resets a raw terminal when a signal kills it, but not when the signal was heard. */
  resetTerminal(): void {
    try {
      if (process.stdin.isTTY && process.stdin.isRaw) process.stdin.setRawMode(false);
    } catch {
      // The terminal is gone; the signal still comes.
    }
  }

  #see(signal: NodeJS.Signals, listens: boolean): void {
    this.#holder?.noteHost();
    // One that came before was not for this listener: without us the program would not have come here.
    if (listens && this.#holder?.due === signal) this.die(signal);
  }

  noteOwn(signal: NodeJS.Signals): void {
    this.#own = { signal, stack: nearestFrames() };
  }

  #capture(signal: NodeJS.Signals, handledByHost: boolean): void {
    const own = this.#own?.signal === signal ? this.#own : undefined;
    const heardAt = this.#heardAt.get(signal);
    const now = performance.now();
    this.#own = undefined;
    if (!own) this.#heardAt.set(signal, now);
    this.#context.capture({
      kind: signal === this.#snapshotSignal ? 'snapshot-signal' : 'signal',
      handledByHost: handledByHost && signal !== this.#snapshotSignal,
      ...(own && { stackText: own.stack }),
      details: {
        signal: {
          name: signal,
          number: signalNumber(signal),
          ...(own && { fromItself: true as const }),
          ...(own && heardAt !== undefined && { heardMsBefore: Math.round(now - heardAt) }),
        },
        ...(own && { exitStack: own.stack }),
      },
    });
  }
}

/** No callback of the program runs meanwhile. */
function wait(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** node:os is loaded when a signal comes, not at the start. */
function signalNumber(name: NodeJS.Signals): number {
  return process.getBuiltinModule('node:os').constants.signals[name];
}

/**
 * A program that kills itself is dead when process.kill returns. A signal that the watchdog hears would let it run on
 * for a moment, so such a call is answered here: bundle, default disposition, signal.
 */
function wrapKill(deathSignals: MainThreadSignals): () => void {
  const descriptor = Object.getOwnPropertyDescriptor(process, 'kill');
  const kill = function kill(pid: number, signal?: string | number): true {
    // Node takes digits too.
    const target = typeof pid === 'string' ? Number(pid) : pid;
    const name = target === process.pid || target <= 0 ? deathSignals.find(signal ?? 'SIGTERM') : undefined;
    if (name === undefined || !deathSignals.isDeadly(name))
      return Reflect.apply(originalKill, process, [pid, signal]);
    const isToGroup = target !== process.pid && isOwnGroup(target);
    if (target === process.pid || isToGroup) deathSignals.noteOwn(name);
    if (target === process.pid && !deathSignals.hostListens(name)) deathSignals.die(name);
    const result = Reflect.apply(originalKill, process, [pid, signal]);
    if (isToGroup) deathSignals.dieOfGroupSignal(name);
    return result;
  };
  Object.defineProperty(process, 'kill', { ...descriptor, value: kill });
  return () => {
    if (process.kill === kill) Object.defineProperty(process, 'kill', { ...descriptor, value: originalKill });
  };
}

/** 0 is the own group, -n the group n. Where it can't be told, the thread's message comes a moment later. */
function isOwnGroup(pid: number): boolean {
  return pid === 0 || Number(readProcStat('self')?.[2]) === -pid;
}
