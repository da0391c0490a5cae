/**
 * Resumes a process that we have stopped, should we be killed before we do: a shell waits for the end of a pipe from us, and
 * then sends SIGCONT. It runs in a session of its own, out of reach of a terminal's Ctrl-C.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

const script = 'read -r word || kill -CONT "$1"';

/** Call it before the process is stopped, and the returned function when the process has been resumed. */
export function guardStop(pid: number): () => void {
  const { stdin } = startGuard(script, 'agentdump-stop', pid);
  return () => void stdin.end('done\n');
}

/**
 * Runs `script` in a shell that outlives us and does not keep our event loop alive, with `pid` as `$1`. The shell gets its
 * own session, so that signals from a terminal to our group don't reach it.
 */
export function startGuard(
  script: string,
  name: string,
  pid: number,
): ChildProcessByStdio<Writable, null, null> {
  const guard = spawn('/bin/sh', ['-c', script, name, String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: '/usr/bin:/bin' },
    detached: true,
  });
  guard.on('error', () => {});
  guard.stdin.on('error', () => {});
  guard.unref();
  (guard.stdin as unknown as { unref(): void }).unref();
  return guard;
}
