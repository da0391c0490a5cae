/**
 * Room to write when the process has no file descriptor left (row 17). Only in a process that is about to die: what is
 * closed here the kernel would close some milliseconds later.
 */
import { closeSync, fstatSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { platform } from '../../platform/index.ts';

/**
 * The writer holds three at a time, a reading of /proc one, a folder's listing one, and the loop of each deadline
 * (node:vm's timeout) five: libuv has an io_uring of its own from Node 22 on.
 */
const wanted = 12;
/** Of this process, and of the system. */
const fullTables = new Set<unknown>(['EMFILE', 'ENFILE']);
let openBefore: number | undefined;

/** How many descriptors were open before room was made; undefined where there was room. */
export const countOpenBefore = (): number | undefined => openBefore;

/** Whether as many files can be opened as are wanted; when not, makes room. Standard streams stay: libuv aborts when it must close one. */
export function makeRoomForFiles(): void {
  const room = countFreeDescriptors(wanted);
  if (room >= wanted) return;
  // Without one free descriptor not even the list of the others can be read.
  const given = room === 0 ? [findHighest()] : [];
  given.forEach(closeQuietly);
  // The one that lists the folder is in the list.
  openBefore = platform.processFolder('self', 'fd').length - 1 + given.length;
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

/** How many files can be opened, up to `most`; `most`, too, where something else is in the way. */
export function countFreeDescriptors(most: number): number {
  const opened: number[] = [];
  try {
    while (opened.length < most) opened.push(openSync(devNull, 'r'));
    return most;
  } catch (error) {
    return fullTables.has((error as { code?: unknown }).code) ? opened.length : most;
  } finally {
    opened.forEach(closeQuietly);
  }
}

/** Newest first: sockets, and files that were opened for reading only, to which no exit listener can be writing. */
function findDispensable(): number[] {
  return platform
    .processFolder('self', 'fd')
    .map(Number)
    .filter((fd) => fd > 2)
    .sort((a, b) => b - a)
    .filter((fd) => {
      const target = platform.processLink('self', `fd/${fd}`);
      return (
        target?.startsWith('socket:') ||
        (target?.startsWith('/') && (target === devNull || !target.startsWith('/dev/')) && isReadOnly(fd))
      );
    });
}

/** The last octal digit of proc(5)'s flags is the access mode; 0 is O_RDONLY. */
function isReadOnly(fd: number): boolean {
  return /^flags:\s+\d*[04]$/m.test(platform.processFile('self', `fdinfo/${fd}`) ?? '');
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
