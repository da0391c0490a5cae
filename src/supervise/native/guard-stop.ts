/**
 * A process that we have stopped goes on also when we are killed meanwhile: a shell in a session of its own, which a
 * terminal's Ctrl-C does not reach, sees the end of our pipe and lets it go on.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

const script = 'read -r word || kill -CONT "$1"';

/** Before it is stopped. What comes back is called when it goes on again. */
export function guardStop(pid: number): () => void {
  const { stdin } = startGuard(script, 'agentdump-stop', pid);
  return () => void stdin.end('done\n');
}

/**
 * Runs `script` in a shell that outlives us and keeps nobody alive, with `pid` as `$1`. In a session of its own: what a
 * terminal sends to our group is not for it.
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
