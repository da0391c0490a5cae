/**
 * Stops this process when the program stops. A program that stops itself (a terminal program on Ctrl-Z in raw mode, a shell's
 * `suspend`) or that accesses the terminal from the background only releases the terminal when its whole job is stopped, and
 * the shell above waits for us. Applies to job-control signals only: SIGSTOP is meant for a single process, and so is the
 * SIGCONT that follows it. Source: proc(5), field 52 of the stat file, which for a stopped process is the signal that stopped
 * it (since Linux 5.18; 0 before).
 */
import { constants } from 'node:os';
import { platform } from '../../platform/index.ts';
import { signals } from '../../platform/signals.ts';

const { SIGTSTP, SIGTTIN, SIGTTOU } = constants.signals;
const ofJobControl: ReadonlySet<number> = new Set([SIGTSTP, SIGTTIN, SIGTTOU]);
/** SIGCONT reaches the processes of a job one after the other: we may run again while the program is still stopped. */
const spreadMs = 20;

/** Returns a function that removes the listener. */
export function followStops(pid: () => number | undefined): () => void {
  const listener = () => {
    setTimeout(() => {
      if (isStoppedByJobControl(pid())) process.kill(process.pid, signals.terminalStop);
    }, spreadMs).unref();
  };
  process.on(signals.childChanged, listener);
  return () => process.removeListener(signals.childChanged, listener);
}

function isStoppedByJobControl(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  const fields = platform.processStat(pid) ?? [];
  return fields[0] === 'T' && ofJobControl.has(Number(fields[49]));
}
