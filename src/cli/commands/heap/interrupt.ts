/**
 * Ctrl-C while a heap is read or computed on, with a progress bar on the terminal: the bar's line is erased, and the
 * process then dies of the signal, as it would have without us; its threads and their memory go with it.
 *
 * A listener runs only between two turns of the event loop, and a computation is one turn of seconds. V8 can be told to
 * stop in the middle of one; Node offers that for scripts (`breakOnSigint` of node:vm), so the work is called from one.
 */

import { signals } from '../../../platform/signals.ts';
import type { ProgressBar } from './progress.ts';

const key = Symbol.for('agentdump.heap.work');
const interrupted = 'ERR_SCRIPT_EXECUTION_INTERRUPTED';

/** Ends the process at Ctrl-C between two turns. Returns the undoing. */
export function installInterrupt(bar: ProgressBar): () => void {
  const end = (): void => endBySignal(bar);
  if (bar.isWanted) process.once(signals.interrupt, end);
  return () => process.removeListener(signals.interrupt, end);
}

/** Does the work; ends the process at Ctrl-C in the midst of it. */
export function runInterruptibly<Result>(bar: ProgressBar, work: () => Result): Result {
  // Without a bar there is nothing to erase, and the signal's own effect is the right one.
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
  // Not reached but where a signal can be kept from its process: what a shell makes of it.
  process.exit(130);
}
