/** Separate from safe-folder.ts because the preload reads a recipient's file at startup. */
import { closeSync, constants, fstatSync, openSync } from './system.ts';

/** Opens an existing regular file for reading, without following a link or blocking on a pipe. Throws a system error. */
export function openRegularFile(path: string): number {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw Object.assign(new Error('not a regular file'), { code: 'EFTYPE' });
}
