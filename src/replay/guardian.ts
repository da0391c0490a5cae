/**
 * Ends the replayed program when the replayer is gone, whatever killed that: a shell in a session of its own reads from
 * a pipe that only we hold, and the pipe's end is our death. What a program that nobody supervises would do to the world
 * is not known, so its children go with it. Source of the children's list: proc_pid_task(5).
 */
import { spawn } from 'node:child_process';

/** Stopped first, so that nobody starts another while the list is read. */
const script = `kill_tree() {
  kill -STOP "$1"
  for child in $(cat "/proc/$1/task/"*/children); do kill_tree "$child"; done
  kill -KILL "$1"
}
read -r pid || exit 0
read -r end || kill_tree "$pid"`;

export interface Guardian {
  /** From now on our death is that of this process and of those below it. */
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
  // Without a shell the program is not guarded, and is run all the same.
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  return {
    guard: (pid) => void shell.stdin.write(`${pid}\n`),
    dismiss: () => void shell.stdin.end('end\n'),
  };
}
