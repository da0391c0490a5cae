/**
 * Makes sure that one finisher alone turns a session into a bundle. The lock is a mark (a symbolic link, on Windows a file) in
 * the session's folder that names its owner, so that making it and saying whose it is are one step. A lock whose owner is
 * dead is taken over by a rename that only one can win.
 */
import { renameSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { finisherLockName } from '../../journal/layout/session.ts';
import { describeProcess } from '../../journal/write/session.ts';
import { platform } from '../../platform/index.ts';

/** True when the session is ours to finish. False when somebody else is at it, or the folder is gone. */
export function tryLockSession(folder: string): boolean {
  const lock = join(folder, finisherLockName);
  return makeLock(lock) || (removeDeadLock(lock) && makeLock(lock));
}

export function unlockSession(folder: string): void {
  try {
    unlinkSync(join(folder, finisherLockName));
  } catch {
    // Gone with the session.
  }
}

function makeLock(lock: string): boolean {
  try {
    platform.files.makeMark(ownerName(process.pid), lock);
    return true;
  } catch {
    return false;
  }
}

/** Of two that see the same dead lock, the one whose rename finds it there may go on. */
function removeDeadLock(lock: string): boolean {
  try {
    if (isAlive(platform.files.readMark(lock))) return false;
    const grave = `${lock}.${process.pid}`;
    renameSync(lock, grave);
    const wasDead = !isAlive(platform.files.readMark(grave));
    // Between looking and renaming a third may have made a living one: give it back.
    if (wasDead) unlinkSync(grave);
    else renameSync(grave, lock);
    return wasDead;
  } catch {
    return false;
  }
}

/** `<boot id>:<pid>:<start ticks>`. */
export function ownerName(pid: number): string {
  const { bootId, startTicks } = describeProcess(pid);
  return `${bootId}:${pid}:${startTicks}`;
}

/** Of what `ownerName` gave. */
export function isAlive(owner: string): boolean {
  const pid = Number(owner.split(':')[1]);
  return Number.isSafeInteger(pid) && pid > 0 && platform.isThere(pid) && ownerName(pid) === owner;
}
