/**
 * Room to write when the process has no file descriptor left (row 17). Only in a process that is about to die: what is
 * closed here the kernel would close some milliseconds later.
 */
import { closeSync, fstatSync, openSync } from 'node:fs';
import { listFolder, readLink, readSmallFile } from './proc-files.ts';

/** The writer holds three at a time, a reading of /proc one, and a folder's listing one. */
const wanted = 6;

/** Whether a file can be opened; when not, makes room. Standard streams stay: libuv aborts when it must close one. */
export function makeRoomForFiles(): void {
  if (canOpen()) return;
  // Without one free descriptor not even the list of the others can be read.
  closeQuietly(findHighest());
  for (const fd of findDispensable().slice(0, wanted)) closeQuietly(fd);
}

/** When none is free, all numbers below the limit are in use: the last of them, by halving. */
function findHighest(): number {
  let used = 2;
  let free = 4;
  while (isOpen(free)) free *= 2;
  while (free - used > 1) {
    const middle = Math.floor((used + free) / 2);
    if (isOpen(middle)) used = middle;
    else free = middle;
  }
  return used;
}

function isOpen(fd: number): boolean {
  try {
    fstatSync(fd);
    return true;
  } catch {
    return false;
  }
}

function canOpen(): boolean {
  try {
    closeSync(openSync('/dev/null', 'r'));
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code !== 'EMFILE';
  }
}

/** Newest first: sockets, and files that were opened for reading only, to which no exit listener can be writing. */
function findDispensable(): number[] {
  return listFolder('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd > 2)
    .sort((a, b) => b - a)
    .filter((fd) => {
      const target = readLink(`/proc/self/fd/${fd}`);
      return (
        target?.startsWith('socket:') ||
        (target?.startsWith('/') && (target === '/dev/null' || !target.startsWith('/dev/')) && isReadOnly(fd))
      );
    });
}

/** The last octal digit of proc(5)'s flags is the access mode; 0 is O_RDONLY. */
function isReadOnly(fd: number): boolean {
  return /^flags:\s+\d*[04]$/m.test(readSmallFile(`/proc/self/fdinfo/${fd}`) ?? '');
}

/** Never a standard stream. */
function closeQuietly(fd: number): void {
  if (fd <= 2) return;
  try {
    closeSync(fd);
  } catch {
    // Already closed.
  }
}
