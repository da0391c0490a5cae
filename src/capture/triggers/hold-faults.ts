/**
 * Hold mode, the program's half: a processor fault (SIGSEGV, SIGBUS, SIGFPE, SIGILL) repeats instead of ending the process,
 * until the supervisor has read the memory and kills it. A listener is enough for that: libuv's handler returns to the
 * instruction that faulted. Only active under a supervisor that asked for it and is alive. Does not work for a stack
 * overflow, which leaves no room for a handler, or for an abort.
 */

import { isMainThread } from '../fatal-path/surroundings.ts';
import { holdNatively } from './hold-natively.ts';

/** Contains the process id of the supervisor: only its own child is held, although other processes inherit the variable. */
export const holdVariable = 'AGENTDUMP_HOLD_BY';

/** The folder in which a native holder reports to that supervisor. */
export const holdFolderVariable = 'AGENTDUMP_HOLD_FOLDER';

const faults = ['SIGSEGV', 'SIGBUS', 'SIGFPE', 'SIGILL'] as const;
const lookEveryMs = 1000;
/** How long to wait for the supervisor, which may be busy, and to keep waiting each time while the fault still repeats. */
const patienceMs = 3000;
const mostWaits = 6;
/** A signal that was sent arrives once, or a few times; a fault repeats at least this often. */
const leastRepeats = 10;

export function holdFaults(environment: NodeJS.ProcessEnv): void {
  const supervisor = environment[holdVariable];
  if (supervisor === undefined || supervisor !== String(process.ppid) || !isMainThread) return;
  // Our handler replaces that of V8, which WebAssembly uses to detect an access outside of its memory: the program would hang
  // there.
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

/** Runs if the fault is in another thread, which the supervisor handles, or if there is no fault. */
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

/** From here on a fault ends the process, also one that is repeating now. */
function letGo(): void {
  for (const name of faults) process.off(name, dieLater);
}
