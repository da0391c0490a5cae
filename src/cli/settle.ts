/**
 * What comes before every end of the command line, so that the end comes: no compile job of V8 may be left waiting for a
 * collection (platform/pending-collection.ts), and no other one begins. Once; what follows is the exit.
 */
import { collectNow } from '../platform/pending-collection.ts';

let isSettled = false;

export function settle(): void {
  if (isSettled) return;
  isSettled = true;
  process.getBuiltinModule('node:v8').setFlagsFromString('--no-opt');
  collectNow();
}

/** For `process.exit`, wherever it is called. An end by itself has Node wait before this event: there `settle` is called. */
export function settleAtExit(): void {
  process.once('exit', settle);
}
