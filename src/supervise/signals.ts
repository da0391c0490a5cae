/**
 * Passes signals on to the child, which shares our process group so that it may read from the terminal. What a
 * terminal's key sends (Ctrl-C, Ctrl-\) the kernel gives to the whole group: the child has it already, and must not
 * get it twice. The same signal sent to our pid alone by a script must be passed on. Linux: /proc tells the group in
 * the foreground of the terminal, and which signals the child handles.
 */
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';

/** All that can be caught and that somebody may mean for the program. SIGPIPE and SIGCHLD are our own affair. */
const passedOn: NodeJS.Signals[] = [
  'SIGTERM',
  'SIGINT',
  'SIGQUIT',
  'SIGHUP',
  'SIGUSR1',
  'SIGUSR2',
  'SIGCONT',
  'SIGWINCH',
];
const fromTerminal = new Set<NodeJS.Signals>(['SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGWINCH', 'SIGCONT']);
/** So long a child that does not handle the signal may take to die of it, if it got it. */
const patienceMs = 250;

/** Returns what undoes it. `pidOf` answers undefined while no child runs. */
export function installSignalPassing(
  pidOf: () => number | undefined,
  onSignal: (name: NodeJS.Signals) => void,
): () => void {
  const undo = passedOn.map((name) => {
    const listener = () => {
      onSignal(name);
      passOn(name, pidOf);
    };
    process.on(name, listener);
    return () => process.removeListener(name, listener);
  });
  return () => {
    for (const remove of undo) remove();
  };
}

function passOn(name: NodeJS.Signals, pidOf: () => number | undefined): void {
  const pid = pidOf();
  if (pid === undefined) return;
  if (!fromTerminal.has(name) || !isInForeground()) {
    send(pid, name);
    return;
  }
  // The terminal gave it to both of us, most likely. A child that would have died of it and lives has not got it.
  setTimeout(() => {
    if (pidOf() === pid && !handles(pid, name)) send(pid, name);
  }, patienceMs).unref();
}

function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}

/** Our group is the one to which the terminal's keys go: fields 5 and 8 of /proc/self/stat. */
function isInForeground(): boolean {
  const fields = readText('/proc/self/stat').split(') ').pop()?.split(' ') ?? [];
  return fields[2] !== undefined && fields[2] === fields[5];
}

/** It catches or ignores the signal, so that its going on proves nothing. */
function handles(pid: number, name: NodeJS.Signals): boolean {
  const status = readText(`/proc/${pid}/status`);
  const bit = 1n << BigInt(constants.signals[name] - 1);
  return ['SigCgt', 'SigIgn'].some((field) => {
    const mask = new RegExp(`^${field}:\\s*([0-9a-f]+)$`, 'm').exec(status)?.[1];
    return mask !== undefined && (BigInt(`0x${mask}`) & bit) !== 0n;
  });
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
