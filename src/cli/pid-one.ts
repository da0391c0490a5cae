/**
 * As process 1 of a container, `agentdump run` has the duty to reap orphans, which Node can't: it waits for its own
 * children only. Where Node can replace itself (`process.execve`, 22.15 and 23.11 on), a shell becomes process 1: it
 * reaps whatever ends, passes signals on, and we run below it. Elsewhere orphans stay as zombies until the container
 * ends, and it is said once; an init (`docker run --init`, tini) is the remedy.
 */
import { existsSync } from 'node:fs';

const shell = '/bin/sh';
const marker = 'AGENTDUMP_REAPER';

/** Waits again after each signal that it passed on; the exit code is the program's, as a shell tells it. */
const script = `"$@" <&3 3<&- & child=$!
for name in TERM INT QUIT HUP USR1 USR2; do trap "kill -$name $child 2>/dev/null" $name; done
while :; do wait $child; code=$?; kill -0 $child 2>/dev/null || break; done
exit $code`;

type Execve = (file: string, words: string[], environment: NodeJS.ProcessEnv) => never;

/** Returns where nothing is to be done, or nothing can be. */
export function becomeReaper(note: (text: string) => void): void {
  if (process.pid !== 1 || process.env[marker]) return;
  const execve = (process as { execve?: Execve }).execve;
  if (!execve || !existsSync(shell)) {
    note(`process 1, and Node ${process.version} can't reap orphans here: use an init (docker run --init)`);
    return;
  }
  // A shell gives a background command no input of its own: it gets ours by another number.
  const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  execve(shell, ['sh', '-c', `exec 3<&0; ${script}`, 'sh', ...command], { ...process.env, [marker]: '1' });
}
