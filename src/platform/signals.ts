/**
 * Signals that we send and listen to ourselves, by what they are for. On Windows Node ends a process with any that is sent,
 * and only those of a console arrive: who needs more asks `platform.hasProcessFiles` first, or has its gap.
 */
export const signals = {
  end: 'SIGTERM',
  kill: 'SIGKILL',
  interrupt: 'SIGINT',
  hangUp: 'SIGHUP',
  quit: 'SIGQUIT',
  snapshot: 'SIGUSR2',
  inspector: 'SIGUSR1',
  stop: 'SIGSTOP',
  terminalStop: 'SIGTSTP',
  goOn: 'SIGCONT',
  childChanged: 'SIGCHLD',
  windowChanged: 'SIGWINCH',
} as const satisfies Record<string, NodeJS.Signals>;

/** Throws what the system throws. */
export function freeze(pid: number): void {
  process.kill(pid, signals.stop);
}

/** A second time does no harm. Throws what the system throws. */
export function thaw(pid: number): void {
  process.kill(pid, signals.goOn);
}
