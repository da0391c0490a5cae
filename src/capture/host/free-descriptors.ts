/**
 * Makes room to write if the process has no file descriptor left (row 17). Only in a process that is about to die: the kernel
 * would close the same descriptors some milliseconds later.
 */
import { closeSync, fstatSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { platform } from '../../platform/index.ts';

/**
 * The writer has three open at a time, a read of /proc one, a folder listing one, and the loop of each deadline (node:vm's
 * timeout) five: libuv has an io_uring of its own from Node 22 on.
 */
const wanted = 12;
/** The table of this process, and that of the system. */
const fullTables = new Set<unknown>(['EMFILE', 'ENFILE']);
let openBefore: number | undefined;

/** How many descriptors were open before room was made; undefined if there was enough room. */
export const countOpenBefore = (): number | undefined => openBefore;

/** Makes room unless enough files can be opened. Standard streams stay open: libuv aborts when it has to close one. */
export function makeRoomForFiles(): void {
  const room = countFreeDescriptors(wanted);
  if (room >= wanted) return;
  // Without one free descriptor not even the list of the others can be read.
  const given = room === 0 ? [findHighest()] : [];
  given.forEach(closeQuietly);
  // The list includes the descriptor that reads the folder.
  openBefore = platform.processFolder('self', 'fd').length - 1 + given.length;
  for (const fd of findDispensable().slice(0, wanted)) closeQuietly(fd);
}

/** If none is free, all numbers below the limit are in use: finds the highest one by bisection. */
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

/** How many files can be opened, up to `most`; also `most` if opening fails for another reason. */
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

/** Throws if fewer can be opened: opening some would leave the program without any. */
export function requireFreeDescriptors(least: number): void {
  if (countFreeDescriptors(least) < least) throw new Error(`fewer than ${least} descriptors are free`);
}

/** Newest first: sockets, and files that were opened read-only, so that no exit listener can be writing to them. */
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

/** Never closes a standard stream. */
function closeQuietly(fd: number): void {
  if (fd <= 2) return;
  try {
    closeSync(fd);
  } catch {
    // Already closed.
  }
}
