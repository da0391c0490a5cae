/**
 * Passes signals on to the child, which shares our process group so that it can read from the terminal. The child already has
 * a signal that was sent to the whole group (Ctrl-C), and must not get it twice; a signal that was sent to our pid alone must
 * be passed on. signal-witness.ts tells which it was.
 */
import { platform } from '../../platform/index.ts';
import { signals } from '../../platform/signals.ts';
import { SignalWitness } from '../evidence/signal-witness.ts';

/** All signals that can be caught and may be meant for the program. SIGPIPE and SIGCHLD concern this process only. */
const passedOn: NodeJS.Signals[] = [
  signals.end,
  signals.interrupt,
  signals.quit,
  signals.hangUp,
  signals.inspector,
  signals.snapshot,
];
/** These don't end a process that has no handler, so the witness can't tell. Delivering them twice is harmless. */
const harmless: NodeJS.Signals[] = [signals.goOn, signals.windowChanged];

export interface SignalPassing {
  /** Undefined while no child runs. */
  pid(): number | undefined;
  onArrival(name: NodeJS.Signals): void;
  /** `group`: the child got it directly from the sender. */
  onJudged(name: NodeJS.Signals, by: 'passed-on' | 'group'): void;
}

/**
 * Returns a function that undoes it. Signals are handled at once; the witness exists from the next turn of the event loop.
 */
export function installSignalPassing(passing: SignalPassing): () => void {
  let witness: SignalWitness | undefined;
  const start = setImmediate(() => {
    witness = new SignalWitness();
  });
  const listeners = [...passedOn, ...harmless].map((name) => {
    const listener = async () => {
      passing.onArrival(name);
      const isTold = harmless.includes(name);
      const sawToo = isTold ? false : ((await witness?.sawToo(name)) ?? isFromTerminal(name));
      passing.onJudged(name, sawToo ? 'group' : 'passed-on');
      if (!sawToo) send(passing.pid(), name);
    };
    process.on(name, listener);
    return () => process.removeListener(name, listener);
  });
  return () => {
    clearImmediate(start);
    witness?.close();
    for (const remove of listeners) remove();
  };
}

function send(pid: number | undefined, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(pid, name);
  } catch {
    // The child has ended.
  }
}

const terminalKeys = new Set<NodeJS.Signals>([signals.interrupt, signals.quit]);

/** The fallback without a witness: whether our group is the terminal's foreground group (fields 5 and 8 of the stat file). */
function isFromTerminal(name: NodeJS.Signals): boolean {
  if (!terminalKeys.has(name)) return false;
  const fields = platform.processStat('self');
  return fields?.[2] !== undefined && fields[2] === fields[5];
}
