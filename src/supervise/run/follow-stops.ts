/**
 * Stops with the program. One that stops itself (a terminal program at Ctrl-Z in raw mode, a shell's `suspend`), or that
 * wants the terminal from the background, gives it back only when its whole job stands; and the shell above looks at us.
 * Only for the signals of job control: who sends SIGSTOP means one process, and goes on with that one alone.
 * Source: proc(5), field 52 of the stat file, which says of a stopped process what stopped it (Linux 5.18 on; before, 0).
 */
import { constants } from 'node:os';
import { platform } from '../../platform/index.ts';
import { signals } from '../../platform/signals.ts';

const { SIGTSTP, SIGTTIN, SIGTTOU } = constants.signals;
const ofJobControl: ReadonlySet<number> = new Set([SIGTSTP, SIGTTIN, SIGTTOU]);
/** The whole job is sent SIGCONT one process after the other: we may be awake while the program still stands. */
const spreadMs = 20;

/** Returns what undoes it. */
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
