/**
 * As process 1 of a container, `agentdump run` must reap orphans, which Node can't: it only waits for its own children. If
 * Node can replace itself (`process.execve`, 22.15 and 23.11 on), a shell becomes process 1: it reaps all children and
 * forwards signals, and agentdump runs below it. Otherwise orphans remain as zombies until the container ends, which is
 * reported once; an init (`docker run --init`, tini) is the remedy.
 */
import { existsSync } from 'node:fs';

const shell = '/bin/sh';
const marker = 'AGENTDUMP_REAPER';

/** Waits again after each signal that it forwarded; the exit code is the program's, as a shell reports it. */
const script = `"$@" <&3 3<&- & child=$!
for name in TERM INT QUIT HUP USR1 USR2; do trap "kill -$name $child 2>/dev/null" $name; done
while :; do wait $child; code=$?; kill -0 $child 2>/dev/null || break; done
exit $code`;

type Execve = (file: string, words: string[], environment: NodeJS.ProcessEnv) => never;

/** Returns if nothing needs to be done, or nothing can be. */
export function becomeReaper(note: (text: string) => void): void {
  if (process.pid !== 1 || process.env[marker]) return;
  const execve = (process as { execve?: Execve }).execve;
  if (!execve || !existsSync(shell)) {
    note(`process 1, and Node ${process.version} can't reap orphans here: use an init (docker run --init)`);
    return;
  }
  // A shell gives a background command no stdin; ours is passed as another file descriptor.
  const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  execve(shell, ['sh', '-c', `exec 3<&0; ${script}`, 'sh', ...command], { ...process.env, [marker]: '1' });
}
