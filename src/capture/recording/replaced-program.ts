/**
 * `process.execve` (Node 22.15 and later) puts another program in place of this one: the process lives on, and no event of
 * `process` tells. Node publishes it on a channel just before the system call, which aborts the process if it fails.
 */
import { guarded } from '../../agent/taps/guard.ts';
import { accessSync, constants } from '../../bundle/write/system.ts';

const channel = 'process.execve';

/** Calls `react` just before this program is over. Returns a function that undoes it. */
export function watchReplacement(react: () => void): (() => void) | undefined {
  if (typeof (process as { execve?: unknown }).execve !== 'function') return undefined;
  const { subscribe, unsubscribe } = process.getBuiltinModule('node:diagnostics_channel');
  const hear = guarded((message: unknown): void => {
    const { execPath } = message as { execPath?: unknown };
    if (isProgram(execPath)) react();
  });
  subscribe(channel, hear);
  return () => {
    unsubscribe(channel, hear);
  };
}

/** Throws nothing. */
function isProgram(path: unknown): boolean {
  try {
    accessSync(path as string, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
