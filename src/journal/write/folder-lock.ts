/**
 * One writer a journal: a mark (a symbolic link, on Windows a file) beside the journal's folder that names its owner, so that taking the lock
 * and saying whose it is are one step. A dead owner's lock is taken over by a rename that only one can win.
 */
import { renameSync, unlinkSync } from 'node:fs';
import { threadId } from 'node:worker_threads';
import { platform } from '../../platform/index.ts';
import { describeProcess } from './session.ts';

/** Name of whoever has the lock, when that is another living thread or process; undefined when it is ours now. */
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
    // Gone with its folder.
  }
}

/** Between looking and renaming a third may have made a living one: it is given back. */
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
function ownName(): string {
  own ??= `${processName(process.pid)}:${threadId}`;
  return own;
}

/** `<boot id>:<pid>:<start ticks>`; a thread's number follows it in the lock. */
function processName(pid: number): string {
  const { bootId, startTicks } = describeProcess(pid);
  return `${bootId}:${pid}:${startTicks}`;
}

function isAlive(owner: string): boolean {
  const pid = Number(owner.split(':')[1]);
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  if (!platform.isThere(pid)) return false;
  return owner.startsWith(`${processName(pid)}:`);
}
