/**
 * Signals that we send and listen to, by purpose. On Windows, Node ends a process with any signal that is sent to it, and
 * only those of a console are received. Code that needs more must check `platform.hasProcessFiles` first, or report a gap.
 */
export const signals = {
  end: 'SIGTERM',
  kill: 'SIGKILL',
  interrupt: 'SIGINT',
  hangUp: 'SIGHUP',
  quit: 'SIGQUIT',
  snapshot: 'SIGUSR2',
  /**
   * Asks a process of a test run for its bundle. It must be none that a program may use: tests of process managers and of watch modes send
   * SIGUSR2, and without a handler it ends a process.
   */
  askForBundle: process.platform === 'darwin' ? 'SIGINFO' : 'SIGSTKFLT',
  inspector: 'SIGUSR1',
  stop: 'SIGSTOP',
  terminalStop: 'SIGTSTP',
  goOn: 'SIGCONT',
  childChanged: 'SIGCHLD',
  windowChanged: 'SIGWINCH',
} as const satisfies Record<string, NodeJS.Signals>;

/** A shell reports the signal that ended its command as this number plus the signal's. */
export const shellBase = 128;

/** Throws the system's errors. */
export function freeze(pid: number): void {
  process.kill(pid, signals.stop);
}
