/**
 * The name of a process in the mark of something that it owns, and whether that process is still alive. A pid alone may belong
 * to another process by now.
 */
import { platform } from '../../platform/index.ts';
import { describeProcess } from './session.ts';

const unknown = String(undefined);

/** `<boot id>:<pid>:<start ticks>`, each `undefined` where this process can't read it (no /proc, not Linux). */
export function ownerName(pid: number): string {
  const { bootId, startTicks } = describeProcess(pid);
  return `${bootId ?? unknown}:${pid}:${startTicks ?? unknown}`;
}

/**
 * `owner`: a result of `ownerName`, perhaps of a process that can read less or more than this one. What only one of them can
 * read isn't compared: otherwise the mark of a living process without /proc looked like that of a dead one.
 */
export function isAlive(owner: string): boolean {
  const parts = owner.split(':');
  const pid = Number(parts[1]);
  if (!Number.isSafeInteger(pid) || pid <= 0 || !platform.isThere(pid)) return false;
  return ownerName(pid)
    .split(':')
    .every((part, index) => part === parts[index] || part === unknown || parts[index] === unknown);
}
