/**
 * Makes sure that only one process turns a session into a bundle. The lock is a mark (a symbolic link, on Windows a file) in
 * the session's folder that contains its owner, so that locking and naming the owner are one atomic step. The lock of a dead
 * owner is taken over by a rename, which only one process can win.
 */
import { renameSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { finisherLockName } from '../../journal/layout/session.ts';
import { isAlive, ownerName } from '../../journal/write/owner.ts';
import { platform } from '../../platform/index.ts';

/** True if we locked the session. False if another process has it, or the folder no longer exists. */
export function tryLockSession(folder: string): boolean {
  const lock = join(folder, finisherLockName);
  return makeLock(lock) || (removeDeadLock(lock) && makeLock(lock));
}

export function unlockSession(folder: string): void {
  try {
    unlinkSync(join(folder, finisherLockName));
  } catch {
    // Removed with the session.
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

/** If two processes see the same dead lock, the one whose rename succeeds continues. */
function removeDeadLock(lock: string): boolean {
  try {
    if (isAlive(platform.files.readMark(lock))) return false;
    const grave = `${lock}.${process.pid}`;
    renameSync(lock, grave);
    const wasDead = !isAlive(platform.files.readMark(grave));
    // A third process may have created a new lock between the check and the rename; then it is restored.
    if (wasDead) unlinkSync(grave);
    else renameSync(grave, lock);
    return wasDead;
  } catch {
    return false;
  }
}
