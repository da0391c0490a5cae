/**
 * A child's end, and how to end in the same way. A shell that ran the program says 128 and the signal's number.
 */
import { spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import type { EvidencePart } from '../../bundle/layout/evidence.ts';
import type { ChildExit } from './restart-policy.ts';

type Exit = NonNullable<EvidencePart['exit']>;

/** Signals after which a program has died, and was not merely asked to stop. */
const deadly = new Set(['SIGKILL', 'SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGABRT', 'SIGTRAP', 'SIGSYS']);

/** With the signal that a shell's exit code stands for, marked as inferred. */
export function inferSignal(exit: ChildExit): Exit {
  if (exit.signal !== undefined || exit.code === undefined || exit.code <= 128) return exit;
  const number = exit.code - 128;
  const [name] = Object.entries(constants.signals).find(([, value]) => value === number) ?? [];
  return name !== undefined && deadly.has(name) ? { ...exit, signal: name, inferred: true } : exit;
}

/** The process had no chance to explain this end by itself. */
export function isUnexplained(exit: Exit): boolean {
  return exit.signal !== undefined && deadly.has(exit.signal);
}

/** Ends this process as the child ended. */
export function endLike(exit: ChildExit): void {
  if (exit.signal === undefined) {
    process.exitCode = exit.code ?? 1;
    return;
  }
  const signal = exit.signal as NodeJS.Signals;
  process.exitCode = 128 + constants.signals[signal];
  if (leavesCore.has(signal)) forbidOwnCore();
  // Node ignores SIGPIPE and opens its inspector at SIGUSR1, until a listener has come and gone.
  if (signal !== 'SIGKILL') process.on(signal, () => {}).removeAllListeners(signal);
  process.kill(process.pid, signal);
  // A signal to oneself is delivered before kill returns, or very soon after it.
  setTimeout(() => process.exit(), 100);
}

/** At these the kernel leaves a core. */
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

/** Our own core would overwrite the one that matters. Without prlimit (util-linux) there may be a second core. */
function forbidOwnCore(): void {
  spawnSync('prlimit', ['--pid', String(process.pid), '--core=0:'], { stdio: 'ignore' });
}
