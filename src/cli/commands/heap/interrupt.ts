/**
 * Handles Ctrl-C while a heap is read or analyzed with a progress bar on the terminal: erases the line of the bar, and then
 * the process dies of the signal, as it would have otherwise; its threads and their memory end with it.
 *
 * A listener runs only between two turns of the event loop, and a computation is one turn of seconds. V8 can interrupt one;
 * Node offers that for scripts (`breakOnSigint` of node:vm), so the computation is called from a script.
 */

import { signals } from '../../../platform/signals.ts';
import type { ProgressBar } from './progress.ts';

const key = Symbol.for('agentdump.heap.work');
const interrupted = 'ERR_SCRIPT_EXECUTION_INTERRUPTED';

/** Ends the process at Ctrl-C between two turns. Returns a function that uninstalls it. */
export function installInterrupt(bar: ProgressBar): () => void {
  const end = (): void => endBySignal(bar);
  if (bar.isWanted) process.once(signals.interrupt, end);
  return () => process.removeListener(signals.interrupt, end);
}

/** Runs the work; ends the process at Ctrl-C in the middle of it. */
export function runInterruptibly<Result>(bar: ProgressBar, work: () => Result): Result {
  // Without a bar there is nothing to erase, and the default action of the signal is the right one.
  if (!bar.isWanted) return work();
  const { runInThisContext } = process.getBuiltinModule('node:vm');
  const global = globalThis as unknown as Record<symbol, unknown>;
  global[key] = work;
  try {
    return runInThisContext("globalThis[Symbol.for('agentdump.heap.work')]()", { breakOnSigint: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === interrupted) endBySignal(bar);
    throw error;
  } finally {
    delete global[key];
  }
}

function endBySignal(bar: ProgressBar): never {
  bar.clear();
  process.removeAllListeners(signals.interrupt);
  process.kill(process.pid, signals.interrupt);
  // Only reached if the signal can't be delivered to the process: the exit code that a shell would report.
  process.exit(130);
}
