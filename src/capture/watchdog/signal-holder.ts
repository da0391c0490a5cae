/** What the main thread sees of the signals that the watchdog's thread holds. */
import type { DeathSignals, SignalHolder } from '../triggers/signal-watch.ts';
import type { Interruption } from './interruption.ts';
import { isReady } from './main-cpu.ts';
import { cells, deliveredByNodeCell, deliveredCell } from './protocol.ts';

/** The longest wait for the other thread, which may be without a processor, or starting. */
export const answerMs = 900;
const unreadPollMs = 2;

/** The other thread. */
interface Thread {
  /** The system's id; 0 until it runs. */
  threadId(): number;
  release(signal: NodeJS.Signals): boolean;
  letGo(): void;
}

export function makeSignalHolder(
  shared: Int32Array,
  deathSignals: DeathSignals | undefined,
  interruption: Interruption,
  thread: Thread,
): SignalHolder {
  const signals = deathSignals?.signals ?? [];
  return {
    get due() {
      return signals[Atomics.load(shared, cells.due) - 1];
    },
    claim: () => Atomics.exchange(shared, cells.claimed, 1) === 0,
    release: (signal) => thread.release(signal),
    letGo: () => thread.letGo(),
    awaitUnread: () => {
      // A thread that is still being loaded holds no signal.
      if (Atomics.load(shared, cells.held) === 0) return;
      const until = performance.now() + answerMs;
      while (isReady(thread.threadId()) && performance.now() < until)
        if (interruption.awaitChange(cells.due, 0, unreadPollMs)) return;
    },
    awaitDue: () => void interruption.awaitChange(cells.due, 0, answerMs),
    noteDelivery: (signal, isFromNode) => {
      const at = signals.indexOf(signal);
      Atomics.add(shared, deliveredCell(at), 1);
      if (isFromNode) Atomics.add(shared, deliveredByNodeCell(at), 1);
    },
    noteHost: () => {
      // In this order: the watchdog reads the bits first.
      Atomics.add(shared, cells.hostChanges, 1);
      const bits = signals.map((signal, at) => (deathSignals?.hostListens(signal) ? 1 << at : 0));
      Atomics.store(
        shared,
        cells.hostListens,
        bits.reduce((all, bit) => all | bit, 0),
      );
    },
  };
}
