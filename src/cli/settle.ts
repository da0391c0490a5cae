/**
 * Called before every exit of the command line, so that the process can exit: no compile job of V8 may be waiting for a
 * garbage collection (platform/pending-collection.ts), and no other one may begin. Only once; the exit follows.
 */
import { collectNow } from '../platform/pending-collection.ts';

let isSettled = false;

export function settle(): void {
  if (isSettled) return;
  isSettled = true;
  process.getBuiltinModule('node:v8').setFlagsFromString('--no-opt');
  collectNow();
}

/**
 * For `process.exit`, wherever it is called. If the process ends by itself, Node waits before this event, so `settle` is
 * called directly.
 */
export function settleAtExit(): void {
  process.once('exit', settle);
}
