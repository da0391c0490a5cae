/**
 * Kills the replayed program when the replayer is gone, whatever the reason: a shell in its own session reads from a pipe
 * whose other end only the replayer holds, so end of file means that it died. The effects of an unsupervised program are
 * unknown, so its children are killed as well. Source for the list of children: proc_pid_task(5).
 */
import { spawn } from 'node:child_process';

/** Processes are stopped first, so that none starts another while the list is read. */
const script = `kill_tree() {
  kill -STOP "$1"
  for child in $(cat "/proc/$1/task/"*/children); do kill_tree "$child"; done
  kill -KILL "$1"
}
read -r pid || exit 0
read -r end || kill_tree "$pid"`;

export interface Guardian {
  /** From now on this process and its descendants are killed when the replayer dies. */
  guard(pid: number): void;
  /** There is nothing left to guard. */
  dismiss(): void;
}

export function startGuardian(): Guardian {
  const shell = spawn('/bin/sh', ['-c', script], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: { PATH: process.env['PATH'] },
  });
  // Without a shell the program runs unguarded.
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  return {
    guard: (pid) => void shell.stdin.write(`${pid}\n`),
    dismiss: () => void shell.stdin.end('end\n'),
  };
}
