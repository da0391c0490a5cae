/**
 * The exit status of a child, and how to exit with the same one. A shell that ran the program exits with 128 plus the
 * signal's number.
 */
import { spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import type { EvidencePart } from '../../bundle/layout/evidence.ts';
import type { ChildExit } from './restart-policy.ts';

type Exit = NonNullable<EvidencePart['exit']>;

/** Signals that kill a process, as opposed to those that ask it to end. */
const deadly = new Set(['SIGKILL', 'SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGABRT', 'SIGTRAP', 'SIGSYS']);

/** Adds the signal that a shell's exit code represents, marked as inferred. */
export function inferSignal(exit: ChildExit): Exit {
  if (exit.signal !== undefined || exit.code === undefined || exit.code <= 128) return exit;
  const number = exit.code - 128;
  const [name] = Object.entries(constants.signals).find(([, value]) => value === number) ?? [];
  return name !== undefined && deadly.has(name) ? { ...exit, signal: name, inferred: true } : exit;
}

/** The process had no chance to record the reason itself. */
export function isUnexplained(exit: Exit): boolean {
  return exit.signal !== undefined && deadly.has(exit.signal);
}

/** Ends this process with the child's exit code or signal. */
export function endLike(exit: ChildExit): void {
  if (exit.signal === undefined) {
    process.exitCode = exit.code ?? 1;
    return;
  }
  const signal = exit.signal as NodeJS.Signals;
  process.exitCode = 128 + constants.signals[signal];
  if (leavesCore.has(signal)) forbidOwnCore();
  // Node ignores SIGPIPE and opens its inspector on SIGUSR1. Adding and removing a listener restores the default action.
  if (signal !== 'SIGKILL') process.on(signal, () => {}).removeAllListeners(signal);
  process.kill(process.pid, signal);
  // A signal to the own process is delivered before kill returns or very soon after.
  setTimeout(() => process.exit(), 100);
}

/** Signals for which the kernel writes a core. */
export const leavesCore: ReadonlySet<string> = new Set<NodeJS.Signals>([
  'SIGSEGV',
  'SIGBUS',
  'SIGILL',
  'SIGFPE',
  'SIGABRT',
  'SIGTRAP',
  'SIGSYS',
  'SIGQUIT',
]);

/** Our own core would overwrite the child's. Without prlimit (util-linux) there may be a second core. */
function forbidOwnCore(): void {
  spawnSync('prlimit', ['--pid', String(process.pid), '--core=0:'], { stdio: 'ignore' });
}
