/**
 * A process that we have stopped goes on also when we are killed meanwhile: a shell in a session of its own, which a
 * terminal's Ctrl-C does not reach, sees the end of our pipe and lets it go on.
 */
import { spawn } from 'node:child_process';

const script = 'read -r word || kill -CONT "$1"';

/** Before it is stopped. What comes back is called when it goes on again. */
export function guardStop(pid: number): () => void {
  const guard = spawn('/bin/sh', ['-c', script, 'agentdump-stop', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: '/usr/bin:/bin' },
    detached: true,
  });
  guard.on('error', () => {});
  guard.stdin.on('error', () => {});
  guard.unref();
  (guard.stdin as unknown as { unref(): void }).unref();
  return () => void guard.stdin.end('done\n');
}
