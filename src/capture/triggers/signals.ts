/**
 * Signals that end the process (row 3), and the one that requests a snapshot (row 4). Signals that the host does not listen
 * for are received by the watchdog's thread, which notifies this one; then the death by that signal is re-created: the
 * default disposition is restored and the signal sent again. For signals that the host listens for, a bundle is written
 * before the host's listeners run.
 */
import { ours } from '../../agent/taps/own-work.ts';
import { shellBase, signals } from '../../platform/signals.ts';
import { readProcStat } from '../../platform/systems/proc-files.ts';
import { getBuiltinModule } from '../host/intrinsics/intrinsics.ts';
import { nearestFrames } from '../host/intrinsics/own-stack.ts';
import { type DeathSignals, HostSignals, type SignalHolder } from './signal-watch.ts';
import type { Trigger, TriggerContext } from './trigger.ts';

/** The originals, before anybody wrapped them. Node's `kill` calls the native one, which returns the number of an error. */
const { _kill: nativeKill, removeAllListeners } = process as typeof process & {
  _kill?: (pid: number, signal: number) => number;
};

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
  readonly #events: TriggerContext['events'];
  readonly #host: HostSignals;
  readonly #snapshotSignal: NodeJS.Signals | undefined;
  #holder: SignalHolder | undefined;
  #isDying = false;
  /** The last signal that the program sent to itself, until it arrives. */
  #own: { signal: NodeJS.Signals; stack: string } | undefined;
  /** The host has removed a listener, and with it what was not yet delivered. */
  readonly #removed = new Set<NodeJS.Signals>();
  readonly #resent = new Set<NodeJS.Signals>();
  /** When the program last received each signal from outside. */
  readonly #heardAt = new Map<NodeJS.Signals, number>();

  constructor(context: TriggerContext) {
    const { events, config } = context;
    const { snapshotSignal } = config;
    // The kernel lets no signal kill the first process of a container that does not listen for it.
    const signals = process.pid === 1 ? [] : config.signals;
    this.#context = context;
    this.#events = events;
    this.#snapshotSignal = snapshotSignal;
    this.signals = [...new Set(snapshotSignal ? [...signals, snapshotSignal] : signals)];
    this.#host = new HostSignals(events, this.signals);
    this.#host.onChange((signal, listens) => this.#see(signal, listens));
    // The event of a signal comes from Node itself; one that the program emits is not a signal.
    for (const signal of this.signals)
      events.tap(signal, {
        atEmit: ({ isFromNode }) => {
          // Also one that passes through a function of the program, and that only looks like its own.
          this.#holder?.noteDelivery(signal, isFromNode);
          if (isFromNode && this.#host.listens(signal)) this.#capture(signal, true);
        },
      });
  }

  hostListens(signal: NodeJS.Signals): boolean {
    return this.#host.listens(signal);
  }

  isDeadly(signal: NodeJS.Signals): boolean {
    return signal !== this.#snapshotSignal && this.signals.includes(signal);
  }

  find(wanted: number): NodeJS.Signals | undefined {
    return wanted === 0 ? undefined : this.signals.find((name) => signalNumber(name) === wanted);
  }

  deliver(signal: NodeJS.Signals): void {
    if (this.isDeadly(signal)) this.die(signal);
    else if (!this.#host.listens(signal)) this.#capture(signal, false);
  }

  /**
   * It had come before the host began to listen, and kills, as without us. If it may have been delivered unseen, or dropped
   * with a listener that the host has removed, the present listener gets it instead, once: that is better than to lose it,
   * and than to kill a program that is about to handle it. A host that no longer listens has dropped it.
   */
  deliverMissed(signal: NodeJS.Signals): void {
    if (!this.#holder || !this.isDeadly(signal) || !this.#host.listens(signal)) return;
    if (!this.#events.mayMiss() && !this.#removed.has(signal)) this.die(signal);
    if (this.#resent.has(signal)) return;
    this.#resent.add(signal);
    send(signal);
  }

  heldBy(holder: SignalHolder | undefined): void {
    this.#holder = holder;
  }

  dieIfDue(): void {
    this.#holder?.awaitUnread();
    const due = this.#holder?.due;
    if (due !== undefined) this.die(due);
  }

  release(): void {
    // The watchdog finishes what it has received itself: the program must not die of a second signal instead.
    if (this.#isDying) return;
    for (const signal of this.signals) {
      if (this.#host.listens(signal)) Reflect.apply(removeAllListeners, process, [signal]);
      this.#holder?.release(signal);
    }
    this.dieIfDue();
  }

  /** For a signal that was sent to the process group: without us the program would be dead by now. */
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
    // The watchdog writes the bundle, and ends the process afterwards.
    if (!isOurs) wait(longestDyingMs);
    // The signal had arrived before the host began to listen.
    if (this.#host.listens(signal)) Reflect.apply(removeAllListeners, process, [signal]);
    // The thread may be looking at this one, and Node runs what it runs at an exit before it sends a process its own signal.
    this.#holder?.letGo();
    const isFree = this.#holder?.release(signal) ?? true;
    send(signal);
    // Another thread may receive the signal, a moment later.
    if (isFree) wait(longestDyingMs);
    // If the default disposition can't be restored: the exit code that a shell would report.
    const code = shellBase + signalNumber(signal);
    return (process as unknown as { reallyExit(code: number): never }).reallyExit(code);
  }

  /** Node resets a raw terminal when a signal kills it, but not when the signal was caught. */
  resetTerminal(): void {
    try {
      if (process.stdin.isTTY && process.stdin.isRaw) process.stdin.setRawMode(false);
    } catch {
      // The terminal is closed; the signal is still sent.
    }
  }

  /**
   * Whoever handles Ctrl-C ends with the same signal, so that its parent sees it: the program ends as it wishes. Not in a test,
   * which it cuts off.
   */
  leaveIfInterrupted(pid: number, signal: number): void {
    const { events, isInTest, ended } = this.#context;
    if (signal !== signalNumber(signals.interrupt) || events.listenersOfHost(signals.interrupt).length > 0)
      return;
    if ((pid === process.pid || isOwnGroup(pid)) && !isInTest()) ended(shellBase + signal);
  }

  #see(signal: NodeJS.Signals, listens: boolean): void {
    if (!listens) this.#removed.add(signal);
    this.#holder?.noteHost();
    // A signal that arrived before was not for this listener: without us the program would have died by then.
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
      ...(handledByHost && { handlers: this.#context.events.listenersOfHost(signal) }),
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

/** Blocks, so that no callback of the program runs. */
function wait(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** node:os is loaded when a signal arrives, not at the start. */
function signalNumber(name: NodeJS.Signals): number {
  return getBuiltinModule('node:os').constants.signals[name];
}

/** To this process. */
function send(signal: NodeJS.Signals): void {
  if (nativeKill) Reflect.apply(nativeKill, process, [process.pid, signalNumber(signal)]);
}

/**
 * A program that kills itself is dead when process.kill returns. If the watchdog received the signal, the program would run
 * on for a moment, so such a call is handled here: bundle, default disposition, signal. What is wrapped is the native function
 * that Node's `kill` calls: Node creates the error of a call that failed afterwards, and nothing of ours is on its stack.
 */
function wrapKill(deathSignals: MainThreadSignals): (() => void) | undefined {
  const descriptor = Object.getOwnPropertyDescriptor(process, '_kill');
  if (!nativeKill || !descriptor?.configurable) return undefined;
  const kill = (given: unknown, signal: number): unknown => {
    // Node accepts digits too. An object of the program is left to Node: its `valueOf` would be called once more.
    const pid = typeof given === 'string' ? Number(given) : given;
    const isForUs = typeof pid === 'number' && (pid === process.pid || pid <= 0);
    const name = isForUs ? ours(() => deathSignals.find(signal)) : undefined;
    if (!isForUs || name === undefined || !deathSignals.isDeadly(name)) {
      if (isForUs) ours(() => deathSignals.leaveIfInterrupted(pid, signal));
      return Reflect.apply(nativeKill, process, [given, signal]);
    }
    const isToGroup = pid !== process.pid && ours(() => isOwnGroup(pid)) === true;
    if (pid === process.pid || isToGroup) ours(() => deathSignals.noteOwn(name));
    if (pid === process.pid && !deathSignals.hostListens(name)) deathSignals.die(name);
    const result: unknown = Reflect.apply(nativeKill, process, [pid, signal]);
    if (isToGroup) deathSignals.dieOfGroupSignal(name);
    return result;
  };
  // The build shortens names, and the program sees this one.
  Object.defineProperty(kill, 'name', { value: '_kill', configurable: true });
  Object.defineProperty(kill, 'length', { value: nativeKill.length, configurable: true });
  Object.defineProperty(process, '_kill', { ...descriptor, value: kill });
  return () => {
    const present: unknown = Object.getOwnPropertyDescriptor(process, '_kill')?.value;
    if (present === kill) Object.defineProperty(process, '_kill', descriptor);
  };
}

/** 0 is the process's own group, -n is group n. If it can't be determined, the watchdog's message arrives a moment later. */
function isOwnGroup(pid: number): boolean {
  return pid === 0 || Number(readProcStat('self')?.[2]) === -pid;
}
