/**
 * Passes signals on to the child, which shares our process group so that it may read from the terminal. What reached
 * the whole group (Ctrl-C) the child has already, and must not get twice; what was sent to our pid alone must be passed
 * on. signal-witness.ts tells them apart.
 */
import { platform } from '../../platform/index.ts';
import { signals } from '../../platform/signals.ts';
import { SignalWitness } from '../evidence/signal-witness.ts';

/** All that can be caught and that somebody may mean for the program. SIGPIPE and SIGCHLD are our own affair. */
const passedOn: NodeJS.Signals[] = [
  signals.end,
  signals.interrupt,
  signals.quit,
  signals.hangUp,
  signals.inspector,
  signals.snapshot,
];
/** A process that does not handle these goes on, so no witness can tell; but to get them twice does no harm. */
const harmless: NodeJS.Signals[] = [signals.goOn, signals.windowChanged];

export interface SignalPassing {
  /** Undefined while no child runs. */
  pid(): number | undefined;
  onArrival(name: NodeJS.Signals): void;
  /** `group`: the child had it from the sender. */
  onJudged(name: NodeJS.Signals, by: 'passed-on' | 'group'): void;
}

/** Returns what undoes it. Listens at once; the witness is there from the next turn on. */
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
    // It has ended meanwhile.
  }
}

const terminalKeys = new Set<NodeJS.Signals>([signals.interrupt, signals.quit]);

/** The guess without a witness: our group is the one to which the terminal's keys go (fields 5 and 8 of the stat file). */
function isFromTerminal(name: NodeJS.Signals): boolean {
  if (!terminalKeys.has(name)) return false;
  const fields = platform.processStat('self');
  return fields?.[2] !== undefined && fields[2] === fields[5];
}
