/**
 * Hold mode, the program's half: has a processor fault (SIGSEGV, SIGBUS, SIGFPE, SIGILL) repeat itself instead of
 * ending the process, until the supervisor has read the memory and kills it. A listener is enough for that: libuv's
 * handler returns to the instruction that faulted. Only below a supervisor that asked for it and lives. Not for a stack
 * overflow, which leaves no room for a handler, nor for an abort.
 */

import { isMainThread } from '../fatal-path/surroundings.ts';
import { holdNatively } from './hold-natively.ts';

/** Holds the process id of the supervisor: only its own child is held, whoever else inherits the variable. */
export const holdVariable = 'AGENTDUMP_HOLD_BY';

/** Where a native holder writes what it knows, for that supervisor. */
export const holdFolderVariable = 'AGENTDUMP_HOLD_FOLDER';

const faults = ['SIGSEGV', 'SIGBUS', 'SIGFPE', 'SIGILL'] as const;
const lookEveryMs = 1000;
/** So long the supervisor is waited for, and again as long as the fault repeats itself: it may have much to do. */
const patienceMs = 3000;
const mostWaits = 6;
/** A signal that somebody sends comes once, or a few times. */
const leastRepeats = 10;

export function holdFaults(environment: NodeJS.ProcessEnv): void {
  const supervisor = environment[holdVariable];
  if (supervisor === undefined || supervisor !== String(process.ppid) || !isMainThread) return;
  // V8's own handler, by which WebAssembly notices that it left its memory, is replaced by ours: it would hang there.
  process.getBuiltinModule('node:v8').setFlagsFromString('--wasm-enforce-bounds-checks');
  const folder = environment[holdFolderVariable];
  if (folder !== undefined && holdNatively(folder, supervisor)) return;
  for (const name of faults) process.on(name, dieLater);
  const orphanWatch = setInterval(() => {
    if (supervisor === String(process.ppid)) return;
    clearInterval(orphanWatch);
    letGo();
  }, lookEveryMs);
  orphanWatch.unref();
}

/** This runs where the fault is another thread's, which the supervisor sees to, or where there is none. */
function dieLater(name: NodeJS.Signals): void {
  calls++;
  if (calls === 1) waitForSupervisor(name, mostWaits);
}

let calls = 0;

function waitForSupervisor(name: NodeJS.Signals, waitsLeft: number): void {
  const before = calls;
  setTimeout(() => {
    if (calls - before >= leastRepeats && waitsLeft > 1) {
      waitForSupervisor(name, waitsLeft - 1);
      return;
    }
    letGo();
    process.kill(process.pid, name);
  }, patienceMs);
}

/** From here on a fault ends the process, also one that repeats itself now. */
function letGo(): void {
  for (const name of faults) process.off(name, dieLater);
}
