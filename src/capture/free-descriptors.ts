/**
 * Room to write when the process has no file descriptor left (row 17). Only in a process that is about to die: what is
 * closed here the kernel would close some milliseconds later.
 */
import { closeSync, openSync } from 'node:fs';
import { listFolder, readLink, readSmallFile } from './proc-files.ts';

/** The writer holds three at a time, a reading of /proc one, and a folder's listing one. */
const wanted = 6;

/** Whether a file can be opened; when not, makes room. Returns what to do when the bundle is written. */
export function makeRoomForFiles(): () => void {
  if (canOpen()) return () => {};
  // Descriptor 0 first: without it not even the list of the others can be read.
  closeQuietly(0);
  for (const fd of findDispensable().slice(0, wanted)) closeQuietly(fd);
  return () => {
    try {
      // The lowest number is free, so this is descriptor 0 again: nothing that is opened later becomes standard input.
      openSync('/dev/null', 'r');
    } catch {
      // The host's last breath took it.
    }
  };
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
        (target?.startsWith('/') && !target.startsWith('/dev/') && isReadOnly(fd))
      );
    });
}

/** The last octal digit of proc(5)'s flags is the access mode; 0 is O_RDONLY. */
function isReadOnly(fd: number): boolean {
  return /^flags:\s+\d*[04]$/m.test(readSmallFile(`/proc/self/fdinfo/${fd}`) ?? '');
}

function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // Already closed.
  }
}
