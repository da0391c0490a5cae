/**
 * A lock that allows one writer per journal: a mark (a symbolic link; on Windows a file) next to the journal's folder that
 * contains the owner's name, so that taking the lock and recording its owner is a single step. The lock of a dead owner is
 * removed by a rename, in which only one process can succeed.
 */
import { renameSync, unlinkSync } from 'node:fs';
import { threadId } from 'node:worker_threads';
import { platform } from '../../platform/index.ts';
import { isAlive, ownerName } from './owner.ts';

/** The name of the lock's owner if that is another living thread or process; undefined if this thread now holds the lock. */
export function takeLock(path: string): string | undefined {
  for (;;) {
    try {
      platform.files.makeMark(ownName(), path);
      return undefined;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const owner = findOwner(path);
    if (owner === ownName()) return undefined;
    if (owner && isAlive(owner)) return owner;
    if (owner && !removeDead(path)) return owner;
  }
}

export function giveLock(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The lock was removed together with its folder.
  }
}

/** Between the check and the rename, another process may have taken the lock; then it is restored. */
function removeDead(path: string): boolean {
  const grave = `${path}.${process.pid}.${threadId}`;
  try {
    renameSync(path, grave);
  } catch {
    return true;
  }
  const owner = findOwner(grave);
  const wasDead = !owner || !isAlive(owner);
  if (wasDead) unlinkSync(grave);
  else renameSync(grave, path);
  return wasDead;
}

function findOwner(path: string): string | undefined {
  try {
    return platform.files.readMark(path);
  } catch {
    return undefined;
  }
}

let own: string | undefined;
/** In a lock, the thread's number follows. */
function ownName(): string {
  own ??= `${ownerName(process.pid)}:${threadId}`;
  return own;
}
