/**
 * Resumes a process that we have stopped, should we be killed or stopped before we do: a shell waits for the end of a pipe
 * from us, and looks at our state meanwhile, and then sends SIGCONT. It runs in a session of its own, out of reach of a
 * terminal's Ctrl-C.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

/** `$1` is the stopped process, `$2` is us. */
const script = `
isStopped() {
  while read -r key value rest; do
    if [ "$key" = State: ]; then [ "$value" = T ] && return 0; return 1; fi
  done < "/proc/$2/status" 2>/dev/null
  return 1
}
while sleep 0.2 && [ -e "/proc/$2" ]; do
  if isStopped "$@"; then kill -CONT "$1"; exit; fi
done &
watcher=$!
read -r word || kill -CONT "$1"
kill "$watcher"`;

/** Call it before the process is stopped, and the returned function when the process has been resumed. */
export function guardStop(pid: number): () => void {
  const { stdin } = startGuard(script, 'agentdump-stop', pid);
  return () => void stdin.end('done\n');
}

/**
 * Runs `script` in a shell that outlives us and does not keep our event loop alive, with `pid` as `$1` and our own as `$2`.
 * The shell gets its own session, so that signals from a terminal to our group don't reach it.
 */
export function startGuard(
  script: string,
  name: string,
  pid: number,
): ChildProcessByStdio<Writable, null, null> {
  const guard = spawn('/bin/sh', ['-c', script, name, String(pid), String(process.pid)], {
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
